/// The content of a register or a constant: written values under their dots, the greatest canonical key first.
struct DottedValues<Value: ReplicableValue>: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let dot: Dot
        let stamp: Stamp
        let value: Value

        var key: CanonicalKey { CanonicalKey(stamp: stamp, dot: dot) }
    }

    private(set) var entries: Few<Entry> = .none

    init() {}

    init(_ entries: [Entry]) { self.entries = Few(entries) }

    var isEmpty: Bool { entries.isEmpty }

    mutating func insert(_ entry: Entry) {
        let index = entries.firstIndex { $0.key <= entry.key } ?? entries.count
        if index < entries.count, entries[index].dot == entry.dot { return }
        entries.insert(entry, at: index)
    }

    mutating func insert(_ value: Value, at origin: Origin) {
        insert(Entry(dot: origin.dot, stamp: origin.stamp, value: value))
    }

    mutating func remove(knownTo origin: Origin) { entries.removeAll { origin.knows($0.dot) } }

    /// A planted bug: what has a smaller stamp goes, seen or not.
    mutating func keepGreatest() { if let first = entries.first { entries = Few([first]) } }

    func delta(since vector: VersionVector) -> RegisterDelta<Value> {
        var added = DottedValues()
        var kept: [Dot] = []
        for entry in entries {
            if vector.covers(entry.dot) { kept.append(entry.dot) } else { added.entries.append(entry) }
        }
        return RegisterDelta(added: added, kept: DotSet(kept))
    }

    mutating func join(_ delta: RegisterDelta<Value>, held: VersionVector, theirs: VersionVector) {
        if delta.added == self { return }
        let present = entries
        entries.removeAll { entry in
            theirs.covers(entry.dot) && !delta.kept.contains(entry.dot)
                && !delta.added.entries.contains { $0.dot == entry.dot }
        }
        for entry in delta.added.entries where !held.covers(entry.dot) && !present.contains(entry) { insert(entry) }
    }
}

extension DottedValues: Codable {
    private struct Coded: Codable {
        let dot: Dot
        let stamp: Stamp
        let value: Value
    }

    init(from decoder: any Decoder) throws {
        self.init()
        for coded in try decoder.singleValueContainer().decode([Coded].self) {
            insert(Entry(dot: coded.dot, stamp: coded.stamp, value: coded.value))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(entries.map { Coded(dot: $0.dot, stamp: $0.stamp, value: $0.value) })
    }
}

extension DottedValues: ByteCoded, StateCoded where Value: ByteCoded {
    /// Layout: varint count; each, greatest key first: dot, varint stamp, value.
    func write(to writer: inout StateWriter) {
        writer.append(varint: UInt64(entries.count))
        for entry in entries {
            writer.append(entry.dot)
            writer.append(varint: entry.stamp.rawValue)
            writer.append(element: entry.value)
        }
    }

    init(restoring reader: inout StateReader) throws(CodecError) {
        var read: [Entry] = []
        for _ in 0..<(try reader.count(bytesEach: 3, "values")) {
            let dot = try reader.dot()
            let stamp = Stamp(rawValue: try reader.varint())
            let entry = Entry(dot: dot, stamp: stamp, value: try Value(reading: &reader.bytes))
            if let last = read.last, last.key <= entry.key { throw .outOfRange(field: "values") }
            read.append(entry)
        }
        self.init(read)
    }
}

/// The part of a register or a constant that a replica lacks.
public struct RegisterDelta<Value: ReplicableValue>: Hashable, Sendable, Codable {
    let added: DottedValues<Value>
    /// Live, and held by the receiver already.
    let kept: DotSet
}

extension RegisterDelta: ByteCoded, StateCoded where Value: ByteCoded {
    /// Layout: values; dots.
    public func write(to writer: inout StateWriter) {
        writer.append(added)
        writer.append(kept)
    }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        added = try DottedValues(restoring: &reader)
        kept = try DotSet(restoring: &reader)
    }
}
