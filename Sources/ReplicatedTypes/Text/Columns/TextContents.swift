/// A text, or what a replica lacks of one, in canonical form: what is compared, hashed, kept and shipped.
///
/// Holds bytes, and reads them when they are needed: a text that is only kept costs what its bytes take.
public struct TextContents: Hashable, Sendable, Codable {
    /// The dots of explicit creations.
    var presence = DotSet()
    /// The replicas whose scalars the columns name; sorted.
    private(set) var replicas: [ReplicaID] = []
    /// Layout: see PROTOCOL.md, "Text columns". Empty: no scalar at all.
    private(set) var columns: [UInt8] = []
    private var reading = Reading()

    init() {}

    init(replicas: [ReplicaID], columns: [UInt8]) {
        self.replicas = replicas
        self.columns = columns
    }

    /// Returns the columns. If a check has read them already, they are not read again.
    func read() throws(CodecError) -> TextColumns {
        if let kept = reading.kept { return kept.columns }
        return try TextColumns(self)
    }

    /// The same without what was read: to be kept.
    var bare: TextContents { TextContents(replicas: replicas, columns: columns) }

    /// The least vector of a sender that can hold these scalars.
    package var leastVector: VersionVector {
        columns.isEmpty ? VersionVector() : (try? read())?.vector ?? VersionVector()
    }

    private enum CodingKeys: CodingKey {
        case presence
        case replicas
        case columns
    }

    /// Refuses what is not the contents of a text, or another form of them.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        presence = try container.decode(DotSet.self, forKey: .presence)
        replicas = try container.decode([ReplicaID].self, forKey: .replicas)
        columns = try container.decode([UInt8].self, forKey: .columns)
        do { reading = try checked() } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not the contents of a text: \(error)"))
        }
    }

    /// Refuses what another form, or nothing, would mean.
    private func checked() throws(CodecError) -> Reading {
        for (one, next) in zip(replicas, replicas.dropFirst()) where one >= next {
            throw .outOfRange(field: "replicas")
        }
        guard !columns.isEmpty else {
            guard replicas.isEmpty else { throw .outOfRange(field: "replicas") }
            return Reading()
        }
        var read = try TextColumns(self)
        read.resolve()
        try read.check(self)
        return Reading(read)
    }
}

/// The columns as they were read when they were checked, so that they are read once. No part of the value.
private struct Reading: Hashable, Sendable {
    final class Kept: Sendable {
        let columns: TextColumns

        init(_ columns: TextColumns) { self.columns = columns }
    }

    let kept: Kept?

    init() { kept = nil }
    init(_ columns: TextColumns) { kept = Kept(columns) }

    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

extension TextContents: StateCoded {
    /// Layout: presence; varint count of replicas; each replica; length-prefixed columns.
    public func write(to writer: inout StateWriter) {
        writer.append(presence)
        writer.append(varint: UInt64(replicas.count))
        for replica in replicas { writer.append(replica) }
        writer.append(varint: UInt64(columns.count))
        writer.bytes.append(contentsOf: columns)
    }

    /// Reads what `write(to:)` wrote; refuses any other form of the same value.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        presence = try DotSet(restoring: &reader)
        for _ in 0..<(try reader.count(bytesEach: 1, "replicas")) { replicas.append(try reader.replica()) }
        columns = Array(reader.bytes.bytes[try reader.bytes.lengthPrefixed(upTo: .max, "text.columns")])
        if !reader.bytes.isOurs { reading = try checked() }
    }
}
