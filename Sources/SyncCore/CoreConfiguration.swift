package import SyncModel

/// The settings of an agent's core, given once, at its start.
package struct CoreConfiguration: Sendable, Equatable {
    package var own: DeviceID
    /// The name at the start; `Input.renamed` gives another.
    package var name: String
    package var agentVersion: String
    /// A random number, one per start of the agent.
    package var runID: UInt64
    /// Seeds every random choice: jitter, and which peers beyond the limit are kept.
    package var seed: UInt64
    package var timing = Timing()
    package var bounds = Bounds()
    /// Forgets deletions that are stable. Off in agents until a peer that holds less than our floor is sent state instead of
    /// changes: a disk put back to before a deletion that it had acknowledged would bring the object back, there alone.
    package var collectsDeletions = false
    /// Drops changes that every member has; off where the store cannot.
    package var compacts = false
    /// Drops events that the retention of their streams does not keep.
    package var dropsEvents = false
    /// Takes and hands over state in place of changes; off where the store cannot.
    package var exchangesState = true
    /// The feature bits that this side announces. Fewer than `SessionProtocol.features` make it an agent of an earlier version,
    /// as the simulator and tests have them.
    package var features = SessionProtocol.features
    /// The feature bits that a peer must announce, or there is no session with it.
    package var featuresRequired = SessionProtocol.featuresRequired
    /// The receipt of a device that deleted what it held; nil for any other.
    package var wipeReceipt: WipeReceipt?
    /// The members of then, which are told: a session with one of them is only for that.
    package var receiptAddressees: Set<DeviceID> = []
    /// The time from which on they are told no more.
    package var receiptEnds = Tick(nanoseconds: .max)
    /// Planted bugs; none in an agent that people use.
    package var faults: CoreFaults = []

    package init(own: DeviceID, name: String, agentVersion: String, runID: UInt64, seed: UInt64) {
        self.own = own
        self.name = name
        self.agentVersion = agentVersion
        self.runID = runID
        self.seed = seed
    }

    /// The spans after which the core acts by itself.
    package struct Timing: Sendable, Equatable {
        package var helloDeadline = Tick.Span.seconds(5)
        /// Silence after which the side that dialled pings. The other side waits a second longer, so that one ping and
        /// its answer serve both.
        package var pingAfter = Tick.Span.seconds(10)
        package var deadAfter = Tick.Span.seconds(15)
        /// The time between the first few pings of a session.
        package var sampleEvery = Tick.Span.seconds(1)
        /// The time our message may wait for an answer before a second connection is tried.
        package var suspectAfter = Tick.Span.seconds(1)
        package var wantProgress = Tick.Span.seconds(2)
        /// The time a peer has for `leastBytesPerPace` of what was asked of it while another peer could send that.
        package var wantPace = Tick.Span.seconds(10)
        /// A peer that kept changes of an author back is asked last for so long. A short trouble must not make it the last for ever.
        package var lateFor = Tick.Span.seconds(60)
        package var emptyAnswerPause = Tick.Span.milliseconds(500)
        package var haveDebounce = Tick.Span.milliseconds(20)
        package var haveMaximumWait = Tick.Span.milliseconds(100)
        /// A member met within `recent` is dialled this often.
        package var recentRedial = Tick.Span.seconds(1)
        package var recent = Tick.Span.seconds(3600)
        /// A peer that refuses this device is dialled this often: it has a session with another holder of our key, or has revoked it.
        package var refusedRedial = Tick.Span.seconds(10)
        /// The time without acknowledgements after a peer claimed, without proof, that our key is used twice.
        package var twinDoubt = Tick.Span.seconds(60)
        /// The time between two such doubts by the claim of one peer.
        package var twinDoubtEvery = Tick.Span.seconds(3_600)
        package var backoffLeast = Tick.Span.milliseconds(250)
        package var backoffGreatest = Tick.Span.seconds(30)
        package var storeRetry = Tick.Span.seconds(2)
        /// The time from the first change that our acknowledgement does not cover to the next acknowledgement.
        package var acknowledgeAfter = Tick.Span.seconds(30)
        /// The time between two acknowledgements of ours, and between two rows of one member on one session.
        package var acknowledgeEvery = Tick.Span.seconds(60)
        /// The time between two acknowledgements that are taken of one other member, once it has used up its burst.
        package var acknowledgementEvery = Tick.Span.milliseconds(100)
        /// The time between two acknowledgements of which the second is the first to cover a cut.
        package var acknowledgeCutEvery = Tick.Span.milliseconds(500)
        /// A state of which nothing comes for this long is asked of another peer: its sender may have much to skip.
        package var stateProgress = Tick.Span.seconds(10)
        /// The time until a peer that ended a state early, or let it starve, is asked again.
        package var statePause = Tick.Span.seconds(5)
        /// The time until a peer whose state knows another history of some replica is asked for state again.
        package var stateForkPause = Tick.Span.seconds(60)
        /// A question for a signature of which no byte of an answer comes for this long is dropped.
        package var proofWait = Tick.Span.seconds(10)
        /// The time reverted work waits for peers before it is done again.
        package var redoAfter = Tick.Span.seconds(10)
        /// The time a peer has on a session to revert a history that gave way, before two histories are reported.
        package var revertWait = Tick.Span.seconds(60)
        /// The additional wait while the history that stays is not whole here.
        package var redoAwaiting = Tick.Span.seconds(600)
        /// The time that wants of a peer that was offered state wait for its request.
        package var stateOfferWait = Tick.Span.seconds(1)
        /// A state of which the receiver takes nothing for this long is closed.
        package var stateIdle = Tick.Span.seconds(60)
        /// The time between two steps of collection.
        package var collectionPause = Tick.Span.milliseconds(50)
        /// The time from the start to the first pass of compaction, and from one pass to the next.
        package var compactAfter = Tick.Span.seconds(600)
        package var compactEvery = Tick.Span.seconds(3600)
        /// The time between two looks for events that may go.
        package var dropEventsEvery = Tick.Span.seconds(60)
        /// The time for which work that is written again in steps is handed out only as a whole.
        package var rewritingHold = Tick.Span.seconds(30)
        /// The time from admitting a device again to the next try, if nothing came of it.
        package var readmitEvery = Tick.Span.seconds(10)
        /// The time for which the histories of a retired device wait for what it rewrites of them.
        package var rewritingWait = Tick.Span.seconds(5)
        /// The same for histories that another member passes on.
        package var passedOnWait = Tick.Span.milliseconds(500)
        /// The time between two histories that another device begins, once it has used up its burst.
        package var newReplicaEvery = Tick.Span.milliseconds(125)
        /// The time between two devices that another device admits, once it has used up its burst.
        package var admissionEvery = Tick.Span.seconds(10)
        /// The time for which presence is shown after it was taken.
        package var presenceLifetime = Tick.Span.seconds(15)
        /// The time between two presence records that are taken of one other member, once it has used up its burst. An agent
        /// makes at most 40 a second, so none of its own is beyond the rate.
        package var presenceEvery = Tick.Span.milliseconds(20)
        /// The time between two signatures under presence that are checked for one peer, once it has used up its burst.
        package var presenceEveryPerPeer = Tick.Span.milliseconds(2)
        /// The time until histories that were not taken in are looked at again.
        package var newReplicaLook = Tick.Span.seconds(1)

        package init() {}
    }

    /// Every queue of the core has a bound, in bytes or entries.
    package struct Bounds: Sendable, Equatable {
        package var waitingRoomBytes = 16 << 20
        package var wantWindowBytes = 4 << 20
        /// The least bytes in `wantPace`: 6 KiB a second; a window, where that is less.
        package var leastBytesPerPace = 60 << 10
        package var inFlightBytesPerPeer = 8 << 20
        /// Bytes handed to the transport and not yet written, above which nothing more is read for a peer.
        package var outboundBufferBytes = 1 << 20
        package var persistBatchBytes = 1 << 20
        package var servedReadBytes = 256 << 10
        package var connections = 16
        package var dialTargets = 512
        package var wantsPerSession = 16
        /// The bytes of a state on its way or not yet staged, and the bytes of it that may stand before a live change in the
        /// transport.
        package var stateWindowBytes = 512 << 10
        /// States handed out at once; each keeps a transaction open, and the write-ahead log what came behind it.
        package var statesServed = 4
        /// State is weighed against changes for a peer that lacks so many operations, and offered if the changes take so many
        /// bytes, and so many times those of the state: below that changes are as good, and each peer has them.
        package var stateOfferOperations: UInt64 = 4_096
        package var stateOfferBytes: UInt64 = 1 << 20
        package var stateOfferFactor: UInt64 = 4
        /// Histories of one other device that may begin here at once; more begin one after the other.
        package var newReplicasAtOnce = 1_024
        /// Histories of one other device that are taken in without another device's work building on them: two a day for ten
        /// years.
        package var replicasPerDevice = 8_192
        /// Devices that one other device may admit at once.
        package var admissionsAtOnce = 256
        /// Acknowledgements of one other member that are taken at once.
        package var acknowledgementsAtOnce = 64
        /// Presence records of one other member that are taken at once, and those of any member from one peer.
        package var presencesAtOnce = 100
        package var presencesAtOncePerPeer = 1_000
        /// Other members of which a presence record is kept.
        package var presencesKept = 512
        /// Bytes handed to the transport and not yet written, above which a peer is sent no presence; bytes of presence in
        /// one frame, but for the last record.
        package var presenceBufferBytes = 128 << 10
        package var presenceFrameBytes = 64 << 10
        /// Replicas that waiting changes build on, looked at in one step.
        package var missingPerStep = 256
        /// The objects of one transaction: some milliseconds.
        package var collectionStepObjects = 128
        /// The changes rewritten in one transaction.
        package var rewritingStepChanges = 256

        package init() {}
    }
}

/// Planted bugs: each is a switch in the code that ships, so that a checker that misses it is known to be blind.
package struct CoreFaults: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Received changes are pushed on before they are durable here.
    package static let sendBeforeCommit = CoreFaults(rawValue: 1 << 0)
    /// A vector entry says one operation more than is held.
    package static let offByOneVector = CoreFaults(rawValue: 1 << 1)
    /// Changes are applied without waiting for their context.
    package static let skipWaitingRoom = CoreFaults(rawValue: 1 << 2)
    /// Announcements after the first are not sent.
    package static let dropHave = CoreFaults(rawValue: 1 << 3)
    /// Silence never ends a session.
    package static let countDeadSessionAsAlive = CoreFaults(rawValue: 1 << 4)
    /// Changes are applied though no signature covers them.
    package static let applyBeyondSignature = CoreFaults(rawValue: 1 << 5)
    /// Changes that only wait in memory are announced as held.
    package static let acknowledgeWaitingRoom = CoreFaults(rawValue: 1 << 6)
    /// A want whose peer went away is never asked for again.
    package static let forgetLostWant = CoreFaults(rawValue: 1 << 7)
    /// Everything held here counts as stable, whatever the others have acknowledged.
    package static let collectBeforeStability = CoreFaults(rawValue: 1 << 8)
    /// Bytes handed to the transport are counted as before packing; written bytes, as sent.
    package static let countUnpackedBuffers = CoreFaults(rawValue: 1 << 9)
    /// A cut device is not waited for from the moment of the cut on, whichever members have heard of it.
    package static let releaseBeforeAcknowledged = CoreFaults(rawValue: 1 << 10)
    /// Changes that a device wrote while it was cut are not written again.
    package static let forgetVoidWork = CoreFaults(rawValue: 1 << 11)
    /// A cut is settled by its author's word alone.
    package static let settleAlone = CoreFaults(rawValue: 1 << 12)
    /// Events that are held here may go, whatever the others have acknowledged.
    package static let dropUnstableEvents = CoreFaults(rawValue: 1 << 13)
    /// A blocked device is served and dialled like any other.
    package static let serveBlocked = CoreFaults(rawValue: 1 << 14)
    /// A member that has said nothing counts as in step.
    package static let takeSilenceForInStep = CoreFaults(rawValue: 1 << 15)
    /// A claimed head that contradicts ours counts as another history without its author's signature.
    package static let believeClaimedHeads = CoreFaults(rawValue: 1 << 16)
    /// A goodbye that says that our key is used twice counts without a signature of the other run.
    package static let believeGoodbye = CoreFaults(rawValue: 1 << 17)
    /// A retired device's work is taken in before the device has written it again.
    package static let tearReturningWork = CoreFaults(rawValue: 1 << 18)
    /// The return of a retired device is acknowledged only at the regular time.
    package static let acknowledgeReturnsLater = CoreFaults(rawValue: 1 << 19)
    /// Frames are sent by what this side announces, whatever the peer does.
    package static let sendUnagreedFrames = CoreFaults(rawValue: 1 << 20)
    /// Statements of the recovery key are passed over where they come apart from their histories.
    package static let ignoreStatements = CoreFaults(rawValue: 1 << 21)
    /// The shell is told that a device may connect that the space refuses.
    package static let serveBarred = CoreFaults(rawValue: 1 << 22)
    /// A node does not say that it cannot undo what became void.
    package static let hideIncomplete = CoreFaults(rawValue: 1 << 23)
    /// An author does not ask for its own work that gave way here, and stays where others never held the history it was built on.
    package static let leaveGivenWay = CoreFaults(rawValue: 1 << 24)
}
