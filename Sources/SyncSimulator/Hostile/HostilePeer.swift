import SyncCore
import SyncModel

/// The member that turned bad, with what it signed and what it says.
struct HostilePeer {
    /// Each is one thing that a paired device once ended a mesh with, or held it up.
    enum Act: CaseIterable {
        case invent, contradict, revoke, duplicate, flood, askForState, rewriteFacts, inviteInvented, write
    }

    struct Session {
        let node: Int
        let generation: Int
        let connection: ConnectionID
        /// The histories that it claims to hold.
        var said: TipTable
        /// The next complete `Have` of the node is answered with other heads.
        var contradicts = false
    }

    let device: SimulatedDevice
    var random: SplitMix64
    var sessions: [Session] = []
    var lastNumber: UInt64 = 0
    private var author: ChangeAuthor
    private(set) var written: [VerifiedSegment] = []
    private var lastIncarnation: UInt64 = 1_000
    private var floods = 0

    private static let floodLimit = 3
    private static let floodHistories = 40

    init?(seed: UInt64) {
        guard let device = SimulatedDevice.all.last else { return nil }
        self.device = device
        random = SplitMix64(seed: seed ^ 0x6261_646d_656d_6265)
        author = Self.author(of: device.id, 1)
    }

    private static func author(of device: DeviceID, _ incarnation: UInt64) -> ChangeAuthor {
        let replica = ReplicaID(device: device, incarnation: incarnation)
        return ChangeAuthor(
            space: .home, replica: replica, tip: .empty(space: .home, replica: replica), named: VersionVector())
    }

    /// The tips of its own histories.
    var own: TipTable {
        var tips = TipTable()
        for segment in written { tips.set(segment.segment.replica, segment.tip) }
        return tips
    }

    mutating func next() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: What it signs

    mutating func write(_ operations: [Operation], wallMilliseconds: Int64) -> [VerifiedSegment] {
        let segments = author.author(
            [operations], held: VersionVector(), greatestStamp: .zero, wallMilliseconds: wallMilliseconds,
            sign: device.sign)
        written += segments ?? []
        return segments ?? []
    }

    /// Histories of one change each; none once it did so often enough for a world to come to rest.
    mutating func flood(wallMilliseconds: Int64) -> [VerifiedSegment] {
        guard floods < Self.floodLimit else { return [] }
        floods += 1
        var segments: [VerifiedSegment] = []
        for _ in 0..<Self.floodHistories {
            lastIncarnation += 1
            var other = Self.author(of: device.id, lastIncarnation)
            segments +=
                other.author(
                    [[Self.event]], held: VersionVector(), greatestStamp: .zero, wallMilliseconds: wallMilliseconds,
                    sign: device.sign) ?? []
        }
        written += segments
        return segments
    }

    static var event: Operation {
        .appendEvent(.init(stream: "stream0", type: nil, payload: Array(#"{"by":"hostile"}"#.utf8)))
    }

    /// Returns facts that admit devices that do not exist.
    mutating func inventedMembers() -> [Operation] {
        (0..<10).map { _ in
            let number = random.next()
            let key = withUnsafeBytes(of: number.bigEndian) { Array($0) }
            return .addMember(
                MemberFact(
                    subjectPublicKeyInfo: key, signingKey: [UInt8](repeating: 1, count: 32), binding: key,
                    discoveryKey: [UInt8](repeating: 2, count: 32), role: .writer, name: "invented"))
        }
    }

    // MARK: What it says

    /// The whole of a table, as one `Have`.
    static func have(_ tips: TipTable) -> Frame {
        .have(
            Frame.Have(
                space: .home, vectorDigest: tips.digest,
                entries: tips.entries.map {
                    Frame.HaveEntry(replica: $0.replica, next: $0.tip.next, head: $0.tip.head)
                }, complete: true, stateDigest: .zero))
    }

    static func changes(_ replica: ReplicaID, _ segments: [Segment], wantID: UInt64, last: Bool) -> Frame {
        .changes(
            Frame.Changes(
                space: .home, replica: replica, wantID: wantID,
                segments: segments.map {
                    Frame.SegmentPart(start: $0.start, end: $0.end, bytes: $0.bytes, signature: $0.signature)
                }, last: last))
    }

    /// Answers a request for its own histories; for all others it sends nothing and says nothing.
    func answer(to want: Frame.Want) -> Frame? {
        guard want.replica.device == device.id else { return nil }
        let segments = written.map(\.segment).filter { $0.replica == want.replica && $0.end > want.from }
        let fitting = segments.compactMap { $0.start < want.from ? $0.suffix(from: want.from) : $0 }
        return Self.changes(want.replica, fitting, wantID: want.id, last: true)
    }

    /// Returns the tips that a node announced, about half of them with a head that no author signed.
    mutating func contradicting(_ have: Frame.Have) -> TipTable {
        var tips = own
        for entry in have.entries where entry.replica.device != device.id {
            let isWrong = Bool.random(using: &random)
            let head = isWrong ? ChainHead(space: .home, replica: entry.replica) : entry.head
            tips.set(entry.replica, ReplicaTip(next: entry.next, head: head, stamp: .zero))
        }
        return tips
    }
}
