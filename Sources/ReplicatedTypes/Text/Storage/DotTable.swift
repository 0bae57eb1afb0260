/// The mapping between the numbers of a text and their dots: stretches of consecutive numbers and counters of one replica.
///
/// Numbers count the scalars in the order in which they arrived here, so a table grows at its end only. Per replica the
/// stretches are also sorted by counter.
struct DotTable: ~Copyable {
    private(set) var replicas: [ReplicaID] = []
    private var indices: [ReplicaID: Int] = [:]
    /// Per stretch: its first number, its replica's index, its first counter.
    private var numbers = Column<Int32>()
    private var owners = Column<Int32>()
    private var counters = Column<UInt64>()
    /// Per replica: its stretches by counter.
    private var sorted: [[Int32]] = []
    private(set) var count = 0
    /// The stretch asked for last.
    private var cached = 0
    /// The replica of the last stretch, and the counter behind it.
    private var lastReplica = -1
    private var lastEnd: UInt64 = 0

    init() {}

    init(copying other: borrowing DotTable) {
        replicas = other.replicas
        indices = other.indices
        numbers = Column(copying: other.numbers)
        owners = Column(copying: other.owners)
        counters = Column(copying: other.counters)
        sorted = other.sorted
        count = other.count
        lastReplica = other.lastReplica
        lastEnd = other.lastEnd
    }

    /// A stretch: numbers `number ..< number + count` are counters `counter ..< counter + count` of a replica.
    struct Stretch {
        let replica: Int
        let counter: UInt64
        let number: Int
        let count: Int

        var end: UInt64 { counter + UInt64(count) }
    }

    @inline(__always)
    private func stretch(_ index: Int) -> Stretch {
        let number = Int(numbers[index])
        let next = index + 1 < numbers.count ? Int(numbers[index + 1]) : count
        return Stretch(replica: Int(owners[index]), counter: counters[index], number: number, count: next - number)
    }

    // MARK: Replicas

    func index(of replica: ReplicaID) -> Int? {
        if let last = replicas.last, last == replica { return replicas.count - 1 }
        return indices[replica]
    }

    mutating func makeIndex(of replica: ReplicaID) -> Int {
        if let index = index(of: replica) { return index }
        indices[replica] = replicas.count
        replicas.append(replica)
        sorted.append([])
        return replicas.count - 1
    }

    // MARK: Dots

    @inline(__always)
    mutating func stretch(of number: Int) -> Stretch {
        let cachedStretch = cached < numbers.count ? stretch(cached) : nil
        if let cachedStretch, number >= cachedStretch.number, number < cachedStretch.number + cachedStretch.count {
            return cachedStretch
        }
        cached = numbers.firstIndexPast { $0 > Int32(truncatingIfNeeded: number) } - 1
        return stretch(cached)
    }

    /// The replica's index and the counter of a scalar.
    mutating func dot(of number: Int) -> (replica: Int, counter: UInt64) {
        let stretch = stretch(of: number)
        return (stretch.replica, stretch.counter + UInt64(number - stretch.number))
    }

    mutating func fullDot(of number: Int) -> Dot {
        let (replica, counter) = dot(of: number)
        return Dot(replica: replicas[replica], counter: counter)
    }

    func number(of dot: Dot) -> Int? {
        guard let replica = index(of: dot.replica) else { return nil }
        return number(of: dot.counter, by: replica)
    }

    func number(of counter: UInt64, by replica: Int) -> Int? {
        let index = position(of: counter, by: replica) - 1
        guard index >= 0 else { return nil }
        let stretch = stretch(Int(sorted[replica][index]))
        return counter < stretch.end ? stretch.number + Int(counter - stretch.counter) : nil
    }

    /// Returns the number of the replica's stretches that begin at or before `counter`.
    private func position(of counter: UInt64, by replica: Int) -> Int {
        let stretches = sorted[replica]
        // Most questions are about what was written last.
        if let last = stretches.last, counters[Int(last)] <= counter { return stretches.count }
        var low = 0
        var length = stretches.count
        while length > 0 {
            let half = length / 2
            if counters[Int(stretches[low + half])] > counter {
                length = half
            } else {
                low += half + 1
                length -= half + 1
            }
        }
        return low
    }

    /// True if one of `count` counters from `counter` on is here.
    func holdsAny(of counter: UInt64, count: Int, by replica: Int) -> Bool {
        let position = position(of: counter, by: replica)
        if position > 0, stretch(Int(sorted[replica][position - 1])).end > counter { return true }
        return position < sorted[replica].count
            && counters[Int(sorted[replica][position])] - counter < UInt64(count)
    }

    /// Returns the number of consecutive counters from `counter` on that are not here, at most `limit`. The first must be
    /// absent.
    func absentCount(from counter: UInt64, upTo limit: Int, by replica: Int) -> Int {
        let position = position(of: counter, by: replica)
        guard position < sorted[replica].count else { return limit }
        return Int(min(UInt64(limit), counters[Int(sorted[replica][position])] - counter))
    }

    /// The numbers of those counters in `range` that are here, as ranges.
    func forEachStretch(of replica: Int, in range: Range<UInt64>, _ body: (Range<Int>) -> Void) {
        var position = max(0, position(of: range.lowerBound, by: replica) - 1)
        while position < sorted[replica].count {
            let stretch = stretch(Int(sorted[replica][position]))
            guard stretch.counter < range.upperBound else { return }
            let low = max(stretch.counter, range.lowerBound)
            let high = min(stretch.end, range.upperBound)
            if low < high {
                let first = stretch.number + Int(low - stretch.counter)
                body(first..<first + Int(high - low))
            }
            position += 1
        }
    }

    /// The counter behind the last scalar of a replica; 0: there is none.
    func end(of replica: Int) -> UInt64 { sorted[replica].last.map { stretch(Int($0)).end } ?? 0 }

    /// All stretches of a replica by counter.
    func stretches(of replica: Int) -> [Stretch] { sorted[replica].map { stretch(Int($0)) } }

    /// Gives the next `added` numbers the counters from `counter` on. None of them is here.
    @inline(__always)
    mutating func append(_ added: Int, counter: UInt64, by replica: Int) {
        if replica != lastReplica || counter != lastEnd { addStretch(counter, replica) }
        count += added
        lastEnd = counter + UInt64(truncatingIfNeeded: added)
    }

    @inline(never)
    private mutating func addStretch(_ counter: UInt64, _ replica: Int) {
        let position = position(of: counter, by: replica)
        sorted[replica].insert(Int32(truncatingIfNeeded: numbers.count), at: position)
        numbers.append(Int32(truncatingIfNeeded: count))
        owners.append(Int32(truncatingIfNeeded: replica))
        counters.append(counter)
        lastReplica = replica
    }
}
