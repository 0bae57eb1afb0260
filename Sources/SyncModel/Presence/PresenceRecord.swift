import Crypto

/// The place of a presence record among those of its device: a later run before an earlier one, then the greater sequence.
package struct PresenceMark: Hashable, Sendable, Comparable {
    /// Milliseconds since 1970 at which the agent of that run started, or more: see `PresenceRecord.nextRun`.
    package let run: UInt64
    package let sequence: UInt64

    package init(run: UInt64, sequence: UInt64) {
        self.run = run
        self.sequence = sequence
    }

    package static func < (left: PresenceMark, right: PresenceMark) -> Bool {
        left.run == right.run ? left.sequence < right.sequence : left.run < right.run
    }
}

/// The whole presence of a device in a space: values that live only while their session does.
///
/// Each record replaces all earlier ones of its device, so a lost one does not matter. Without entries nothing is present.
/// Bounds: `Limits.presenceEntries` entries, `Limits.presenceRecordBytes` in canonical bytes.
package struct PresenceRecord: Hashable, Sendable {
    package static let formatVersion: UInt8 = 1

    /// The value of one session of a client, under one topic.
    package struct Entry: Hashable, Sendable {
        /// The name of the topic; see `Name.isValid`.
        package let topic: ExactString
        /// A random number that the agent gives to a session.
        package let session: UInt64
        /// JSON text, 1 to `Limits.presenceValueBytes` bytes. Agents that pass it on do not look inside.
        package let value: [UInt8]

        package init(topic: ExactString, session: UInt64, value: [UInt8]) {
            self.topic = topic
            self.session = session
            self.value = value
        }

        /// True if it stands before `other`: by the topic's bytes, then the session.
        fileprivate func precedes(_ other: Entry) -> Bool {
            topic == other.topic ? session < other.session : topic < other.topic
        }

        fileprivate var isValid: Bool {
            Name.isValid(topic.string.utf8) && (1...Limits.presenceValueBytes).contains(value.count)
        }

        /// The canonical bytes of the entry.
        package var byteCount: Int {
            let (topic, value) = (topic.string.utf8.count, value.count)
            return UInt64(topic).varintByteCount + topic + 8 + UInt64(value).varintByteCount + value
        }
    }

    package let device: DeviceID
    package let mark: PresenceMark
    /// Sorted by topic and session, each once.
    package let entries: [Entry]

    package init(device: DeviceID, mark: PresenceMark, entries: [Entry]) {
        self.device = device
        self.mark = mark
        self.entries = entries.sorted { $0.precedes($1) }
    }

    /// True if the record may be sent: its entries are single and within their bounds.
    package var isValid: Bool {
        entries.count <= Limits.presenceEntries && byteCount <= Limits.presenceRecordBytes
            && mark.run <= Limits.presenceRun && entries.allSatisfy(\.isValid)
            && zip(entries, entries.dropFirst()).allSatisfy { $0.precedes($1) }
    }

    package var byteCount: Int {
        49 + UInt64(entries.count).varintByteCount + entries.reduce(0) { $0 + $1.byteCount }
    }

    /// Returns the number of a run that replaces `run`: a device whose clock was put back goes on behind it.
    package static func nextRun(after run: UInt64) -> UInt64 { min(run, Limits.presenceRun - 1) + 1 }

    /// Canonical bytes; layout in PROTOCOL.md "Presence".
    package var encoded: [UInt8] {
        var bytes: [UInt8] = [Self.formatVersion]
        bytes.reserveCapacity(byteCount)
        bytes += device.bytes
        bytes.append(bigEndian: mark.run)
        bytes.append(bigEndian: mark.sequence)
        bytes.append(varint: UInt64(entries.count))
        for entry in entries {
            bytes.append(lengthPrefixed: entry.topic.string.utf8)
            bytes.append(bigEndian: entry.session)
            bytes.append(lengthPrefixed: entry.value)
        }
        return bytes
    }

    package init(_ reader: inout ByteReader) throws(CodecError) {
        let version = try reader.byte()
        guard version == Self.formatVersion else { throw .unknownVersion(version) }
        device = try reader.device("presence.device")
        mark = PresenceMark(run: try reader.bigEndianUInt64(), sequence: try reader.bigEndianUInt64())
        let count = try reader.varint(upTo: UInt64(Limits.presenceEntries), "presence.entries")
        var entries: [Entry] = []
        for _ in 0..<count {
            let topic = try reader.skip(Int(reader.varint(upTo: UInt64(Limits.nameBytes), "presence.topic")))
            guard let name = String(validating: reader.bytes[topic], as: UTF8.self) else {
                throw .outOfRange(field: "presence.topic")
            }
            let session = try reader.bigEndianUInt64()
            let value = try reader.skip(
                Int(reader.varint(upTo: UInt64(Limits.presenceValueBytes), "presence.value")))
            let entry = Entry(topic: ExactString(name), session: session, value: Array(reader.bytes[value]))
            if let last = entries.last, !last.precedes(entry) { throw .outOfRange(field: "presence.entries") }
            entries.append(entry)
        }
        self.entries = entries
        guard isValid else { throw .outOfRange(field: "presence") }
    }

    /// Returns the message that the device signs with its signing key.
    package func message(in space: SpaceID) -> [UInt8] {
        Array("lanyard/presence/v1".utf8) + space.bytes + Array(SHA256.hash(data: encoded))
    }
}

/// A presence record with its device's signature: what is passed on, over any number of hops.
package struct SignedPresence: Hashable, Sendable {
    package let record: PresenceRecord
    /// Ed25519, 64 bytes.
    package let signature: [UInt8]

    package init(_ record: PresenceRecord, signature: [UInt8]) {
        self.record = record
        self.signature = signature
    }

    package init(_ record: PresenceRecord, space: SpaceID, sign: ([UInt8]) -> [UInt8]) {
        self.init(record, signature: sign(record.message(in: space)))
    }

    package var device: DeviceID { record.device }
    package var mark: PresenceMark { record.mark }
    package var byteCount: Int { record.byteCount + ChainSignature.byteCount }

    /// True if the device's key signed it for this space; false also for bytes that are no key or no signature.
    package func isSigned(in space: SpaceID, signingKey: [UInt8]) -> Bool {
        guard signature.count == ChainSignature.byteCount,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: signingKey)
        else { return false }
        return key.isValidSignature(signature, for: record.message(in: space))
    }

    /// The record's bytes, then the signature.
    package var encoded: [UInt8] { record.encoded + signature }

    /// Reads all of `bytes`, which come from a peer.
    package init(encoded bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes)
        record = try PresenceRecord(&reader)
        signature = Array(bytes[try reader.skip(ChainSignature.byteCount)])
        guard reader.isAtEnd else { throw .trailingBytes }
    }
}
