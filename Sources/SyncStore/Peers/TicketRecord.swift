package import SyncModel

/// An invitation we gave out. The secret itself is kept: proofs are made with it.
package struct TicketRecord: Sendable, Hashable {
    package let secret: [UInt8]
    package let expiresMilliseconds: Int64
    package let usedBy: DeviceID?

    package init(secret: [UInt8], expiresMilliseconds: Int64, usedBy: DeviceID?) {
        self.secret = secret
        self.expiresMilliseconds = expiresMilliseconds
        self.usedBy = usedBy
    }
}
