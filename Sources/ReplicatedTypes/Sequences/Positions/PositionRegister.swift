/// The positions of one element of a sequence, all that were given to it concurrently. It is shown at the greatest in
/// canonical order, so an element that two replicas moved appears once.
///
/// A position is a node of the tree, named by the dot of the operation that made it.
package struct PositionRegister: Hashable, Sendable, Codable {
    /// Ascending.
    package private(set) var keys: [CanonicalKey] = []

    package init() {}

    package var isEmpty: Bool { keys.isEmpty }
    package var greatest: CanonicalKey? { keys.last }

    /// Drops the positions that the author of `origin` had seen and puts the operation's own in.
    package mutating func replace(at origin: Origin) {
        keys.removeAll { origin.knows($0.dot) || $0.dot == origin.dot }
        insert(origin.key)
    }

    /// Joins the positions that a replica at `theirs` holds into those of one at `held`.
    package mutating func join(_ other: PositionRegister, held: VersionVector, theirs: VersionVector) {
        guard self != other else { return }
        let added = other.keys.filter { !held.covers($0.dot) && !keys.contains($0) }
        keys.removeAll { theirs.covers($0.dot) && !other.keys.contains($0) }
        for key in added { insert(key) }
    }

    private mutating func insert(_ key: CanonicalKey) {
        keys.insert(key, at: keys.firstIndexPast { $0 > key })
    }
}

extension PositionRegister: StateCoded {
    /// Layout: varint count; each, ascending: dot, varint stamp.
    package func write(to writer: inout StateWriter) {
        writer.append(varint: UInt64(keys.count))
        for key in keys {
            writer.append(key.dot)
            writer.append(varint: key.stamp.rawValue)
        }
    }

    package init(restoring reader: inout StateReader) throws(CodecError) {
        for _ in 0..<(try reader.count(bytesEach: 3, "positions")) {
            let dot = try reader.dot()
            let key = CanonicalKey(stamp: Stamp(rawValue: try reader.varint()), dot: dot)
            if let last = keys.last, last >= key { throw .outOfRange(field: "positions") }
            keys.append(key)
        }
    }
}
