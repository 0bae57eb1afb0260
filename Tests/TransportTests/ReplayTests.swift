import NIOCore
import SyncModel
import SyncTransport
import Testing

/// Recorded bytes of a session or of a pairing, sent again by a relay.
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
        try await Self.replay(session.relay, to: session.address, of: session.server)
        #expect(session.taken.frames == [Node.hello, Recorded.frame] && session.taken.connections == 1)
    }

    @Test func `the bytes of a whole pairing by codes show no second code`() async throws {
        let (hall, desk) = (try await CodesPeer("hall"), try await CodesPeer("desk"))
        let address = try await hall.open()
        let relay = try await RecordingRelay(to: address)
        let number = try await desk.dial(relay.address)
        _ = try await desk.link(with: hall.device)
        _ = try await hall.link(with: desk.device)
        try await desk.on { $1.send(number, .confirmed) }
        #expect(try await hall.messages(1) == [.confirmed])
        let reports = hall.reports.all
        try await Self.replay(relay, to: address, of: hall.node)
        #expect(hall.reports.all == reports && hall.offers.all.count == 1)
    }

    @Test func `the bytes of a whole join let no device in, though another ticket is open`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let ticket = try await inviter.invite()
        let relay = try await RecordingRelay(to: ticket.address!)
        let through = Ticket(
            inviter: inviter.node.device, secret: ticket.secret, expiresAtMilliseconds: ticket.expiresAtMilliseconds,
            addresses: [relay.address])
        _ = try await joiner.join(through)
        let open = try await inviter.invite()
        try await Self.replay(relay, to: open.address!, of: inviter.node)
        #expect(inviter.admitted.all.map(\.deviceID) == [joiner.node.device])
        _ = try await joiner.join(open)
    }

    /// Sends what a relay recorded on a new connection, which the node turns away.
    private static func replay(_ relay: RecordingRelay, to address: HostPort, of node: Node) async throws {
        try await relay.close()
        let again = try await RawPeer(address)
        // The node may close before the last of them.
        for piece in relay.recorded.all { try? await again.send(piece) }
        try await node.expectTurnedAway(.tlsFailed)
        try await again.closed()
    }

    @Test func `a frame that is sent again within its session ends that, and is taken once`() async throws {
        let session = try await Recorded()
        try await session.relay.repeatLast()
        _ = try await session.server.ended(session.inbound)
        #expect(session.taken.frames == [Node.hello, Recorded.frame])
        try await session.relay.close()
    }
}
