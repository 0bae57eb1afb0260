/// A line of the log of trust: one row of `lanyard devices log`.
public struct TrustEntry: Codable, Equatable, Sendable {
    /// The place of the line on this node. It grows in the order in which this node learned of the facts.
    public var position: Int64
    /// The time at which the fact was written, by its author's wall clock; null if unknown.
    public var at: Timestamp?
    /// The time since which this node knows the fact, by its own wall clock; null if an older program stored it.
    public var knownSince: Timestamp?
    /// The id of the device that wrote the fact.
    public var author: String
    /// The author's name; null if unknown.
    public var authorName: String?
    /// `admitted`, `returned` (admitted in spite of a retirement that the author knew of), `joined` (the author joined through
    /// the device), `retired`, `revoked`, `roleGiven`, `readmitted` (after a revocation), `recoveryKeyMade`; on this node only
    /// `blocked`, `unblocked`. Later versions may add some.
    public var action: String
    /// The id of the device that the fact is about.
    public var device: String
    /// Its name; null if unknown.
    public var deviceName: String?
    /// The role that the fact gives; null if it gives none.
    public var role: Role?
    /// True if the recovery key signed it, on the device of the author. Null from an agent of a version before.
    public var byRecoveryKey: Bool?
    /// True if the fact holds now, on this node.
    public var inEffect: Bool
    /// The reason why it does not hold: `waiting` (the author is no member here yet), `notBound` (the device did not sign its
    /// key), `ofItself`, `beyondEnd` (of the author's history), `retired`, `revoked`, `otherRole`, `returned`, `overruled` (the
    /// author was retired itself), `noEffect` (a revocation by a version that gave it none), `notAllowed` (the author was no
    /// admin, or the recovery key decided otherwise), `takenBack`, `undone`; null if it holds.
    public var reason: String?

    /// All fields.
    public init(
        position: Int64, at: Timestamp?, knownSince: Timestamp?, author: String, authorName: String?, action: String,
        device: String, deviceName: String?, role: Role?, byRecoveryKey: Bool? = false, inEffect: Bool,
        reason: String?
    ) {
        self.position = position
        self.at = at
        self.knownSince = knownSince
        self.author = author
        self.authorName = authorName
        self.action = action
        self.device = device
        self.deviceName = deviceName
        self.role = role
        self.byRecoveryKey = byRecoveryKey
        self.inEffect = inEffect
        self.reason = reason
    }
}
