package import SyncModel

/// An invitation we gave out. The secret itself is kept: proofs are made with it.
package struct TicketRecord: Sendable, Hashable {
    package let secret: [UInt8]
    package let expiresMilliseconds: Int64
    /// The role that the joining device gets.
    package let role: MemberFact.Role
    /// See `MemberFact.until`.
    package let until: UInt64?
    package let usedBy: DeviceID?

    package init(
        secret: [UInt8], expiresMilliseconds: Int64, role: MemberFact.Role = .writer, until: UInt64? = nil,
        usedBy: DeviceID?
    ) {
        self.secret = secret
        self.expiresMilliseconds = expiresMilliseconds
        self.role = role
        self.until = until
        self.usedBy = usedBy
    }
}
