/// A message of a session, as the core reads and writes it. PROTOCOL.md says which may be sent when.
///
/// Frames are plain values: equal frames have equal bytes. `FrameCodec` is the only way in and out, and it checks every
/// bound, so a frame that was decoded holds what its fields promise.
package enum Frame: Hashable, Sendable {
    case hello(Hello)
    case have(Have)
    case haveRequest(HaveRequest)
    case want(Want)
    case credit(Credit)
    case changes(Changes)
    case prune(Prune)
    case ping(Ping)
    case pong(Pong)
    case goodbye(Goodbye)
    case statements(Statements)
    case acknowledgements(Acknowledgements)
    case acknowledgementRequest(AcknowledgementRequest)
    /// "Open a bulk connection to me": from the side that accepted the session, which does not dial. Says nothing else.
    case bulkWanted
    /// "What I hold and you lack, take from me as state."
    case stateOffer(StateOffer)
    case stateRequest(StateRequest)
    case stateItems(StateItems)
    case stateQuestion(StateQuestion)
    case stateAnswer(StateAnswer)
    case presence(Presence)
}

extension Frame {
    /// "Your digest is not what your entries give: say them all."
    package struct HaveRequest: Hashable, Sendable {
        package var space: SpaceID

        package init(space: SpaceID) { self.space = space }
    }

    /// "Send me this part of that history." Answered by `Changes` with the same id, the final one marked `last`.
    package struct Want: Hashable, Sendable {
        /// The id of the want: not 0 (that is a push); unique per session and direction.
        package var id: UInt64
        package var space: SpaceID
        package var replica: ReplicaID
        /// `from ..< to`, where `from` is where a change begins; a `to` inside a segment asks for all of it.
        package var from: UInt64
        package var to: UInt64
        /// Bytes of segments that may be sent before the next `Credit`; at most `Limits.creditBytes`.
        package var creditBytes: UInt64

        package init(
            id: UInt64, space: SpaceID, replica: ReplicaID, from: UInt64, to: UInt64, creditBytes: UInt64
        ) {
            self.id = id
            self.space = space
            self.replica = replica
            self.from = from
            self.to = to
            self.creditBytes = creditBytes
        }
    }

    /// A grant of more bytes for a want, or for a state that was asked for; with `cancel`, no more may be sent.
    package struct Credit: Hashable, Sendable {
        package var wantID: UInt64
        /// The number of bytes granted; at most `Limits.creditBytes`.
        package var bytes: UInt64
        package var cancel: Bool

        package init(wantID: UInt64, bytes: UInt64, cancel: Bool) {
            self.wantID = wantID
            self.bytes = bytes
            self.cancel = cancel
        }
    }

    /// "You pushed what I held already: announce this replica's changes, do not push them."
    package struct Prune: Hashable, Sendable {
        package var space: SpaceID
        package var replica: ReplicaID

        package init(space: SpaceID, replica: ReplicaID) {
            self.space = space
            self.replica = replica
        }
    }

    package struct Ping: Hashable, Sendable {
        package var nonce: UInt64

        package init(nonce: UInt64) { self.nonce = nonce }
    }

    package struct Pong: Hashable, Sendable {
        package var nonce: UInt64

        package init(nonce: UInt64) { self.nonce = nonce }
    }

    /// Statements of the recovery key, each complete by itself.
    package struct Statements: Hashable, Sendable {
        package let space: SpaceID
        package let statements: [PlacedStatement]

        package init(space: SpaceID, statements: [PlacedStatement]) {
            self.space = space
            self.statements = statements
        }
    }

    /// The last frame of a session that ends on purpose.
    package struct Goodbye: Hashable, Sendable {
        /// Stable, `[a-z0-9_]`, 1 to 64 bytes; PROTOCOL.md "Codes".
        package var code: String
        /// The message for people, at most `Limits.messageBytes`.
        package var message: String
        /// Another run of the receiver's device, with `duplicate_identity`; 0 for none.
        package var otherRun: UInt64
        /// The signature of that run (`TwinStatement`), 64 bytes; empty while it has not signed.
        package var proof: [UInt8]
        /// With `revoked`: the revocation of the receiver's device, and what the recovery key said. See `PlacedStatement`.
        package var statements: [PlacedStatement]

        package init(
            code: String, message: String, otherRun: UInt64 = 0, proof: [UInt8] = [],
            statements: [PlacedStatement] = []
        ) {
            self.code = code
            self.message = message
            self.otherRun = otherRun
            self.proof = proof
            self.statements = statements
        }
    }
}
