import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// A paired device that turned bad: it has keys of its own, speaks the protocol frame by frame, and keeps none of its rules.
///
/// It stands opposite a `Conversation`; every frame passes the codec on its way, as it would on a socket.
struct HostileMember {
    let number: Int
    let connection: ConnectionID
    private var nonce: UInt64 = 0

    /// Dials the core.
    init(_ number: Int, dialling talk: inout Conversation, features: UInt64 = SessionProtocol.features) {
        self.number = number
        connection = talk.accept(number, features: features)
    }

    func send(_ frame: Frame, to talk: inout Conversation) throws {
        let bytes = try FrameCodec.encode(frame)
        let decoded = try #require(try FrameCodec.decode(bytes))
        talk.hear(.received(connection, decoded, bytes: bytes.count))
    }

    /// Says that it holds these, in as many frames as that takes.
    func claim(_ replicas: [ReplicaID], next: UInt64 = 1, to talk: inout Conversation) throws {
        var tips = TipTable()
        for replica in replicas {
            tips.set(
                replica, ReplicaTip(next: next, head: ChainHead(space: .home, replica: replica), stamp: .zero))
        }
        var rest = replicas.sorted()[...]
        while true {
            let part = rest.prefix(Limits.haveEntries)
            rest = rest.dropFirst(part.count)
            let entries = part.map { replica in
                Frame.HaveEntry(replica: replica, next: next, head: ChainHead(space: .home, replica: replica))
            }
            let isLast = rest.isEmpty
            try send(
                .have(
                    Frame.Have(
                        space: .home, vectorDigest: tips.digest, entries: entries, complete: isLast,
                        stateDigest: .zero)), to: &talk)
            if isLast { return }
        }
    }

    mutating func ping(_ talk: inout Conversation) throws {
        nonce += 1
        try send(.ping(Frame.Ping(nonce: nonce)), to: &talk)
        #expect(talk.sent(connection).contains(.pong(Frame.Pong(nonce: nonce))))
    }

    /// Replicas that nobody ever wrote.
    static func invented(_ count: Int, of device: DeviceID) -> [ReplicaID] {
        (1...UInt64(count)).map { ReplicaID(device: device, incarnation: $0) }
    }
}
