import SyncModel

/// The connections with other devices: which one to dial, sessions and their liveness, two holders of one key.
///
/// Knows no space: spaces say which devices are members, and hear of sessions that began and ended.
struct PeerNetwork: Sendable {
    let settings: CoreSettings
    /// The name of this device, which each `Hello` says.
    var name: String
    /// Chance for nonces and for the jitter of back-off.
    var random: SplitMix64
    /// The sessions, in the order they opened.
    var sessions: [PeerSession] = []
    var sessionNumber: UInt64 = 0
    /// The connections whose sessions ended since the spaces were last told.
    private var ended: [ConnectionID] = []

    var twins = TwinKeeping()
    var book = DialBook()
    /// This agent's mDNS instance, and the port where it listens; empty and 0 before both are known.
    var instance = ""
    var listenPort: UInt16 = 0

    /// The members of the spaces, sorted by device.
    private(set) var members: [NetworkMember] = []
    /// The name that each member gave itself last, since the start. A session that ends leaves it.
    var heardNames: [DeviceID: String] = [:]
    /// The recovery key's statements, for the beginning of each session.
    private(set) var statements: [PlacedStatement] = []
    /// Statements that peers sent since the space last took them.
    private var received: [(device: DeviceID, statement: PlacedStatement)] = []
    /// The devices that this node refuses, sorted.
    var blocked: [DeviceID]
    /// The devices that are still to be told that this one deleted what it held.
    var addressees: Set<DeviceID>
    /// Devices with a session on which both know bulk connections, as the shell was told.
    var bulkPeers: [BulkPeering] = []

    init(settings: CoreSettings, blocked: [DeviceID]) {
        self.settings = settings
        name = settings.configuration.name
        self.blocked = blocked.sorted()
        addressees = settings.configuration.receiptAddressees
        random = SplitMix64(seed: settings.configuration.seed)
    }

    func sessionIndex(_ id: ConnectionID) -> Int? { sessions.firstIndex { $0.id == id } }

    func session(_ id: ConnectionID) -> PeerSession? { sessions.first { $0.id == id } }

    var upSessions: [Int] { sessions.indices.filter { sessions[$0].state == .up } }

    /// The connections with a session that is up, in the order they opened.
    var upConnections: [ConnectionID] { upSessions.map { sessions[$0].id } }

    /// The bytes that the transport holds for the peer that has the most.
    var greatestBufferedBytes: Int { sessions.map(\.bufferedBytes).max() ?? 0 }

    /// The number of addresses that may be dialled.
    var targetCount: Int { book.targets.count }

    /// Every connection that has not closed, in the order they opened.
    var connections: [ConnectionID] { sessions.map(\.id) }

    func isUp(_ id: ConnectionID) -> Bool { session(id)?.state == .up }

    /// True if no session is up or on its way there.
    var isAlone: Bool { sessions.allSatisfy { $0.state == .closing } }

    mutating func send(_ index: Int, _ frame: Frame, _ output: inout StepOutput) {
        output.emit(.send(sessions[index].id, frame))
    }

    // MARK: What spaces are told

    mutating func recordEnded(_ id: ConnectionID) { ended.append(id) }

    /// Returns the connections whose sessions ended since the last call.
    mutating func takeEnded() -> [ConnectionID] {
        guard !ended.isEmpty else { return [] }
        defer { ended = [] }
        return ended
    }

    // MARK: What spaces say

    /// Takes the members of the spaces, without telling the shell.
    mutating func update(members: [NetworkMember], statements: [PlacedStatement]) {
        self.members = members
        self.statements = statements
    }

    mutating func recordReceived(_ statements: [PlacedStatement], from device: DeviceID) {
        received += statements.map { (device, $0) }
    }

    /// Returns the statements that peers sent since the last call.
    mutating func takeReceived() -> [(device: DeviceID, statement: PlacedStatement)] {
        guard !received.isEmpty else { return [] }
        defer { received = [] }
        return received
    }

    func member(_ device: DeviceID) -> NetworkMember? {
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            if members[middle].device < device { low = middle + 1 } else { high = middle }
        }
        return low < members.count && members[low].device == device ? members[low] : nil
    }

    func bufferedBytes(_ id: ConnectionID) -> Int { session(id)?.bufferedBytes ?? 0 }

    mutating func addBuffered(_ bytes: Int, to id: ConnectionID) {
        guard bytes > 0, let index = sessionIndex(id) else { return }
        sessions[index].bufferedBytes += bytes
    }
}

/// A member of a space, as far as the network needs to know it.
struct NetworkMember: Sendable, Equatable {
    let device: DeviceID
    let signingKey: [UInt8]
    /// True if the space refuses the device.
    let isBarred: Bool
    /// The statements that say why, for the device itself.
    let reasons: [PlacedStatement]
}
