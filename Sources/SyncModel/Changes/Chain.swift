package import Crypto

/// A replica's hash chain: `head(0)` names space and replica, `head(n) = SHA-256(head(n-1) ‖ digest(n))`.
///
/// One signature on a head vouches for every change before it, so a relay cannot forge or leave out a change, and two
/// histories under one replica (a fork) are always seen.
package struct ChainHead: Hashable, Sendable {
    package static let byteCount = 32

    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The head before the first change.
    package init(space: SpaceID, replica: ReplicaID) {
        bytes = Array(SHA256.hash(data: Array("lanyard/chain/v1".utf8) + space.bytes + replica.bytes))
    }

    private init(_ digest: SHA256.Digest) { bytes = Array(digest) }

    package func appending(_ digest: SHA256.Digest) -> ChainHead {
        var hasher = SHA256()
        bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        digest.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        return ChainHead(hasher.finalize())
    }
}

/// The end of what is known of one replica's history: the next counter, the head there, and the stamp of the last change.
package struct ReplicaTip: Hashable, Sendable {
    package let next: UInt64
    package let head: ChainHead
    /// Zero when nothing is held.
    package let stamp: Stamp

    package init(next: UInt64, head: ChainHead, stamp: Stamp) {
        self.next = next
        self.head = head
        self.stamp = stamp
    }

    package static func empty(space: SpaceID, replica: ReplicaID) -> ReplicaTip {
        ReplicaTip(next: 0, head: ChainHead(space: space, replica: replica), stamp: .zero)
    }

    /// Returns one term of the vector digest: a hash of (replica, end, head).
    package func digestTerm(of replica: ReplicaID) -> Sum256 {
        var bytes = Array("lanyard/digest/tip/v1".utf8)
        bytes += replica.bytes
        bytes.append(bigEndian: next)
        bytes += head.bytes
        return Sum256(SHA256.hash(data: bytes))
    }
}

/// The message that an author signs with Ed25519: (space, replica, end, head).
package enum ChainSignature {
    package static let byteCount = 64

    package static func message(space: SpaceID, replica: ReplicaID, end: UInt64, head: ChainHead) -> [UInt8] {
        var bytes = Array("lanyard/sign/v1".utf8)
        bytes += space.bytes
        bytes += replica.bytes
        bytes.append(bigEndian: end)
        bytes += head.bytes
        return bytes
    }

    /// False also for bytes that are no key or no signature.
    package static func isValid(
        _ signature: [UInt8], space: SpaceID, replica: ReplicaID, end: UInt64, head: ChainHead, signingKey: [UInt8]
    ) -> Bool {
        guard signature.count == byteCount,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: signingKey)
        else { return false }
        return key.isValidSignature(
            signature, for: message(space: space, replica: replica, end: end, head: head))
    }
}
