import NIOCore
import SyncTransport
import Testing

/// Those who take their time lose their place.
@Suite struct DeadlineTests {
    /// For those who never say anything.
    private var impatient: TransportLimits {
        var limits = TransportLimits()
        limits.greetingDeadline = .milliseconds(200)
        return limits
    }

    /// For those who must get through TLS first, on a machine that may be busy.
    private var firm: TransportLimits {
        var limits = TransportLimits()
        limits.greetingDeadline = .seconds(10)
        return limits
    }

    private var strictAboutFrames: TransportLimits {
        var limits = TransportLimits.patient
        limits.frameDeadline = .milliseconds(200)
        limits.frameBytesPerSecond = 1 << 30
        return limits
    }

    @Test func `a client that says nothing is closed at the deadline`() async throws {
        let server = try await Node(limits: impatient)
        let peer = try await RawPeer(try await server.listen())
        try await server.expectTurnedAway(.handshakeTimedOut)
        try await peer.closed()
    }

    @Test func `TLS that comes byte by byte is closed at the deadline`() async throws {
        let server = try await Node(limits: impatient)
        let peer = try await RawPeer(try await server.listen())
        // The head of a TLS record that promises 512 bytes. On a slow machine the deadline comes before its end.
        for byte in [0x16, 3, 1, 2, 0, 1] as [UInt8] { try? await peer.send([byte]) }
        try await server.expectTurnedAway(.handshakeTimedOut)
        try await peer.closed()
    }

    @Test func `a member that sends no first frame is closed at the deadline`() async throws {
        let (server, member) = (try await Node(limits: firm), try await Node())
        try await server.trust(member)
        let peer = try await RawPeer(try await server.listen(), tls: try RawPeer.tls(as: member))
        let inbound = try await server.opened(.inbound)
        #expect(try await server.ended(inbound) == .helloTimedOut)
        try await server.expectRefused(.helloTimedOut)
        try await peer.closed()
    }

    @Test func `a server that sends no first frame is left at the deadline`() async throws {
        let (server, client) = (try await Node(.ignores), try await Node(limits: firm))
        try await server.trust(client)
        try await client.trust(server)
        let number = try await client.dial(try await server.listen())
        #expect(try await client.ended(number) == .helloTimedOut)
    }

    @Test func `a frame that stops is closed at its deadline, a session between frames is not`() async throws {
        let (server, stalled) = (try await Node(limits: strictAboutFrames), try await Node())
        let quiet = try await Node(limits: strictAboutFrames)
        try await server.trust(stalled, quiet)
        try await quiet.trust(server)
        let address = try await server.listen()
        let outbound = try await quiet.dial(address)
        try await server.received(Node.hello)
        try await quiet.received(Node.hello)

        let peer = try await RawPeer(address, tls: try RawPeer.tls(as: stalled))
        try await peer.send([0, 0, 0, 1, 1])
        try await server.received([1])
        try await peer.send([0, 0, 1, 0, 1, 2, 3])
        try await server.expectRefused(.frameTimedOut)
        try await peer.closed()

        try await quiet.on { $0.send(outbound, [7]) }
        try await server.received([7])
    }
}
