import NIOCore
import SyncTransport
import Testing

/// Recorded bytes of a session, sent again by a relay.
@Suite struct ReplayTests {
    /// A session through a relay, on which the member has sent a first frame and one of these bytes.
    private struct Recorded {
        static let frame: [UInt8] = [7, 7, 7]
        let server: Node
        let member: Node
        let address: HostPort
        let relay: RecordingRelay
        let inbound: UInt64

        init() async throws {
            (server, member) = (try await Node(), try await Node())
            try await server.trust(member)
            try await member.trust(server)
            address = try await server.listen()
            relay = try await RecordingRelay(to: address)
            let outbound = try await member.dial(relay.address)
            inbound = try await server.opened(.inbound)
            try await server.received(Node.hello)
            try await member.received(Node.hello)
            try await member.on { $0.send(outbound, Self.frame) }
            try await server.received(Self.frame)
        }

        /// The frames that the server took, and the connections that it opened.
        var taken: (frames: [[UInt8]], connections: Int) {
            var (frames, connections): ([[UInt8]], Int) = ([], 0)
            for event in server.events.all {
                switch event {
                case .received(_, let payload): frames.append(payload)
                case .opened: connections += 1
                case .written, .closed, .dialFailed, .turnedAway: break
                }
            }
            return (frames, connections)
        }
    }

    @Test func `the bytes of a whole session open no second one`() async throws {
        let session = try await Recorded()
        let again = try await RawPeer(session.address)
        // The server may close before the last of them.
        for piece in session.relay.recorded.all { try? await again.send(piece) }
        try await session.server.expectTurnedAway(.tlsFailed)
        try await again.closed()
        #expect(session.taken.frames == [Node.hello, Recorded.frame] && session.taken.connections == 1)
        try await session.relay.close()
    }

    @Test func `a frame that is sent again within its session ends that, and is taken once`() async throws {
        let session = try await Recorded()
        try await session.relay.repeatLast()
        _ = try await session.server.ended(session.inbound)
        #expect(session.taken.frames == [Node.hello, Recorded.frame])
        try await session.relay.close()
    }
}
