package import SyncModel

/// A connection of the transport. The core numbers those it dials (odd), the shell those it accepts (even).
package struct ConnectionID: Hashable, Sendable, Comparable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// True if this side dialled.
    package var isOutbound: Bool { rawValue & 1 == 1 }

    package static func < (left: ConnectionID, right: ConnectionID) -> Bool { left.rawValue < right.rawValue }
}

/// An address to dial. `host` is an address (with `%scope` for link-local ones) or a host name.
package struct Endpoint: Hashable, Sendable, Comparable {
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    package static func < (left: Endpoint, right: Endpoint) -> Bool {
        left.host == right.host ? left.port < right.port : left.host < right.host
    }
}

/// The outcome of one durable transaction of the store.
package struct StoreChange: Sendable, Equatable {
    /// The segments, in the order applied.
    package var segments: [VerifiedSegment]
    package var stateDigest: Sum256
    package var additions: [Membership.Addition]
    /// All cuts, if this transaction moved one; otherwise nil.
    package var cuts: CutTable?
    package var ignoredRevocations: [IgnoredRevocation]
    /// True if objects may be wrong here until a member has sent their state: cuts moved, and a part of their history came as
    /// state.
    package var isIncomplete: Bool

    package init(
        segments: [VerifiedSegment], stateDigest: Sum256, additions: [Membership.Addition], cuts: CutTable? = nil,
        ignoredRevocations: [IgnoredRevocation] = [], isIncomplete: Bool = false
    ) {
        self.cuts = cuts
        self.ignoredRevocations = ignoredRevocations
        self.isIncomplete = isIncomplete
        self.segments = segments
        self.stateDigest = stateDigest
        self.additions = additions
    }
}

/// Everything that can happen to an agent, in the past tense.
package enum Input: Sendable, Equatable {
    /// A local write is durable and sealed.
    case appended(StoreChange)
    /// The answer to `Effect.seal`: what was open, if anything was, may be served now.
    case sealed(StoreChange)
    /// The other answer: what is open stays so, and is not served.
    case sealFailed(code: String)
    /// The answer to `Effect.persist`.
    case persisted(PersistID, StoreChange)
    case persistFailed(PersistID, code: String)
    /// The answer to `Effect.read`; empty when the store had nothing there or could not read.
    case segmentsRead(ReadID, [Segment])

    /// The answer to `Effect.readHeads`, in its order; nil where no change ends. Empty when the store could not read.
    case headsRead(ReadID, [ChainHead?])
    /// Our own acknowledgement is signed and durable. The ends of our histories in it are the store's, and may lie beyond those
    /// that the core knows.
    case acknowledged(SignedAcknowledgement)
    case acknowledgeFailed(code: String)
    /// A step of collection is durable; the next begins behind this dot, nil when the pass is over.
    case collected(next: Dot?, hasForgotten: Bool)
    case collectFailed(code: String)
    /// A step of compaction is durable; changes are held from here on.
    case compacted(firstHeld: VersionVector, isLast: Bool)
    case compactFailed(code: String)
    /// A user asks for a pass of compaction now.
    case compactionAsked
    /// A step of letting events go is over.
    case droppedEvents(hasMore: Bool)
    /// A step of writing again is durable; the change itself came as `appended`.
    case rewritten(hasMore: Bool)
    case rewriteFailed(code: String)
    case takenBack(TakingBackResult)
    /// A step of redoing reverted work is durable. The changes themselves came as `appended`. `isWaiting`: the next of them
    /// would count nowhere before a member admits this device.
    case redone(hasMore: Bool, isWaiting: Bool)
    case redoFailed(code: String)

    case state(StateInput)

    /// A member's record appeared or changed; records of strangers never get here.
    case recordAppeared(instance: String, [Endpoint])
    case recordVanished(instance: String)
    /// An interface came up, or the machine woke: everything is worth a try at once.
    case networkChanged
    /// An address a person gave, or one where `device` was met (nil: not known yet).
    case addressAdded(Endpoint, device: DeviceID?, isStatic: Bool)
    case addressRemoved(Endpoint)
    /// A person decided, and it is durable: these are all devices that this node has nothing to do with.
    case blocked([DeviceID])
    /// The port where this agent listens, and its mDNS instance (empty without one).
    case announced(instance: String, listenPort: UInt16)

    case dialFailed(ConnectionID, code: String)
    /// TLS is done and the device's key checked against `Effect.trust`.
    case opened(ConnectionID, DeviceID, remote: Endpoint)
    case received(ConnectionID, Frame, bytes: Int)
    /// Bytes that are no frame.
    case malformed(ConnectionID, code: String)
    /// Bytes of `Effect.send` that left our buffers.
    case written(ConnectionID, bytes: Int)
    case closed(ConnectionID, code: String)
    /// The presence of this device changed, or is to live on: signed, newer than the one before, and within its bounds.
    case presenceChanged(SignedPresence)
    /// Bytes are to be moved, and the device dials the bulk connection (`BulkEffect.askForBulk`).
    case askForBulk(DeviceID)
    /// The way to a device is to be measured: by a ping, and by its word of all that is on its disk.
    case pingAsked(DeviceID)
    /// This device has another name from now on: 1 to `Limits.deviceNameBytes`, a text.
    case renamed(String)
    /// The time of `nextDeadline` has come.
    case deadlinePassed
}

package struct PersistID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

package struct ReadID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}
