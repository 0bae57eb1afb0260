/// The elements of a sequence that are still present, in the same order, in another.
///
/// Elements are numbers. A caller with other elements numbers them first, equal ones alike.
struct SequenceMatch {
    struct Pair: Hashable {
        let old: Int
        let new: Int
    }

    /// The number of added or removed elements at which the search for the least difference is given up: its time and memory
    /// are the square.
    static let farthest = 1_000

    /// Ascending in both.
    let pairs: [Pair]

    /// Common ends are taken first. Between them it is the least difference, up to `farthest` edits. Beyond, equal elements
    /// are paired by their number of occurrence, and the longest run of pairs in order is taken: n log n, and the least
    /// when nothing repeats.
    init(_ old: [Int], _ new: [Int], farthest: Int = Self.farthest) {
        let shorter = min(old.count, new.count)
        var head = 0
        while head < shorter, old[head] == new[head] { head += 1 }
        var tail = 0
        while tail < shorter - head, old[old.count - 1 - tail] == new[new.count - 1 - tail] { tail += 1 }
        let oldMiddle = Array(old[head..<old.count - tail])
        let newMiddle = Array(new[head..<new.count - tail])
        let middle =
            LeastDifference(oldMiddle, newMiddle, farthest: farthest)?.pairs
            ?? Self.byOccurrence(oldMiddle, newMiddle)
        var pairs = (0..<head).map { Pair(old: $0, new: $0) }
        pairs += middle.map { Pair(old: $0.old + head, new: $0.new + head) }
        pairs += (0..<tail).reversed().map { Pair(old: old.count - 1 - $0, new: new.count - 1 - $0) }
        self.pairs = pairs
    }

    private static func byOccurrence(_ old: [Int], _ new: [Int]) -> [Pair] {
        let pairs = occurrencePairs(old, new)
        return pairs.map(\.new).longestIncreasingIndices().map { pairs[$0] }
    }

    /// The first with the first of its kind, the second with the second; ascending in `old`.
    static func occurrencePairs(_ old: [Int], _ new: [Int]) -> [Pair] {
        var places: [Int: [Int]] = [:]
        for index in new.indices.reversed() { places[new[index], default: []].append(index) }
        return old.indices.compactMap { index in
            places[old[index]]?.popLast().map { Pair(old: index, new: $0) }
        }
    }
}

/// Myers: "An O(ND) Difference Algorithm and Its Variations", 1986, the greedy one.
///
/// An element to go is a step to the right, one to come a step down, an equal pair a free step along a diagonal
/// (x − y = k). After each number of steps it is known how far each diagonal reaches.
private struct LeastDifference {
    let pairs: [SequenceMatch.Pair]

    /// Nil when it takes more than `farthest` steps.
    init?(_ old: [Int], _ new: [Int], farthest: Int) {
        let most = min(old.count + new.count, farthest)
        let zero = most + 1
        var reach = [Int](repeating: 0, count: 2 * most + 3)
        // What was reached before each step, diagonals −steps−1 … steps+1: the way back.
        var trace: [[Int]] = []
        for steps in 0...most {
            trace.append(Array(reach[(zero - steps - 1)...(zero + steps + 1)]))
            for diagonal in stride(from: -steps, through: steps, by: 2) {
                let isDown = Self.isDown(diagonal, steps, reach, zero)
                var x = isDown ? reach[zero + diagonal + 1] : reach[zero + diagonal - 1] + 1
                while x < old.count, x - diagonal < new.count, old[x] == new[x - diagonal] { x += 1 }
                reach[zero + diagonal] = x
                if x >= old.count, x - diagonal >= new.count {
                    pairs = Self.wayBack(trace, old.count, new.count)
                    return
                }
            }
        }
        return nil
    }

    private static func isDown(_ diagonal: Int, _ steps: Int, _ reach: [Int], _ zero: Int) -> Bool {
        diagonal == -steps
            || diagonal != steps && reach[zero + diagonal - 1] < reach[zero + diagonal + 1]
    }

    private static func wayBack(_ trace: [[Int]], _ endX: Int, _ endY: Int) -> [SequenceMatch.Pair] {
        var x = endX
        var y = endY
        var pairs: [SequenceMatch.Pair] = []
        for (steps, reach) in trace.enumerated().reversed() {
            let zero = steps + 1
            let isDown = isDown(x - y, steps, reach, zero)
            let before = isDown ? x - y + 1 : x - y - 1
            let beforeX = steps == 0 ? 0 : reach[zero + before]
            let beforeY = steps == 0 ? 0 : beforeX - before
            while x > beforeX, y > beforeY {
                x -= 1
                y -= 1
                pairs.append(SequenceMatch.Pair(old: x, new: y))
            }
            x = beforeX
            y = beforeY
        }
        return pairs.reversed()
    }
}
