import Crypto
package import SyncModel

/// The contents of a lease: how far this boot of this machine has answered for one of our replicas.
///
/// It lives where a reboot, a backup or a disk image does not reach. A store that is behind it lost something; a store
/// without it may be a copy. Either way the next write begins a new incarnation (Decisions/24).
package struct LeaseRecord: Hashable, Sendable {
    package let bootID: [UInt8]
    package let replica: ReplicaID
    /// Next counter after the newest answered commit.
    package let next: UInt64
    /// The newest signed place of the chain.
    package let sealedEnd: UInt64
    package let sealedHead: ChainHead
    /// The milliseconds by which the wall clock was ahead of the time since the machine's start.
    package let clockAhead: Int64

    package init(
        bootID: [UInt8], replica: ReplicaID, next: UInt64, sealedEnd: UInt64, sealedHead: ChainHead, clockAhead: Int64
    ) {
        self.bootID = bootID
        self.replica = replica
        self.next = next
        self.sealedEnd = sealedEnd
        self.sealedHead = sealedHead
        self.clockAhead = clockAhead
    }

    /// Returns whether a store may go on under `replica`.
    ///
    /// - Parameters:
    /// - next: what the store holds of it.
    /// - ahead: what `clockAhead` is now. A clock that was set may be that of a machine that was put back with its leases.
    /// - head: the store's own chain head at a counter where a stored segment ends; nil elsewhere.
    package func permits(
        _ replica: ReplicaID, bootID: [UInt8], next: UInt64, ahead: Int64,
        head: (UInt64) throws(StoreError) -> ChainHead?
    ) throws(StoreError) -> Bool {
        guard self.replica == replica, self.bootID == bootID, next >= self.next,
            !Self.isSet(from: clockAhead, to: ahead)
        else { return false }
        return try head(sealedEnd) == sealedHead
    }

    /// True if a clock was set between the two moments. Time servers put one right by less, often; what is put back is older.
    static func isSet(from before: Int64, to now: Int64) -> Bool { abs(now - before) > 10_000 }
}

extension LeaseRecord {
    /// Layout: magic (8), boot id (length-prefixed), replica (40), next, sealed end (8 each), head (32), clock (8), SHA-256 of
    /// all that.
    package var encoded: [UInt8] {
        var bytes = Self.magic
        bytes.append(lengthPrefixed: bootID)
        bytes += replica.bytes
        bytes.append(bigEndian: next)
        bytes.append(bigEndian: sealedEnd)
        bytes += sealedHead.bytes
        bytes.append(bigEndian: UInt64(bitPattern: clockAhead))
        return bytes + SHA256.hash(data: bytes)
    }

    /// Nil for bytes that are no lease, or one that was being replaced when the machine stopped.
    package init?(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(CodecError) {
            guard Array(bytes[try reader.skip(8)]) == Self.magic else { return nil }
            bootID = Array(bytes[try reader.lengthPrefixed(upTo: 128, "lease.boot")])
            guard let replica = ReplicaID(bytes: bytes[try reader.skip(ReplicaID.byteCount)]) else { return nil }
            self.replica = replica
            next = try reader.bigEndianUInt64()
            sealedEnd = try reader.bigEndianUInt64()
            guard let head = ChainHead(bytes: Array(bytes[try reader.skip(ChainHead.byteCount)])) else { return nil }
            sealedHead = head
            clockAhead = Int64(bitPattern: try reader.bigEndianUInt64())
            let checked = Array(bytes[..<reader.position])
            guard Array(bytes[try reader.skip(32)]) == Array(SHA256.hash(data: checked)) else { return nil }
        } catch {
            return nil
        }
    }

    private static let magic = Array("lnylease".utf8)
}
