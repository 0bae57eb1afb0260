import NIOCore
import SyncModel
import SyncTransport
import Testing

@Suite struct SessionTests {
    /// Two devices that trust each other, with a session up on both sides.
    private func pair(
        _ limits: TransportLimits = .patient, host: String? = "127.0.0.1"
    ) async throws -> (server: Node, client: Node, inbound: UInt64, outbound: UInt64) {
        let (server, client) = (try await Node(limits: limits), try await Node(limits: limits))
        try await server.trust(client)
        try await client.trust(server)
        let bound = try await server.listenApart(host)
        let loopback = host ?? "127.0.0.1"
        let outbound = try await client.dial(HostPort(host: loopback, port: bound.port)!)
        let inbound = try await server.opened(.inbound)
        try await server.received(Node.hello)
        try await client.received(Node.hello)
        return (server, client, inbound, outbound)
    }

    @Test func `two devices that trust each other exchange frames of every size, in order`() async throws {
        let (server, client, inbound, outbound) = try await pair()
        let sizes = [1, 4_095, 4_096, 4_097, 65_536, 300_000, 1 << 20]
        let frames = sizes.map { size in (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) } }
        try await client.on { transport in for frame in frames { transport.send(outbound, frame) } }
        try await server.on { transport in for frame in frames.reversed() { transport.send(inbound, frame) } }
        try await server.received(frames.last!)
        try await client.received(frames.first!)
        let atServer = server.events.all.compactMap { if case .received(_, let payload) = $0 { payload } else { nil } }
        #expect(atServer == [Node.hello] + frames)
    }

    @Test func `each side knows the other's device, and its direction`() async throws {
        let (server, client, inbound, outbound) = try await pair()
        let atServer = try await server.on { $0.state(of: inbound) }
        let atClient = try await client.on { $0.state(of: outbound) }
        #expect(atServer?.device == client.device && atServer?.direction == .inbound)
        #expect(atClient?.device == server.device && atClient?.direction == .outbound)
        #expect(try await server.on { $0.connectionCount } == 1)
    }

    @Test func `what left is reported to the byte, and the socket's bytes are counted below TLS`() async throws {
        let (_, client, _, outbound) = try await pair()
        let payload = [UInt8](repeating: 7, count: 200_000)
        try await client.on { transport in for _ in 0..<5 { transport.send(outbound, payload) } }
        try await client.events.first("all bytes written") { events in
            let count = events.reduce(0) { if case .written(_, let count) = $1 { $0 + count } else { $0 } }
            return count == Node.hello.count + 1_000_000 ? () : nil
        }
        let state = try #require(try await client.on { $0.state(of: outbound) })
        #expect(state.bufferedByteCount == 0)
        #expect(state.bytesOut > 1_000_000 && state.bytesOut < 1_020_000)
        #expect(state.bytesIn > 500)
    }

    @Test func `a close lets what was sent before it arrive`() async throws {
        var limits = TransportLimits.patient
        limits.closeDeadline = .minutes(1)
        let (server, client, inbound, outbound) = try await pair(limits)
        let last = [UInt8](repeating: 9, count: 1 << 20)
        try await client.on { transport in
            transport.send(outbound, last)
            transport.close(outbound)
        }
        try await server.received(last)
        #expect(try await server.ended(inbound) == .closedByPeer)
        #expect(try await client.ended(outbound) == .closedHere)
    }

    @Test func `closing at once ends both sides`() async throws {
        let (server, client, inbound, outbound) = try await pair()
        try await client.on { $0.closeNow(outbound) }
        #expect(try await client.ended(outbound) == .closedHere)
        #expect(try await server.ended(inbound) == .closedByPeer)
    }

    @Test func `frames wait while reading is paused, and come in order when it resumes`() async throws {
        let (server, client, inbound, outbound) = try await pair()
        try await server.on { $0.setReading(inbound, false) }
        let frames = (0..<20).map { [UInt8](repeating: UInt8($0), count: 50_000) }
        try await client.on { transport in for frame in frames { transport.send(outbound, frame) } }
        // A frame the other way has come round: the server's loop lives on while nothing is read.
        try await server.on { $0.send(inbound, [1, 2, 3]) }
        try await client.received([1, 2, 3])
        #expect(server.events.all.count { if case .received = $0 { true } else { false } } == 1)
        try await server.on { $0.setReading(inbound, true) }
        try await server.received(frames.last!)
        let got = server.events.all.compactMap { if case .received(_, let payload) = $0 { payload } else { nil } }
        #expect(got == [Node.hello] + frames)
    }

    @Test func `a peer that does not read is let go when too much waits for it`() async throws {
        var limits = TransportLimits.patient
        limits.bufferedBytes = 4 << 20
        let (server, client, inbound, outbound) = try await pair(limits)
        try await server.on { $0.setReading(inbound, false) }
        let frame = [UInt8](repeating: 1, count: 1 << 20)
        try await client.on { transport in for _ in 0..<6 { transport.send(outbound, frame) } }
        #expect(try await client.ended(outbound) == .tooSlow)
        try await client.expectRefused(.tooSlow)
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func `without a host both families are served`(host: String) async throws {
        let (server, client) = (try await Node(), try await Node())
        try await server.trust(client)
        try await client.trust(server)
        let bound = try await server.listen(nil)
        let outbound = try await client.dial(HostPort(host: host, port: bound.port)!)
        try await client.received(Node.hello)
        let remote = try await server.on { transport in (1...4).compactMap { transport.state(of: $0 * 2)?.remote }.first
        }
        #expect(remote?.host == host)
        #expect(try await client.on { $0.state(of: outbound)?.remote.port } == bound.port)
    }

    @Test func `two that dial each other get two connections, which the core will choose from`() async throws {
        let (first, second) = (try await Node(), try await Node())
        try await first.trust(second)
        try await second.trust(first)
        let (atFirst, atSecond) = (try await first.listen(), try await second.listen())
        try await first.dial(atSecond)
        try await second.dial(atFirst)
        for node in [first, second] {
            _ = try await node.opened(.inbound)
            _ = try await node.opened(.outbound)
        }
    }

    @Test func `shutdown ends every connection and gives the port back`() async throws {
        let (server, client, _, outbound) = try await pair()
        let bound = try #require(try await client.on { $0.state(of: outbound)?.remote })
        try await server.shutdown()
        #expect(try await client.ended(outbound) == .closedByPeer)
        let again = try await Node()
        #expect(try await again.onFlat { $0.listen(host: "127.0.0.1", port: bound.port) } == bound)
    }

    @Test func `after a shutdown nothing is dialled`() async throws {
        let node = try await Node()
        try await node.shutdown()
        let number = try await node.dial(HostPort(host: "127.0.0.1", port: 9)!)
        #expect(try await node.ended(number) == .shutdown)
    }
}
