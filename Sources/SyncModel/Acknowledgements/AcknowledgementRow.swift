/// Names one acknowledgement of a device. The stamp alone would not do: a device that was put back to an earlier state may
/// give it twice.
package struct AcknowledgementMark: Hashable, Sendable {
    package let stamp: Stamp
    /// The first eight bytes of its digest term.
    package let tag: UInt64

    package init(stamp: Stamp, tag: UInt64) {
        self.stamp = stamp
        self.tag = tag
    }

    /// True if a node that has `other` may want the acknowledgement that this names.
    package func isNews(to other: AcknowledgementMark?) -> Bool {
        guard let other else { return true }
        return stamp > other.stamp || stamp == other.stamp && tag != other.tag
    }
}

/// An acknowledgement as it crosses a session: whole, or as what moved since an earlier one of the same member.
///
/// Vectors grow with every incarnation that ever lived, and what moves is a few entries: so a row costs about 200 bytes
/// in a space of any age. The receiver puts the whole together and checks the signature over that.
package struct AcknowledgementRow: Hashable, Sendable {
    package let device: DeviceID
    package let stamp: Stamp
    /// The mark of the acknowledgement that it continues; nil for a whole one.
    package let base: AcknowledgementMark?
    package let digest: Sum256
    /// The entries: all of a whole acknowledgement; else those that differ, with `next` 0 for one that is gone.
    package let entries: [VersionVector.Entry]
    package let laterEnds: VersionVector
    package let signature: [UInt8]

    /// - Parameter base: an earlier one by the same device, which the receiver is known to hold.
    package init(_ signed: SignedAcknowledgement, since base: SignedAcknowledgement? = nil) {
        let whole = signed.acknowledgement
        device = whole.device
        stamp = whole.stamp
        digest = whole.digest
        laterEnds = whole.laterEnds
        signature = signed.signature
        guard let old = base?.acknowledgement, old.device == whole.device else {
            self.base = nil
            entries = whole.vector.entries
            return
        }
        self.base = base?.mark
        let moved = whole.vector.entries.filter { old.vector.next(of: $0.replica) != $0.next }
        let gone = old.vector.entries.filter { whole.vector.next(of: $0.replica) == 0 }.map {
            VersionVector.Entry(replica: $0.replica, next: 0)
        }
        entries = gone.isEmpty ? moved : (moved + gone).sorted { $0.replica < $1.replica }
    }

    /// Nil when it continues one that is not `base`.
    package func joined(to base: SignedAcknowledgement?) -> SignedAcknowledgement? {
        var vector = VersionVector(entries)
        if let expected = self.base {
            guard let base, base.device == device, base.mark == expected else { return nil }
            let kept = base.acknowledgement.vector.entries.filter { entry in !moves(entry.replica) }
            vector = VersionVector(kept + entries)
        }
        return SignedAcknowledgement(
            Acknowledgement(device: device, stamp: stamp, vector: vector, digest: digest, laterEnds: laterEnds),
            signature: signature)
    }

    /// Entries are sorted: found by halves.
    private func moves(_ replica: ReplicaID) -> Bool {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].replica < replica { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].replica == replica
    }

    /// Layout in PROTOCOL.md "Acknowledgements".
    package var encoded: [UInt8] {
        var bytes: [UInt8] = [Acknowledgement.formatVersion]
        bytes += device.bytes
        bytes.append(bigEndian: stamp.rawValue)
        bytes.append(base == nil ? 0 : 1)
        if let base {
            bytes.append(bigEndian: base.stamp.rawValue)
            bytes.append(bigEndian: base.tag)
        }
        bytes += digest.bytes
        bytes.append(entries: entries)
        bytes.append(ends: laterEnds.entries)
        bytes += signature
        return bytes
    }

    /// Reads all of `bytes`, which come from a peer.
    package init(encoded bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Acknowledgement.formatVersion else { throw .unknownVersion(version) }
        device = try reader.device("acknowledgement.device")
        stamp = Stamp(rawValue: try reader.bigEndianUInt64())
        switch try reader.byte() {
        case 0: base = nil
        case 1:
            let stamp = Stamp(rawValue: try reader.bigEndianUInt64())
            base = AcknowledgementMark(stamp: stamp, tag: try reader.bigEndianUInt64())
        default: throw .outOfRange(field: "acknowledgement.base")
        }
        digest = try reader.sum("acknowledgement.digest")
        entries = try reader.entries("acknowledgement.vector")
        guard base != nil || entries.allSatisfy({ $0.next > 0 }) else {
            throw .outOfRange(field: "acknowledgement.vector")
        }
        laterEnds = VersionVector(try reader.ends(of: device, "acknowledgement.ends"))
        signature = Array(bytes[try reader.skip(ChainSignature.byteCount)])
        guard reader.isAtEnd else { throw .trailingBytes }
    }
}
