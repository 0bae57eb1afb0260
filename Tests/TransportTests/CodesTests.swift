import NIOCore
import SyncModel
import SyncTransport
import Testing

/// The links of a pairing by typed codes, between real transports on the loopback interface.
@Suite struct CodesTests {
    private static let alpn = ["lanyard-codes/1"]

    @Test func `offers travel both ways, with the keys that TLS proved`() async throws {
        let (hall, desk) = (try await CodesPeer("hall", memberCount: 3), try await CodesPeer("desk"))
        let address = try await hall.open()
        let number = try await desk.dial(address)
        #expect(try await desk.link(with: hall.device) == number)
        let accepted = try await hall.link(with: desk.device)
        // The device is known from TLS on, before its offer.
        #expect(desk.reports.all == [.secured(number, hall.device), .offered(number, hall.device)])
        #expect(hall.reports.all == [.secured(accepted, desk.device), .offered(accepted, desk.device)])

        let (there, here) = (try #require(desk.offers.all.first), try #require(hall.offers.all.first))
        #expect(there.device.name == "hall" && there.memberCount == 3)
        #expect(here.device.name == "desk" && here.memberCount == 1)
        #expect(there.device.subjectPublicKeyInfo == hall.node.identity.subjectPublicKeyInfo)
        #expect(there.device.memberFact(role: .writer).isBound && here.device.memberFact(role: .writer).isBound)
        // Only the side that dialled knows an address that works.
        #expect(there.remote == address && there.device.addresses.last == address)
        #expect(here.device.addresses == [HostPort(text: "192.0.2.7:21817")!])
        // Both derive the codes from the same two sides.
        let (hallSide, deskSide) = (try await hall.on { $1.ownSide }, try await desk.on { $1.ownSide })
        #expect(there.side == hallSide && here.side == deskSide)
        #expect(PairingTranscript(hallSide, here.side) == PairingTranscript(deskSide, there.side))
        #expect(try await hall.node.on { $0.refusals.all.isEmpty })
        #expect(hall.node.events.all.isEmpty, "a pairing is no session")
    }

    @Test func `each offer says what the other device becomes, and one of before says nothing`() async throws {
        let founder = try await Node().device
        for grant in [
            MembershipGrant(role: .reader, founder: founder), MembershipGrant(role: .admin, founder: founder),
            MembershipGrant(role: .writer, founder: nil),
        ] {
            let (attic, desk) = (try await CodesPeer("attic"), try await CodesPeer("desk", grant: grant))
            _ = try await attic.dial(try await desk.open())
            _ = try await attic.link(with: desk.device)
            _ = try await desk.link(with: attic.device)
            let (there, here) = (try #require(attic.offers.all.first), try #require(desk.offers.all.first))
            #expect(there.device.grant == grant && here.device.grant == nil)
            // The codes are over the offer with its grant.
            #expect(try await there.side == desk.on { $1.ownSide })
        }
    }

    @Test func `messages arrive as they were sent, in order, behind the offer`() async throws {
        let (hall, desk) = (try await CodesPeer("hall"), try await CodesPeer("desk"))
        let number = try await desk.dial(try await hall.open())
        _ = try await desk.link(with: hall.device)
        let accepted = try await hall.link(with: desk.device)
        let bytes = { (byte: UInt8) in [UInt8](repeating: byte, count: 32) }
        let messages: [PairingMessage] =
            [.commitment(bytes(1)), .answer(bytes(2)), .opening(bytes(3)), .confirmed, .admitted]
            + PairingEnd.allCases.map { .ended($0) }
        try await desk.on { for message in messages { $1.send(number, message) } }
        try await hall.on { for message in messages.reversed() { $1.send(accepted, message) } }
        #expect(try await hall.messages(messages.count) == messages)
        #expect(try await desk.messages(messages.count) == messages.reversed())
    }

    @Test func `a reason to end that this version does not know arrives as another`() async throws {
        let (hall, stranger) = (try await CodesPeer("hall"), try await Node())
        let raw = try await RawPeer(try await hall.open(), tls: try RawPeer.tls(as: stranger, alpn: Self.alpn))
        let ended = CodesBytes.frame(CodesBytes.field(7, CodesBytes.field(1, Array("bored".utf8))))
        try await raw.send(CodesBytes.Introduction(stranger).frame + ended)
        #expect(try await hall.messages(1) == [.ended(.other)])
        try await raw.close()
    }

    // MARK: Where no pairing is open

    @Test func `without an open pairing its protocol is not spoken`() async throws {
        let (hall, desk) = (try await CodesPeer("hall"), try await CodesPeer("desk"))
        let address = try await hall.node.listen()
        let stranger = try await RawPeer(address, tls: try RawPeer.tls(as: desk.node, alpn: Self.alpn))
        try await hall.node.expectTurnedAway(.notPaired)
        try await stranger.closed()
        #expect(try await desk.ended(try await desk.dial(address)) == .wrongProtocol)
        // Nor with a member.
        try await hall.node.trust(desk.node)
        let member = try await RawPeer(address, tls: try RawPeer.tls(as: desk.node, alpn: Self.alpn))
        try await hall.node.expectTurnedAway(.wrongProtocol)
        try await member.closed()
        #expect(hall.reports.all.isEmpty && desk.offers.all.isEmpty)
    }

    @Test(arguments: [ApplicationProtocol.session, .bulk])
    func `an open pairing opens nothing else to a stranger`(other: ApplicationProtocol) async throws {
        let (hall, stranger) = (try await CodesPeer("hall"), try await Node())
        let address = try await hall.open()
        try await stranger.trust(hall.node)
        let number = try await stranger.dial(address, other)
        try await hall.node.expectTurnedAway(.notPaired)
        _ = try await stranger.ended(number)
        #expect(!stranger.events.all.contains(.received(number, Node.hello)))
        #expect(!hall.node.events.all.contains { if case .opened = $0 { true } else { false } })
        #expect(hall.reports.all.isEmpty)
        // Also one that would speak either.
        let both = try RawPeer.tls(as: stranger, alpn: [other.rawValue] + Self.alpn)
        let raw = try await RawPeer(address, tls: both)
        try await raw.closed()
        #expect(hall.reports.all.isEmpty)
        let naked = try await RawPeer(address, tls: try RawPeer.tls(as: nil, alpn: Self.alpn))
        try await hall.node.expectTurnedAway(.noCertificate)
        try await naked.closed()
    }

    @Test func `members keep their sessions while a pairing is open`() async throws {
        let (hall, member) = (try await CodesPeer("hall"), try await Node())
        let address = try await hall.open()
        try await hall.node.trust(member)
        try await member.trust(hall.node)
        try await member.dial(address)
        _ = try await hall.node.opened(.inbound)
        try await member.received(Node.hello)
    }

    @Test func `the end of a pairing closes its links and shuts strangers out`() async throws {
        let (hall, desk) = (try await CodesPeer("hall"), try await CodesPeer("desk"))
        let address = try await hall.open()
        let number = try await desk.dial(address)
        let accepted = try await hall.link(with: desk.device)
        _ = try await desk.link(with: hall.device)
        // What was said last arrives.
        try await hall.on {
            $1.send(accepted, .ended(.cancelled))
            $1.close()
        }
        #expect(try await desk.messages(1) == [.ended(.cancelled)])
        _ = try await desk.ended(number)
        let stranger = try await RawPeer(address, tls: try RawPeer.tls(as: desk.node, alpn: Self.alpn))
        try await hall.node.expectTurnedAway(.notPaired)
        try await stranger.closed()
        #expect(try await desk.ended(try await desk.dial(address)) == .wrongProtocol)
        // Of links that were closed here nothing is reported.
        #expect(hall.reports.all == [.secured(accepted, desk.device), .offered(accepted, desk.device)])
    }

    @Test func `a link that is closed here says farewell, and the others stay`() async throws {
        let (hall, desk, attic) = (
            try await CodesPeer("hall"), try await CodesPeer("desk"), try await CodesPeer("attic")
        )
        let address = try await hall.open()
        let (number, other) = (try await desk.dial(address), try await attic.dial(address))
        let (accepted, kept) = (
            try await hall.link(with: desk.device), try await hall.link(with: attic.device)
        )
        _ = try await attic.link(with: hall.device)
        try await hall.on {
            $1.close(accepted)
            $1.send(accepted, .confirmed)
            $1.send(kept, .confirmed)
        }
        _ = try await desk.ended(number)
        #expect(try await attic.messages(1) == [.confirmed])
        #expect(!desk.reports.all.contains(.received(number, .confirmed)))
        #expect(!attic.reports.all.contains { if case .ended(other, _) = $0 { true } else { false } })
    }

    @Test func `another pairing takes the place of the one before`() async throws {
        let (hall, desk) = (try await CodesPeer("hall"), try await CodesPeer("desk"))
        let address = try await hall.open()
        let number = try await desk.dial(address)
        _ = try await hall.link(with: desk.device)
        try await hall.on { transport, _ in
            let profile = PairingProfile(
                name: "hall again", discoveryKey: [UInt8](repeating: 7, count: 32), addresses: [])
            transport.open(
                PairingLinks(
                    transport: transport, profile: profile, memberCount: 1, lifetime: .minutes(2),
                    isRefused: { _ in false }))
        }
        _ = try await desk.ended(number)
        _ = try await desk.dial(address)
        try await desk.offers.first("the second offer") { $0.last?.device.name == "hall again" ? () : nil }
        // The end of the first pairing is no end of the second.
        try await hall.close()
        let attic = try await CodesPeer("attic")
        _ = try await attic.dial(address)
        _ = try await attic.link(with: hall.device)
    }

    // MARK: Who does not take part

    @Test func `a device does not pair with itself`() async throws {
        let hall = try await CodesPeer("hall")
        let address = try await hall.open()
        #expect(try await hall.ended(try await hall.dial(address)) == .ownDevice)
        // A copy of its disk that dials: TLS lets its key through, the pairing does not.
        let copy = try await RawPeer(address, tls: try RawPeer.tls(as: hall.node, alpn: Self.alpn))
        try await hall.node.expectTurnedAway(.ownDevice)
        try await copy.closed()
        #expect(hall.offers.all.isEmpty)
    }

    @Test func `a blocked device gets no offer, whichever side dials`() async throws {
        let (hall, desk) = (try await CodesPeer("hall"), try await CodesPeer("desk"))
        hall.blocked.append(desk.device)
        let (address, elsewhere) = (try await hall.open(), try await desk.open())
        _ = try await desk.ended(try await desk.dial(address))
        try await hall.node.expectTurnedAway(.notPaired)
        #expect(try await hall.ended(try await hall.dial(elsewhere)) == .notPaired)
        #expect(hall.offers.all.isEmpty && desk.offers.all.isEmpty)
    }

    // MARK: Dials

    @Test func `a dial that comes to nothing reports its end`() async throws {
        var limits = TransportLimits()
        limits.connectDeadline = .milliseconds(200)
        let (hall, gone) = (try await CodesPeer("hall", limits: limits), try await CodesPeer("gone"))
        let address = try await gone.open()
        try await gone.node.shutdown()
        let deaf = try DeafListener()
        #expect(try await hall.ended(try await hall.dial(address)) == .refused)
        #expect(try await hall.ended(try await hall.dial(deaf.address)) == .timedOut)
        // After the end of the pairing nothing is reported.
        let late = try await hall.on { transport, links in
            let number = links.dial(address)
            links.close()
            return number
        }
        // The same dial, by the same event loop, behind it.
        #expect(try await hall.node.ended(try await hall.node.dial(address)) == .refused)
        #expect(!hall.reports.all.contains { if case .ended(late, _) = $0 { true } else { false } })
    }

    /// The caller writes the number down when the call returns.
    @Test func `the end of a dial is reported behind the call, also of one that fails at once`() async throws {
        let hall = try await CodesPeer("hall")
        let reports = hall.reports
        let (number, count) = try await hall.on { _, links in
            let number = links.dial(HostPort(text: "[fe80::1%nonesuch]:21817")!)
            return (number, reports.all.count)
        }
        #expect(count == 0)
        _ = try await hall.ended(number)
    }
}
