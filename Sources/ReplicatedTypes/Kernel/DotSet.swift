/// A few dots in order: the explicit creations of a container, or the additions of one element that no operation removed.
///
/// A single dot is stored inline. For many dots, as of a whole container, there is `DotRuns`.
public struct DotSet: Hashable, Sendable {
    private var dots: Few<Dot> = .none

    /// The empty set.
    public init() {}

    /// The dots given, each once.
    public init(_ dots: some Sequence<Dot>) {
        var distinct: [Dot] = []
        for dot in dots.sorted() where distinct.last != dot { distinct.append(dot) }
        self.dots = Few(distinct)
    }

    /// True if the set contains `dot`. Logarithmic.
    public func contains(_ dot: Dot) -> Bool {
        let index = position(of: dot)
        return index < dots.count && dots[index] == dot
    }

    /// Puts `dot` in its place unless it is there.
    public mutating func insert(_ dot: Dot) {
        let index = position(of: dot)
        if index < dots.count, dots[index] == dot { return }
        dots.insert(dot, at: index)
    }

    /// Drops what the author of `origin` had seen.
    public mutating func remove(knownTo origin: Origin) { dots.removeAll { origin.knows($0) } }

    /// Applies a new write: removes the dots that its author had seen and inserts the operation's own.
    public mutating func replace(at origin: Origin) {
        remove(knownTo: origin)
        insert(origin.dot)
    }

    /// Joins the dots of a replica that holds `theirs` into those of one that holds `held`: what one of them has seen
    /// and has no more, is gone; the rest stays.
    public mutating func join(_ other: DotSet, held: VersionVector, theirs: VersionVector) {
        guard self != other else { return }
        var added: [Dot] = []
        for dot in other.dots where !held.covers(dot) && !contains(dot) { added.append(dot) }
        dots.removeAll { theirs.covers($0) && !other.contains($0) }
        for dot in added { insert(dot) }
    }

    private func position(of dot: Dot) -> Int {
        var low = 0
        var high = dots.count
        while low < high {
            let middle = (low + high) / 2
            if dots[middle] < dot { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension DotSet: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }

    /// The number of dots.
    public var endIndex: Int { dots.endIndex }

    /// The dots in ascending order.
    public subscript(index: Int) -> Dot { dots[index] }
}

extension DotSet: ExpressibleByArrayLiteral {
    /// The dots listed, each once.
    public init(arrayLiteral elements: Dot...) { self.init(elements) }
}

extension DotSet: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([Dot].self))
    }

    /// Encodes all dots, ascending: equal sets have equal encodings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Array(dots))
    }
}

extension DotSet: StateCoded {
    /// Layout: varint count; each dot, ascending.
    public func write(to writer: inout StateWriter) {
        writer.append(varint: UInt64(count))
        for dot in self { writer.append(dot) }
    }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        let count = try reader.count(bytesEach: 2, "dots")
        var dots: [Dot] = []
        dots.reserveCapacity(count)
        for _ in 0..<count {
            let dot = try reader.dot()
            if let last = dots.last, last >= dot { throw .outOfRange(field: "dots") }
            dots.append(dot)
        }
        self.dots = Few(dots)
    }
}
