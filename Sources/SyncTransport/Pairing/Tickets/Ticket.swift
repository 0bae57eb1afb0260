import Crypto
package import SyncModel

/// A one-time invitation in words that travel by hand: who invites, where, until when, and a secret.
package struct Ticket: Sendable, Equatable {
    package static let version: UInt8 = 1
    package static let secretByteCount = 16
    package static let addressLimit = 16

    /// The device that must answer; the joiner pins its key.
    package let inviter: DeviceID
    /// 16 random bytes. Whoever has them may join once.
    package let secret: [UInt8]
    package let expiresAtMilliseconds: Int64
    package let addresses: [HostPort]

    /// Addresses with a scope, and all beyond 16, are left out.
    package init(inviter: DeviceID, secret: [UInt8], expiresAtMilliseconds: Int64, addresses: [HostPort]) {
        precondition(secret.count == Self.secretByteCount, "a ticket's secret has 16 bytes")
        self.inviter = inviter
        self.secret = secret
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.addresses = Array(addresses.filter { !$0.hasScope }.prefix(Self.addressLimit))
    }

    package var id: TicketID { TicketID(secret: secret) }
}

/// Names a ticket without its secret: the first 16 bytes of SHA-256("lanyard/ticket/v1" ‖ secret).
package struct TicketID: Hashable, Sendable {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(secret: [UInt8]) {
        bytes = Array(SHA256.hash(data: Array("lanyard/ticket/v1".utf8) + secret).prefix(Self.byteCount))
    }

    /// Nil unless `bytes` are exactly 16.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }
}
