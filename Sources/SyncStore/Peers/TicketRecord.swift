package import SyncModel

/// An invitation we gave out. The secret itself is kept: proofs are made with it.
package struct TicketRecord: Sendable, Hashable {
    package let secret: [UInt8]
    package let expiresMilliseconds: Int64
    /// The role that the joining device gets.
    package let role: MemberFact.Role
    package let usedBy: DeviceID?

    package init(
        secret: [UInt8], expiresMilliseconds: Int64, role: MemberFact.Role = .writer, usedBy: DeviceID?
    ) {
        self.secret = secret
        self.expiresMilliseconds = expiresMilliseconds
        self.role = role
        self.usedBy = usedBy
    }
}
