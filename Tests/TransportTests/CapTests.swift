import NIOCore
import SyncTransport
import Testing

@Suite struct CapTests {
    @Test func `the fifth unknown connection of one address is turned away`() async throws {
        let server = try await Node()
        let address = try await server.listen()
        var held: [RawPeer] = []
        for _ in 0..<4 { held.append(try await RawPeer(address)) }
        let fifth = try await RawPeer(address)
        try await fifth.closed()
        try await server.expectTurnedAway(.tooManyFromAddress)
        #expect(held.allSatisfy { $0.seen.all.isEmpty })
        // A place that is given back is a place.
        try await held[0].close()
        try await server.events.first("a place given back") { events in
            events.contains(.turnedAway(nil, .closedInHandshake)) ? () : nil
        }
        let sixth = try await RawPeer(address)
        try await sixth.send(Array("no TLS".utf8))
        try await server.expectTurnedAway(.notTLS)
        try await sixth.closed()
    }

    @Test func `the seventeenth unknown connection is turned away, wherever it comes from`() async throws {
        let server = try await Node()
        let address = try await server.listen()
        var held: [RawPeer] = []
        for index in 0..<16 { held.append(try await RawPeer(address, from: "127.0.0.\(2 + index / 4)")) }
        let last = try await RawPeer(address, from: "127.0.0.9")
        try await last.closed()
        try await server.expectTurnedAway(.tooManyUnauthenticated)
        #expect(held.allSatisfy { $0.seen.all.isEmpty })
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
