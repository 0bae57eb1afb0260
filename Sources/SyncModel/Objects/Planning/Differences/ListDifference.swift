/// The elements of a list that another list of values refers to: equal, moved, or changed ones.
///
/// Elements have an identity that values do not contain, so this guesses, and only in plain cases. Equal values are the same
/// element, also elsewhere. Objects with an equal `id` are the same. A value that stands alone between the same neighbours is
/// the old one, changed.
struct ListDifference {
    struct Pair: Hashable {
        let old: Int
        let new: Int
        /// The values differ.
        let isEdited: Bool
        /// True if the element leaves its place among the others that stay.
        var isMoved = false
    }

    /// Ascending in `new`.
    let pairs: [Pair]
    /// Ascending.
    let removed: [Int]

    /// - Parameters:
    ///   - movesAtMost: with more, those that would move go and come anew.
    ///   - canEdit: whether the old element can take the new value in place.
    init(_ old: [JSONValue], _ new: [JSONValue], movesAtMost: Int, canEdit: (Int, Int) -> Bool) {
        var pairing = Pairing(old, new)
        pairing.matchEqual()
        pairing.matchByID(canEdit)
        pairing.matchByPlace(canEdit)
        var pairs = pairing.pairs.sorted { $0.old < $1.old }
        let staying = Set(pairs.map(\.new).longestIncreasingIndices())
        for index in pairs.indices { pairs[index].isMoved = !staying.contains(index) }
        var removed = pairing.unpairedOld
        if pairs.count - staying.count > movesAtMost {
            removed += pairs.filter(\.isMoved).map(\.old)
            pairs.removeAll(where: \.isMoved)
        }
        self.pairs = pairs.sorted { $0.new < $1.new }
        self.removed = removed.sorted()
    }
}

private struct Pairing {
    typealias Pair = ListDifference.Pair

    private let old: [JSONValue]
    private let new: [JSONValue]
    private(set) var pairs: [Pair] = []
    /// The pairs that did not even move: the frame in which the rest is matched.
    private var frame: [SequenceMatch.Pair] = []
    private var oldIsPaired: [Bool]
    private var newIsPaired: [Bool]

    init(_ old: [JSONValue], _ new: [JSONValue]) {
        self.old = old
        self.new = new
        oldIsPaired = [Bool](repeating: false, count: old.count)
        newIsPaired = [Bool](repeating: false, count: new.count)
    }

    var unpairedOld: [Int] { old.indices.filter { !oldIsPaired[$0] } }
    private var unpairedNew: [Int] { new.indices.filter { !newIsPaired[$0] } }

    private mutating func pair(_ oldIndex: Int, _ newIndex: Int) {
        pairs.append(Pair(old: oldIndex, new: newIndex, isEdited: old[oldIndex] != new[newIndex]))
        oldIsPaired[oldIndex] = true
        newIsPaired[newIndex] = true
    }

    mutating func matchEqual() {
        var numbers = Numbers<JSONValue>()
        let oldNumbers = old.map { numbers.number($0) }
        let newNumbers = new.map { numbers.number($0) }
        frame = SequenceMatch(oldNumbers, newNumbers).pairs
        for match in frame { pair(match.old, match.new) }
        let (oldRest, newRest) = (unpairedOld, unpairedNew)
        for match in SequenceMatch.occurrencePairs(oldRest.map { oldNumbers[$0] }, newRest.map { newNumbers[$0] }) {
            pair(oldRest[match.old], newRest[match.new])
        }
    }

    mutating func matchByID(_ canEdit: (Int, Int) -> Bool) {
        var numbers = Numbers<JSONValue>()
        let oldRest = unpairedOld.filter { old[$0].elementID != nil }
        let newRest = unpairedNew.filter { new[$0].elementID != nil }
        let oldNumbers = oldRest.map { numbers.number(old[$0].elementID ?? .null) }
        let newNumbers = newRest.map { numbers.number(new[$0].elementID ?? .null) }
        for match in SequenceMatch.occurrencePairs(oldNumbers, newNumbers)
        where canEdit(oldRest[match.old], newRest[match.new]) {
            pair(oldRest[match.old], newRest[match.new])
        }
    }

    /// Pairs elements in each gap of the frame. Where as many are removed as are added, they pair one for one; elsewhere,
    /// objects that are mostly the same pair.
    mutating func matchByPlace(_ canEdit: (Int, Int) -> Bool) {
        var (oldStart, newStart) = (0, 0)
        for match in frame + [SequenceMatch.Pair(old: old.count, new: new.count)] {
            let goes = (oldStart..<match.old).filter { !oldIsPaired[$0] }
            let comes = (newStart..<match.new).filter { !newIsPaired[$0] }
            if goes.count == comes.count {
                for (one, other) in zip(goes, comes) where isSameKind(one, other) && canEdit(one, other) {
                    pair(one, other)
                }
            } else {
                matchAlike(goes, comes, canEdit)
            }
            (oldStart, newStart) = (match.old + 1, match.new + 1)
        }
    }

    /// Comparing all with all ends where it would get long.
    private mutating func matchAlike(_ goes: [Int], _ comes: [Int], _ canEdit: (Int, Int) -> Bool) {
        guard goes.count * comes.count <= 4_096 else { return }
        var rest = goes[...]
        for index in comes {
            let found = rest.firstIndex { old[$0].isMostly(new[index]) && canEdit($0, index) }
            guard let found else { continue }
            pair(rest[found], index)
            rest = rest[(found + 1)...]
        }
    }

    private func isSameKind(_ oldIndex: Int, _ newIndex: Int) -> Bool {
        switch (old[oldIndex], new[newIndex]) {
        case (.object, .object): old[oldIndex].elementID == nil || new[newIndex].elementID == nil
        case (.array, .array): true
        case (.object, _), (_, .object), (.array, _), (_, .array): false
        case (_, _): true
        }
    }
}

/// Numbers things, equal ones alike.
private struct Numbers<Thing: Hashable> {
    private var numbers: [Thing: Int] = [:]

    mutating func number(_ thing: Thing) -> Int {
        if let number = numbers[thing] { return number }
        numbers[thing] = numbers.count
        return numbers.count - 1
    }
}

extension JSONValue {
    /// The object's own identity, its `id`; nil if it has none.
    fileprivate var elementID: JSONValue? {
        switch self["id"] {
        case .string?, .integer?: self["id"]
        case .null?, .bool?, .double?, .array?, .object?, nil: nil
        }
    }

    /// True if two objects without an `id` share at least half of their members.
    fileprivate func isMostly(_ other: JSONValue) -> Bool {
        guard case .object(let mine) = self, case .object(let theirs) = other, elementID == nil, other.elementID == nil
        else { return false }
        let equal = mine.count { other[$0.key] == $0.value }
        return equal > 0 && equal * 2 >= max(mine.count, theirs.count)
    }
}
