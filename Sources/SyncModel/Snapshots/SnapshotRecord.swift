import Crypto

/// The description of a snapshot: the state that an application computed from the events of a stream, kept as an attachment.
///
/// The record is the fields of an object of the collection `lanyard.snapshots`, written once, together with the attachment.
/// So it is replicated, deleted and exported as all else is. `checksum` is over all other fields: fields that were edited
/// since, or merged from two writers, are no record any more.
package struct SnapshotRecord: Hashable, Sendable {
    package static let collection = ExactString("lanyard.snapshots")
    /// The format of the fields, the vector and the meaning of the bytes. Of other formats only `format`, `stream` and
    /// `schema` are read.
    package static let format: Int64 = 1

    /// The space of the vectors: in another space they would have no meaning.
    package let space: SpaceID
    package let stream: ExactString
    /// The version of the application's state; states of other versions are of no use to it.
    package let schema: Int64
    /// The consumer whose acknowledgements the state holds.
    package let consumer: ExactString
    /// The key up to which the state holds the events in canonical order, as far as `vector` covers them. Nil: the state was
    /// computed in the order of arrival, or from nothing.
    package let key: CanonicalKey?
    package let isCanonical: Bool
    /// Exactly the stream's events that the state holds: of each replica all before the entry.
    package let vector: VersionVector
    /// The name of the bytes.
    package let blob: BlobName
    /// The author's clock, for display.
    package let wallMilliseconds: Int64

    package init(
        space: SpaceID, stream: ExactString, schema: Int64, consumer: ExactString, isCanonical: Bool,
        key: CanonicalKey?, vector: VersionVector, blob: BlobName, wallMilliseconds: Int64
    ) {
        self.space = space
        self.stream = stream
        self.schema = schema
        self.consumer = consumer
        self.isCanonical = isCanonical
        self.key = key
        self.vector = vector
        self.blob = blob
        self.wallMilliseconds = wallMilliseconds
    }
}

extension SnapshotRecord {
    /// Sorted by name. All are registers without a schema: texts and whole numbers.
    package var fields: [JSONValue.Member] {
        let plain = plainFields
        return (plain + [Self.member("checksum", .text(Self.checksum(of: plain)))]).sorted { $0.key < $1.key }
    }

    private var plainFields: [JSONValue.Member] {
        [
            Self.member("consumer", .string(consumer)),
            Self.member("format", .integer(Self.format)),
            Self.member("hash", .text(Hex.text(blob.hash.bytes))),
            Self.member("key", .text(key.map { Hex.text($0.bytes) } ?? "")),
            Self.member("order", .text(isCanonical ? "canonical" : "arrival")),
            Self.member("schema", .integer(schema)),
            Self.member("size", .integer(Int64(clamping: blob.size))),
            Self.member("space", .text(Hex.text(space.bytes))),
            Self.member("stream", .string(stream)),
            Self.member("time", .integer(wallMilliseconds)),
            Self.member("vector", .text(Self.text(of: vector))),
        ]
    }

    /// Nil for fields that no node wrote so.
    package init?(_ fields: [JSONValue.Member]) {
        func value(_ name: String) -> JSONValue? { fields.first { $0.key == ExactString(name) }?.value }
        func text(_ name: String) -> String? {
            if case .string(let text)? = value(name) { text.string } else { nil }
        }
        func number(_ name: String) -> Int64? {
            if case .integer(let number)? = value(name) { number } else { nil }
        }
        guard case .string(let consumer)? = value("consumer"), case .string(let stream)? = value("stream"),
            let space = text("space").flatMap(Hex.bytes).flatMap({ SpaceID(bytes: $0) }),
            let hash = text("hash").flatMap(Hex.bytes).flatMap({ BlobHash(bytes: $0) }),
            let vector = text("vector").flatMap(Self.vector), let key = text("key"), let order = text("order"),
            ["arrival", "canonical"].contains(order), let schema = number("schema"),
            let size = number("size").flatMap({ UInt64(exactly: $0) }), size <= BlobLayout.sizeLimit,
            let time = number("time")
        else { return nil }
        var canonicalKey: CanonicalKey?
        if !key.isEmpty {
            guard let known = Hex.bytes(key).flatMap({ CanonicalKey(bytes: $0) }) else { return nil }
            canonicalKey = known
        }
        self.init(
            space: space, stream: stream, schema: schema, consumer: consumer, isCanonical: order == "canonical",
            key: canonicalKey, vector: vector, blob: BlobName(hash, size: size),
            wallMilliseconds: time)
        // One form only: what reads as this record is this record.
        guard self.fields == fields.sorted(by: { $0.key < $1.key }) else { return nil }
    }

    private static func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
        JSONValue.Member(key: ExactString(name), value: value)
    }

    private static func checksum(of fields: [JSONValue.Member]) -> String {
        var bytes = Array("lanyard/snapshot/v1".utf8)
        JSONValue.object(fields.sorted { $0.key < $1.key }).appendText(to: &bytes)
        return Hex.text(Array(SHA256.hash(data: bytes)))
    }

    /// `REPLICA:NEXT` for each entry, in order, with a blank between; the replica's 40 bytes in hexadecimal, since its short
    /// text does not name it.
    private static func text(of vector: VersionVector) -> String {
        vector.entries.map { "\(Hex.text($0.replica.bytes)):\($0.next)" }.joined(separator: " ")
    }

    private static func vector(_ text: String) -> VersionVector? {
        var entries: [VersionVector.Entry] = []
        for part in text.split(separator: " ") {
            let halves = part.split(separator: ":", omittingEmptySubsequences: false)
            guard halves.count == 2, let replica = Hex.bytes(halves[0]).flatMap({ ReplicaID(bytes: $0) }),
                let next = UInt64(halves[1])
            else { return nil }
            entries.append(VersionVector.Entry(replica: replica, next: next))
        }
        return VersionVector(entries)
    }
}
