/// The protocol versions and features of this agent.
package enum SessionProtocol {
    package static let versions: ClosedRange<UInt32> = 1...1
    /// Feature bits this side understands.
    package static let features: UInt64 = acknowledgements | packedChanges | bulk | state | presence | roles
    /// Acknowledgements: their digest in `Have`, `Acknowledgements` and `AcknowledgementRequest`.
    package static let acknowledgements: UInt64 = 1 << 0
    /// Segments packed in `Changes`, by exactly the rules of `PackedChanges`: what else may be told by a letter typed before
    /// needs another bit.
    package static let packedChanges: UInt64 = 1 << 1
    /// A bulk connection beside the session, and `bulkWanted` to ask for one. Bit 2 meant one on which blobs are named by
    /// their hashes alone: it is not used again.
    package static let bulk: UInt64 = 1 << 4
    /// State in place of changes: frames 14 to 18, and `first_held` of `Changes`.
    package static let state: UInt64 = 1 << 3
    /// Presence: frame 19.
    package static let presence: UInt64 = 1 << 5
    /// Statements on roles: operation 16, `statements` of `Hello` and `Goodbye`, and states of spaces that have such statements.
    package static let roles: UInt64 = 1 << 6
    /// Feature bits a peer must understand.
    package static let featuresRequired: UInt64 = 0
}
