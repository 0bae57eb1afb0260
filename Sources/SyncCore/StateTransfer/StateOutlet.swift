import SyncModel

/// A state that is being handed to a peer: one a session. It is read in steps, each when the one before has left.
struct StateOutlet: Sendable {
    let id: StateID
    let connection: ConnectionID
    /// The peer's number of it.
    let requestID: UInt64
    var creditBytes: Int
    /// The store has it open.
    var isOpen = false
    var isReading = false
    /// The bytes that were read and not sent.
    var pending: [UInt8] = []
    /// The announcements to ask the peer about once `pending` is sent.
    var question: [StateAnnouncement] = []
    /// The number of announcements the peer was asked about and has not answered.
    var asked: Int?
    /// The peer's answer, for the next read.
    var answer: [Bool] = []
    var isLastRead = false
    /// The time at which the peer last made progress.
    var progressAt: Tick

    init(id: StateID, connection: ConnectionID, requestID: UInt64, creditBytes: Int, at now: Tick) {
        self.id = id
        self.connection = connection
        self.requestID = requestID
        self.creditBytes = creditBytes
        progressAt = now
    }
}
