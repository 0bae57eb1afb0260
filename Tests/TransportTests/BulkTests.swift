import NIOCore
import SyncModel
import SyncTransport
import Testing

/// The second protocol of the port: the bytes of attachments, beside sessions.
@Suite struct BulkTests {
    private static let chunkBytes = 256 << 10

    /// Two devices that trust each other, with a bulk connection up on both sides.
    private func pair(
        _ limits: TransportLimits = .patient
    ) async throws -> (server: Node, client: Node, address: HostPort, inbound: UInt64, outbound: UInt64) {
        let (server, client) = (try await Node(limits: limits), try await Node(limits: limits))
        try await server.trust(client)
        try await client.trust(server)
        let address = try await server.listen()
        let outbound = try await client.dial(address, .bulk)
        let inbound = try await server.opened(.inbound, .bulk)
        try await server.received(Node.hello)
        try await client.received(Node.hello)
        return (server, client, address, inbound, outbound)
    }

    private func frames(_ count: Int) -> [[UInt8]] {
        (0..<count).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0 + 1), count: Self.chunkBytes + 12) }
    }

    /// What a node read from a connection, the greeting left out.
    private func payloads(_ node: Node, _ connection: UInt64) -> [[UInt8]] {
        node.events.all.compactMap { event in
            if case .received(connection, let payload) = event, payload != Node.hello { payload } else { nil }
        }
    }

    @Test func `a session and a bulk connection stand side by side, each known for what it is`() async throws {
        let (server, client, address, inboundBulk, outboundBulk) = try await pair()
        let outbound = try await client.dial(address, .session)
        let inbound = try await server.opened(.inbound, .session)
        #expect(try await client.opened(.outbound, .bulk) == outboundBulk)
        #expect(try await client.opened(.outbound, .session) == outbound)
        #expect(inbound != inboundBulk)
        try await client.on { transport in
            transport.send(outbound, [1])
            transport.send(outboundBulk, [2])
        }
        try await server.received([1])
        try await server.received([2])
        #expect(payloads(server, inbound) == [[1]])
        #expect(payloads(server, inboundBulk) == [[2]])
    }

    @Test func `chunks and small frames of one turn arrive in order, and are reported to the byte`() async throws {
        let (server, client, _, inbound, outbound) = try await pair()
        let sent = [[7]] + frames(3) + [[8], [9]] + frames(1)
        try await client.on { transport in for frame in sent { transport.send(outbound, frame) } }
        try await server.events.first("all frames") { [self] _ in payloads(server, inbound) == sent ? () : nil }
        let total = Node.hello.count + sent.reduce(0) { $0 + $1.count }
        let counts = try await client.events.first("all bytes written") { events in
            let counts = events.compactMap { if case .written(outbound, let count) = $0 { count } else { nil } }
            return counts.reduce(0, +) == total ? counts : nil
        }
        // A chunk counts when it is gone, not when all that was sent with it is.
        #expect(counts.count { $0 >= Self.chunkBytes } >= 4)
        #expect(!counts.contains(0))
    }

    @Test func `a peer that stops reading holds the sender back, and goes on where it stopped`() async throws {
        let (server, client, address, inbound, outbound) = try await pair()
        try await client.dial(address, .session)
        let session = try await server.opened(.inbound, .session)
        try await server.on { $0.setReading(inbound, false) }
        // 14 MiB: less than what may wait here, more than two sockets hold.
        let sent = frames(56)
        try await client.on { transport in for frame in sent { transport.send(outbound, frame) } }
        // Sessions go on beside it.
        try await server.on { $0.send(session, [1, 2, 3]) }
        try await client.received([1, 2, 3])
        let waiting = try await client.on { $0.state(of: outbound)?.bufferedByteCount ?? 0 }
        #expect(waiting > 0)
        #expect(payloads(server, inbound).isEmpty)
        try await server.on { $0.setReading(inbound, true) }
        try await server.events.first("all frames") { [self] _ in payloads(server, inbound).count == 56 ? () : nil }
        #expect(payloads(server, inbound) == sent)
    }

    @Test func `a stranger's key is refused on bulk as on a session`() async throws {
        let (server, stranger) = (try await Node(), try await Node())
        let address = try await server.listen()
        try await stranger.trust(server)
        let number = try await stranger.dial(address, .bulk)
        try await server.expectTurnedAway(.notPaired)
        #expect(try await stranger.ended(number) == .notPairedThere)
    }

    @Test func `a device that is removed loses its bulk connection, too`() async throws {
        let (server, client, _, inbound, outbound) = try await pair()
        try await server.trust()
        #expect(try await server.ended(inbound) == .notPaired)
        #expect(try await client.ended(outbound) == .closedByPeer)
    }

    @Test func `bulk connections count among those that one device may have`() async throws {
        let (server, client, address, _, _) = try await pair()
        for index in 2...8 {
            try await client.dial(address, index.isMultiple(of: 2) ? .session : .bulk)
            try await server.events.first("\(index) connections") { events in
                events.count { if case .opened = $0 { true } else { false } } == index ? () : nil
            }
        }
        let ninth = try await client.dial(address, .bulk)
        try await server.expectRefused(.tooManyFromDevice)
        #expect(try await client.ended(ninth) == .closedBeforeHello)
    }

    @Test func `before its first frame is accepted a bulk connection takes small frames only`() async throws {
        let server = try await Node(.ignores)
        let client = try await Node(.ignores)
        try await server.trust(client)
        try await client.trust(server)
        let outbound = try await client.dial(try await server.listen(), .bulk)
        let inbound = try await server.opened(.inbound, .bulk)
        try await client.on { [chunk = frames(1)[0]] in $0.send(outbound, chunk) }
        #expect(try await server.ended(inbound) == .oversizeFrame)
    }
}
