import NIOCore
import SyncTransport
import Testing

/// Who is let as far as the handshake while others take all the places they can. Addresses of one /24 stand for one host.
@Suite struct CapTests {
    /// Holds as many connections as it gets from each of these addresses.
    private func crowd(_ address: HostPort, _ hosts: [String], each count: Int = 4) async throws -> [RawPeer] {
        var held: [RawPeer] = []
        for host in hosts {
            for _ in 0..<count { held.append(try await RawPeer(address, from: host)) }
        }
        return held
    }

    @Test func `the fifth unknown connection of one address is turned away`() async throws {
        let server = try await Node()
        let address = try await server.listen()
        let held = try await crowd(address, ["127.0.0.1"])
        let fifth = try await RawPeer(address)
        try await fifth.closed()
        try await server.expectTurnedAway(.tooManyFromAddress)
        #expect(held.allSatisfy { $0.seen.all.isEmpty })
        // A place that is given back is a place.
        try await held[0].send([0x16])
        try await held[0].close()
        try await server.events.first("a place given back") { events in
            events.contains(.turnedAway(nil, .closedInHandshake)) ? () : nil
        }
        let sixth = try await RawPeer(address)
        try await sixth.send(Array("no TLS".utf8))
        try await server.expectTurnedAway(.notTLS)
        try await sixth.closed()
    }

    @Test func `the ninth stranger of one network is turned away, and the seventeenth wherever it comes from`()
        async throws
    {
        let server = try await Node()
        let address = try await server.listen()
        let held = try await crowd(address, ["127.0.0.2", "127.0.0.3"])
        let ninth = try await RawPeer(address, from: "127.0.0.9")
        try await ninth.closed()
        try await server.expectTurnedAway(.tooManyFromNetwork)
        let others = try await crowd(address, ["127.0.1.2", "127.0.1.3"])
        let seventeenth = try await RawPeer(address, from: "127.0.2.2")
        try await seventeenth.closed()
        try await server.expectTurnedAway(.tooManyUnauthenticated)
        #expect((held + others).allSatisfy { $0.seen.all.isEmpty })
    }

    @Test func `a member comes back from where it was met while one host with six addresses holds all it can`()
        async throws
    {
        let (server, member) = (try await Node(), try await Node())
        try await server.trust(member)
        try await member.trust(server)
        try await server.on { transport in
            transport.standing = { host in
                // The host that crowds also has itself announced.
                host == "127.0.0.1" ? .known : host.hasPrefix("127.0.9.") ? .named : .stranger
            }
        }
        let address = try await server.listen()
        let strangers = (2...7).map { "127.0.0.\($0)" } + (2...7).map { "127.0.5.\($0)" }
        let held = try await crowd(address, strangers + (2...7).map { "127.0.9.\($0)" })
        try await member.dial(address)
        _ = try await server.opened(.inbound)
        // There are 32 places for strangers and for names.
        try await server.events.first("all others turned away") { events in
            events.count { if case .turnedAway = $0 { true } else { false } } == held.count - 32 ? () : nil
        }
    }

    @Test func `a session goes on and a member gets in while a thousand strangers come`() async throws {
        let (server, member) = (try await Node(), try await Node())
        try await server.trust(member)
        try await member.trust(server)
        try await server.on { transport in
            transport.standing = { $0 == "127.0.0.1" ? .known : .stranger }
        }
        let address = try await server.listen()
        let outbound = try await member.dial(address)
        try await server.received(Node.hello)
        try await member.received(Node.hello)
        var held: [RawPeer] = []
        for number in 0..<1_000 {
            // One that is closed at once may fail on its side.
            if let peer = try? await RawPeer(address, from: "127.0.\(1 + number / 200).\(1 + number % 200)") {
                held.append(peer)
            }
            guard number % 10 == 0 else { continue }
            let frame = [UInt8(number / 10), 1]
            try await member.on { $0.send(outbound, frame) }
            try await server.received(frame)
        }
        // There are 16 places for strangers.
        try await server.events.first("all others turned away") { events in
            events.count { if case .turnedAway = $0 { true } else { false } } == 1_000 - 16 ? () : nil
        }
        try await member.dial(address)
        try await server.events.first("a second connection of the member") { events in
            events.count { if case .opened = $0 { true } else { false } } == 2 ? () : nil
        }
        #expect(try await server.on { $0.connectionCount } == 2)
        for peer in held { try? await peer.close() }
    }

    @Test func `members that are in hold no place`() async throws {
        let (server, member) = (try await Node(), try await Node())
        try await server.trust(member)
        try await member.trust(server)
        let address = try await server.listen()
        for index in 1...6 {
            try await member.dial(address)
            try await server.events.first("\(index) connections") { events in
                events.count { if case .opened = $0 { true } else { false } } == index ? () : nil
            }
        }
        #expect(try await server.on { $0.refusals.all.isEmpty })
    }
}
