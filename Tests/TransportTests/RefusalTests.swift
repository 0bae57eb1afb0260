import NIOCore
import NIOSSL
import SyncModel
import SyncTransport
import Testing

/// Everybody who may not get in, each with its code, its line in the log and its count.
@Suite struct RefusalTests {
    /// A server that trusts `member`, and where it listens.
    private func server(
        trusting member: Node? = nil, limits: TransportLimits = .patient
    ) async throws -> (Node, HostPort) {
        let server = try await Node(limits: limits)
        if let member { try await server.trust(member) }
        return (server, try await server.listen())
    }

    @Test func `a stranger's key is refused, and the stranger learns why`() async throws {
        let (server, address) = try await server()
        let stranger = try await Node()
        try await stranger.trust(server)
        let number = try await stranger.dial(address)
        try await server.expectTurnedAway(.notPaired)
        #expect(try await stranger.ended(number) == .notPairedThere)
        try await stranger.expectRefused(.notPairedThere)
    }

    @Test func `a stranger that is dialled is refused`() async throws {
        let client = try await Node()
        let (server, address) = try await server(trusting: client)
        let number = try await client.dial(address)
        #expect(try await client.ended(number) == .notPaired)
        try await client.expectRefused(.notPaired)
        try await server.expectTurnedAway(.notPairedThere)
    }

    @Test func `a member's certificate without its key is refused`() async throws {
        let member = try await Node()
        let (server, address) = try await server(trusting: member)
        var tls = try RawPeer.tls(as: member)
        tls.privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: StolenCertificateKey()))
        let thief = try await RawPeer(address, tls: tls)
        try await server.expectTurnedAway(.wrongKey)
        try await thief.closed()
    }

    @Test func `a client without a certificate is refused`() async throws {
        let (server, address) = try await server()
        let nobody = try await RawPeer(address, tls: try RawPeer.tls(as: nil))
        try await server.expectTurnedAway(.noCertificate)
        try await nobody.closed()
    }

    /// The stranger proves that it has the key. BoringSSL reads no RSA exponent of more than 33 bits, and NIOSSL's
    /// `extractPublicKey` would end the process for such a key: the handshake has to refuse it before.
    @Test(arguments: [
        (["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], EndReason.notPaired),
        (["rsa:2048"], .notPaired),
        (["rsa:2048", "-pkeyopt", "rsa_keygen_pubexp:18446744073709551629"], .tlsFailed),
    ])
    func `a key of another kind is refused, also one that cannot be read`(
        kind: [String], reason: EndReason
    ) async throws {
        let (server, address) = try await server()
        let directory = try TemporaryDirectory()
        let (key, certificate) = (directory.path + "/key.pem", directory.path + "/certificate.pem")
        try OpenSSL.run(
            ["req", "-x509", "-subj", "/CN=lanyard", "-nodes", "-keyout", key, "-out", certificate, "-newkey"] + kind)
        let stranger = try OpenSSL.Client(address, ["-cert", certificate, "-key", key])
        try await server.expectTurnedAway(reason)
        _ = try await stranger.output()
    }

    @Test func `TLS 1.2 is refused, also with a member's key`() async throws {
        let member = try await Node()
        let (server, address) = try await server(trusting: member)
        var tls = try RawPeer.tls(as: member)
        tls.maximumTLSVersion = .tlsv12
        let old = try await RawPeer(address, tls: tls)
        try await server.expectTurnedAway(.oldTLS)
        try await old.closed()
    }

    @Test(arguments: [["http/1.1"], [], ["lanyard/2"], ["lanyard-bulk/2"], ["lanyard-pair/1"]])
    func `a member that asks for no protocol of ours is refused`(alpn: [String]) async throws {
        let member = try await Node()
        let (server, address) = try await server(trusting: member)
        let peer = try await RawPeer(address, tls: try RawPeer.tls(as: member, alpn: alpn))
        try await server.expectTurnedAway(.wrongProtocol)
        try await peer.closed()
    }

    @Test func `bytes that are no TLS are refused`() async throws {
        let (server, address) = try await server()
        let noise = try await RawPeer(address)
        try await noise.send(Array("GET / HTTP/1.1\r\nHost: lanyard\r\n\r\n".utf8))
        try await server.expectTurnedAway(.notTLS)
        try await noise.closed()
    }

    @Test(arguments: [
        [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xff, count: 70_000), [0x16, 3, 1, 0, 1, 0],
    ])
    func `garbage never harms the server`(bytes: [UInt8]) async throws {
        let member = try await Node()
        // What may be the beginning of TLS is cut off by time.
        var limits = TransportLimits.patient
        limits.greetingDeadline = .seconds(10)
        let (server, address) = try await server(trusting: member, limits: limits)
        let noise = try await RawPeer(address)
        // The server may close before the last of them.
        try? await noise.send(bytes)
        try await noise.closed()
        try await member.trust(server)
        try await member.dial(address)
        try await member.received(Node.hello)
    }

    /// By the key alone it cannot be told from a copy of its disk that runs elsewhere.
    @Test func `a device that dials its own key gets a session, whose first frame tells who it is`() async throws {
        let node = try await Node()
        let number = try await node.dial(try await node.listen())
        _ = try await node.opened(.inbound)
        _ = number
    }

    @Test func `a device that is removed loses its connection and cannot come back`() async throws {
        let member = try await Node()
        let (server, address) = try await server(trusting: member)
        try await member.trust(server)
        let first = try await member.dial(address)
        let inbound = try await server.opened(.inbound)
        try await member.received(Node.hello)
        try await server.trust()
        #expect(try await server.ended(inbound) == .notPaired)
        #expect(try await member.ended(first) == .closedByPeer)
        let second = try await member.dial(address)
        try await server.expectTurnedAway(.notPaired)
        #expect(try await member.ended(second) == .notPairedThere)
    }

    @Test func `one device has at most eight connections`() async throws {
        let member = try await Node()
        let (server, address) = try await server(trusting: member)
        try await member.trust(server)
        for index in 1...8 {
            try await member.dial(address)
            try await server.events.first("\(index) connections") { events in
                events.count { if case .opened = $0 { true } else { false } } == index ? () : nil
            }
        }
        let ninth = try await member.dial(address)
        try await server.expectRefused(.tooManyFromDevice)
        let reason = try await member.ended(ninth)
        #expect(reason == .closedBeforeHello)
        #expect(try await server.on { $0.connectionCount } == 8)
    }

    @Test func `the log gets a bounded number of lines, the counter counts on`() async throws {
        let (server, address) = try await server()
        let start = ContinuousClock.now
        for _ in 0..<70 {
            let noise = try await RawPeer(address)
            try await noise.send(Array("no TLS at all".utf8))
            try await noise.closed()
        }
        // The peer may see the end before the server has counted it.
        try await server.events.first("70 turned away") { events in
            events.count { if case .turnedAway(_, .notTLS) = $0 { true } else { false } } == 70 ? () : nil
        }
        #expect(try await server.on { $0.refusals[.notTLS] } == 70)
        // 60 in a minute, and on a slow machine the others in the next.
        let minutes = 1 + Int((ContinuousClock.now - start).components.seconds / 60)
        let lineCount = server.lines.all.count { $0.metadata["reason.code"] == "not_tls" }
        #expect((60...60 * minutes).contains(lineCount), "\(lineCount) in \(minutes) minutes")
    }
}
