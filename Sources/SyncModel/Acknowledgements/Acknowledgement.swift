import Crypto

/// A member's statement that everything its vector covers is durable on it. With it, other members may forget data that no
/// member needs any more.
///
/// All that its author writes afterwards knows the whole `vector`; all that it wrote before lies below its `ends`. So once a
/// node holds the author's changes up to the ends, no operation of this author that does not know the vector is still to
/// come. Of several by one device the newest counts (`isNewer`). Bounds: `Limits.contextEntries` entries.
package struct Acknowledgement: Hashable, Sendable {
    package static let formatVersion: UInt8 = 1

    package let device: DeviceID
    /// Above every stamp that the vector covers, and above those of the author's earlier acknowledgements.
    package let stamp: Stamp
    /// The vector that the author holds.
    package let vector: VersionVector
    /// The sum of `ReplicaTip.digestTerm` over the vector's entries: which histories they are, not just how long.
    package let digest: Sum256
    /// The ends of the author's own histories that lie beyond the vector. Replicas of the device only.
    package let laterEnds: VersionVector

    package init(
        device: DeviceID, stamp: Stamp, vector: VersionVector, digest: Sum256,
        laterEnds: VersionVector = VersionVector()
    ) {
        self.device = device
        self.stamp = stamp
        self.vector = vector
        self.digest = digest
        self.laterEnds = VersionVector(laterEnds.entries(beyond: vector).filter { $0.replica.device == device })
    }

    /// The ends of the author's own histories, by replica.
    package var ends: VersionVector {
        var ends = VersionVector(vector.entries.filter { $0.replica.device == device })
        ends.join(laterEnds)
        return ends
    }

    /// True if it takes the place of `other`, by the same device. A device that was put back to an earlier state may give one
    /// stamp twice. The bytes then decide, so that every node keeps the same one.
    package func isNewer(than other: Acknowledgement) -> Bool {
        if stamp != other.stamp { return stamp > other.stamp }
        return other.encoded.lexicographicallyPrecedes(encoded)
    }

    /// Canonical bytes; layout in PROTOCOL.md "Acknowledgements".
    package var encoded: [UInt8] {
        var bytes: [UInt8] = [Self.formatVersion]
        bytes.reserveCapacity(80 + vector.entries.count * 44)
        bytes += device.bytes
        bytes.append(bigEndian: stamp.rawValue)
        bytes += digest.bytes
        bytes.append(entries: vector.entries)
        bytes.append(ends: laterEnds.entries)
        return bytes
    }

    package init(_ reader: inout ByteReader) throws(CodecError) {
        let version = try reader.byte()
        guard version == Self.formatVersion else { throw .unknownVersion(version) }
        let device = try reader.device("acknowledgement.device")
        let stamp = Stamp(rawValue: try reader.bigEndianUInt64())
        let digest = try reader.sum("acknowledgement.digest")
        let entries = try reader.entries("acknowledgement.vector")
        guard entries.allSatisfy({ $0.next > 0 }) else { throw .outOfRange(field: "acknowledgement.vector") }
        let vector = VersionVector(entries)
        let ends = VersionVector(try reader.ends(of: device, "acknowledgement.ends"))
        guard ends.entries(beyond: vector).count == ends.entries.count else {
            throw .outOfRange(field: "acknowledgement.ends")
        }
        self.init(device: device, stamp: stamp, vector: vector, digest: digest, laterEnds: ends)
    }

    /// Returns the message that the author signs with its signing key.
    package func message(in space: SpaceID) -> [UInt8] {
        Array("lanyard/acknowledgement/v1".utf8) + space.bytes + Array(SHA256.hash(data: encoded))
    }
}

/// An acknowledgement with its author's signature: what is kept and passed on, over any number of hops.
package struct SignedAcknowledgement: Hashable, Sendable {
    package let acknowledgement: Acknowledgement
    /// Ed25519, 64 bytes.
    package let signature: [UInt8]

    package init(_ acknowledgement: Acknowledgement, signature: [UInt8]) {
        self.acknowledgement = acknowledgement
        self.signature = signature
    }

    package init(_ acknowledgement: Acknowledgement, space: SpaceID, sign: ([UInt8]) -> [UInt8]) {
        self.init(acknowledgement, signature: sign(acknowledgement.message(in: space)))
    }

    package var device: DeviceID { acknowledgement.device }
    package var stamp: Stamp { acknowledgement.stamp }

    /// False also for bytes that are no key or no signature.
    package func isValid(in space: SpaceID, signingKey: [UInt8]) -> Bool {
        guard signature.count == ChainSignature.byteCount,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: signingKey)
        else { return false }
        return key.isValidSignature(signature, for: acknowledgement.message(in: space))
    }

    /// The term of the digest over the table member → newest acknowledgement. Two nodes may hold different signatures of one
    /// text, so signatures do not count.
    package var digestTerm: Sum256 {
        Sum256(SHA256.hash(data: Array("lanyard/digest/acknowledgement/v1".utf8) + acknowledgement.encoded))
    }

    package var mark: AcknowledgementMark {
        AcknowledgementMark(
            stamp: stamp, tag: digestTerm.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The acknowledgement's bytes, then the signature.
    package var encoded: [UInt8] { acknowledgement.encoded + signature }

    /// Reads all of `bytes`.
    package init(encoded bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes)
        let acknowledgement = try Acknowledgement(&reader)
        let signature = try reader.skip(ChainSignature.byteCount)
        guard reader.isAtEnd else { throw .trailingBytes }
        self.init(acknowledgement, signature: Array(bytes[signature]))
    }
}
