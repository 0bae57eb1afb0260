import SyncModel

/// The one state that is being taken from a peer.
///
/// `beginning` → `streaming` → `reviewing` → `joining` → gone. From each but the last it may go at once: with the session, by a
/// stream that is cut short or forged, or when nothing comes any more. What is staged stays for the next one.
struct StateIntake: Sendable {
    enum Phase: Sendable, Equatable {
        /// The store says what to ask for.
        case beginning
        /// Items arrive.
        case streaming
        /// All items came: the facts and tips of the state are reviewed.
        case reviewing
        /// The state is fit to be joined, once nothing else is being written for a peer.
        case reviewed
        case joining
    }

    let id: StateID
    let connection: ConnectionID
    var phase = Phase.beginning
    /// The vector that the state leads to, as its sender claims; nil before that.
    var vector: VersionVector?
    var cutter = StateItemCutter()
    /// Whole items that the store does not have yet.
    var queued: [[UInt8]] = []
    var queuedBytes = 0
    /// The bytes that the store is writing.
    var stagingBytes = 0
    var isLookingUp = false
    /// The bytes granted to the sender and not used.
    var creditBytes = 0
    var progressAt: Tick
    /// The bytes that came since `since`: a byte now and then is no progress where another peer has the changes.
    var pace: (since: Tick, bytes: Int)
    /// The sender says that no more comes.
    var isOver = false

    init(id: StateID, connection: ConnectionID, at now: Tick) {
        self.id = id
        self.connection = connection
        progressAt = now
        pace = (now, 0)
    }

    var isWaitingForPeer: Bool {
        phase == .streaming && queued.isEmpty && stagingBytes == 0 && !isLookingUp
    }
}
