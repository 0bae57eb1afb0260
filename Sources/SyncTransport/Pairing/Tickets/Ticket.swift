import Crypto
package import SyncModel

/// A one-time invitation in words that travel by hand: the inviter's key, a secret, until when, and where.
///
/// Its text has at most 80 characters (`Ticket.text`), so it holds what proves both sides and one address; the joiner also
/// dials the addresses that it found by mDNS or was given.
package struct Ticket: Sendable, Equatable {
    package static let version: UInt8 = 2
    package static let secretByteCount = 16
    /// The length of the prefix of the inviter's DeviceID in a ticket. Finding another key for it takes 2^128 attempts, as
    /// guessing the secret does.
    package static let inviterByteCount = 16

    /// The first 16 bytes of the DeviceID that must answer; the joiner pins it.
    package let inviter: [UInt8]
    /// 16 random bytes. Their holder may join once.
    package let secret: [UInt8]
    /// The time of expiry, in whole seconds.
    package let expiresAtMilliseconds: Int64
    /// The first IPv4 address of the inviter; nil where it has none.
    package let address: HostPort?

    /// Takes the first of `addresses` that is an IPv4 address; the time is rounded up to a whole second.
    package init(inviter: DeviceID, secret: [UInt8], expiresAtMilliseconds: Int64, addresses: [HostPort]) {
        let (seconds, rest) = expiresAtMilliseconds.quotientAndRemainder(dividingBy: 1_000)
        self.init(
            inviter: Array(inviter.bytes.prefix(Self.inviterByteCount)), secret: secret,
            expiresAtSeconds: UInt32(clamping: seconds + (rest > 0 ? 1 : 0)),
            address: addresses.first { $0.ipv4Bytes != nil })
    }

    init(inviter: [UInt8], secret: [UInt8], expiresAtSeconds: UInt32, address: HostPort?) {
        precondition(
            secret.count == Self.secretByteCount && inviter.count == Self.inviterByteCount,
            "a ticket's secret and key have 16 bytes each, not \(secret.count) and \(inviter.count)")
        self.inviter = inviter
        self.secret = secret
        expiresAtMilliseconds = Int64(expiresAtSeconds) * 1_000
        self.address = address
    }

    package var id: TicketID { TicketID(secret: secret) }

    /// Returns true if the device made this ticket.
    package func isMade(by device: DeviceID) -> Bool { device.bytes.starts(with: inviter) }
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
