import SyncModel

/// A breach of the protocol by a peer: the reason to end its session, as a machine of a space hands it back.
struct ProtocolOffence: Sendable {
    let reason: CloseReason
    /// The frame or the part of it, for the report.
    let detail: String

    init(_ reason: CloseReason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }
}
