import NIOCore
import SyncTransport
import Testing

/// Why nobody was reached, in words that `why` can pass on.
@Suite struct DialTests {
    @Test func `a port where nobody listens is refused`() async throws {
        let node = try await Node()
        let free = try await Node()
        let address = try await free.listen()
        try await free.shutdown()
        let number = try await node.dial(address)
        #expect(try await node.ended(number) == .refused)
    }

    @Test func `a transport that is being dialled stops`() async throws {
        for _ in 0..<100 {
            let (listener, dialer) = (try await Node(), try await Node())
            let address = try await listener.listen()
            _ = try await dialer.dial(address)
            // What was accepted a moment ago may not be up yet.
            try await listener.shutdown()
            try await dialer.shutdown()
        }
    }

    @Test func `an interface that is not here is a network that cannot be reached`() async throws {
        let node = try await Node()
        let number = try await node.dial(HostPort(text: "[fe80::1%nosuch0]:21817")!)
        #expect(try await node.ended(number) == .networkUnreachable)
    }

    @Test func `an address that never answers times out`() async throws {
        var limits = TransportLimits()
        limits.connectDeadline = .milliseconds(100)
        let node = try await Node(limits: limits)
        // A full queue of connections that nobody accepts does not answer another one.
        let deaf = try DeafListener()
        let number = try await node.dial(deaf.address)
        #expect(try await node.ended(number) == .timedOut)
    }

    @Test func `a probe measures one handshake, and the listener does not count it as a refusal`() async throws {
        let (node, listener, member) = (try await Node(), try await Node(), try await Node())
        try await listener.trust(member)
        try await member.trust(listener)
        let address = try await listener.listen()
        // By a name, too: the resolver is not measured. Fewer than an address may hold at once.
        for target in [address, address, HostPort(host: "localhost", port: address.port)!] {
            let outcome = try await node.onFlat { $0.probe(target) }
            guard case .took(let nanoseconds) = outcome else { throw Overdue(what: "\(target): \(outcome)") }
            #expect(nanoseconds > 0)
        }
        // A session comes up behind them on the listener's loop: it has seen all of their ends.
        try await member.dial(address)
        _ = try await listener.opened(.inbound)
        #expect(try await listener.on { $0.refusals.all.isEmpty })
        #expect(listener.events.all.allSatisfy { if case .turnedAway = $0 { false } else { true } })
        #expect(listener.lines.all.allSatisfy { $0.message != "Refused a connection." })
        #expect(node.events.all.isEmpty)
    }

    @Test func `a probe says why nothing answers`() async throws {
        var limits = TransportLimits()
        limits.probeDeadline = .milliseconds(100)
        let (node, free) = (try await Node(limits: limits), try await Node())
        let address = try await free.listen()
        try await free.shutdown()
        #expect(try await node.onFlat { $0.probe(address) } == .failed(.refused))
        let deaf = try DeafListener()
        let silent = deaf.address
        #expect(try await node.onFlat { $0.probe(silent) } == .failed(.timedOut))
        try await node.shutdown()
        #expect(try await node.onFlat { $0.probe(address) } == .failed(.shutdown))
    }

    @Test func `a port in use is said so, with what to do`() async throws {
        let (first, second) = (try await Node(), try await Node())
        let bound = try await first.listen()
        await #expect(throws: ListenError.portInUse("127.0.0.1:\(bound.port)")) {
            try await second.onFlat { $0.listen(host: "127.0.0.1", port: bound.port) }
        }
        let error = ListenError.portInUse("\(bound)")
        #expect(error.code == "port_in_use")
        #expect(error.message.contains("\(bound)") && error.hint.contains("--listen"))
    }

    @Test func `an address of another machine, or none, is nowhere to listen`() async throws {
        let node = try await Node()
        await #expect(throws: ListenError.addressNotHere("192.0.2.1:0")) {
            try await node.onFlat { $0.listen(host: "192.0.2.1", port: 0) }
        }
        await #expect(throws: ListenError.notAnAddress("nowhere:0")) {
            try await node.onFlat { $0.listen(host: "nowhere", port: 0) }
        }
    }

    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1", 80), ("[::1]:21817", "::1", 21817), ("[fe80::1%eth0]:1", "fe80::1%eth0", 1),
        ("kitchen.local:65535", "kitchen.local", 65535),
    ])
    func `host and port are read and written`(text: String, host: String, port: Int) {
        let parsed = HostPort(text: text)
        #expect(parsed == HostPort(host: host, port: port))
        #expect(parsed?.description == text)
    }

    @Test(arguments: [
        "", ":", "host", "host:", ":1", "::1:80", "a b:1", "host:65536", "host:-1", "host:+1", "[::1]", "[]:1",
    ])
    func `what is no host and port is none`(text: String) { #expect(HostPort(text: text) == nil) }
}
