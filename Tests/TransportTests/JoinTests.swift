import NIOCore
import NIOSSL
import Synchronization
import SyncModel
import SyncTransport
import Testing

/// `invite` on one device, `join` on another.
@Suite struct JoinTests {
    @Test func `a ticket makes two devices know each other, keys, names and addresses`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let ticket = try await inviter.invite()
        let met = try await joiner.join(ticket)
        #expect(met.deviceID == inviter.node.device && met.name == "hall")
        #expect(met.addresses.contains(ticket.address!))
        let admitted = try #require(inviter.admitted.all.first)
        #expect(admitted.deviceID == joiner.node.device && admitted.name == "desk")
        #expect(admitted.subjectPublicKeyInfo == joiner.node.identity.subjectPublicKeyInfo)
        #expect(admitted.discoveryKey == joiner.profile.discoveryKey)
        #expect(joiner.admitted.all == [met])
        #expect(met.memberFact(role: .writer).isBound && admitted.memberFact(role: .writer).isBound)
        #expect(try await inviter.node.on { $0.refusals.all.isEmpty })
    }

    @Test(arguments: MemberFact.Role.allCases)
    func `the joiner learns the role of its ticket, and the founder of the inviter`(role: MemberFact.Role) async throws
    {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let first = try await joiner.join(try await inviter.invite(as: role))
        #expect(first.grant == MembershipGrant(role: role, founder: nil))
        #expect(inviter.admitted.all.map(\.grant) == [nil], "a joiner makes nothing of the inviter")
        // The founder is asked for at each answer.
        inviter.founder.withLock { $0 = joiner.node.device }
        let second = try await joiner.join(try await inviter.invite(as: role))
        #expect(second.grant == MembershipGrant(role: role, founder: joiner.node.device))
        #expect(joiner.admitted.all == [first, second])
    }

    @Test func `the ticket's text is enough`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let text = try await inviter.invite().text
        #expect(try await joiner.join(try Ticket(text: text)).deviceID == inviter.node.device)
    }

    @Test func `of many addresses the one that answers is taken`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let deaf = try DeafListener()
        let ticket = try await inviter.invite()
        let elsewhere = Ticket(
            inviter: inviter.node.device, secret: ticket.secret, expiresAtMilliseconds: ticket.expiresAtMilliseconds,
            addresses: [deaf.address])
        let others = [HostPort(host: "127.0.0.1", port: 1)!, ticket.address!]
        #expect(try await joiner.join(elsewhere, alsoAt: others).deviceID == inviter.node.device)
    }

    @Test func `a ticket without an address leads to its device among others`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let stranger = try await Pairer("other").invite().address!
        let ticket = try await inviter.invite()
        let bare = Ticket(
            inviter: inviter.node.device, secret: ticket.secret, expiresAtMilliseconds: ticket.expiresAtMilliseconds,
            addresses: [])
        let error = await #expect(throws: JoinError.self) { try await joiner.join(bare, alsoAt: [stranger]) }
        #expect(error?.code == "nobody_answered", "another device is no wrong one where none was named")
        #expect(try await joiner.join(bare, alsoAt: [stranger, ticket.address!]).deviceID == inviter.node.device)
    }

    @Test func `a used ticket closes the pairing protocol`() async throws {
        let (inviter, first) = (try await Pairer("hall"), try await Pairer("desk"))
        let second = try await Pairer("thief")
        let met = History<JoinedDevice>()
        inviter.onMet.withLock { $0 = { met.append($0) } }
        let ticket = try await inviter.invite()
        let closed = JoinError.notInviting(address: "\(ticket.address!)")
        _ = try await first.join(ticket)
        _ = try await met.first("the inviter to hear of it") { $0.first }
        for device in [second, first] { await #expect(throws: closed) { try await device.join(ticket) } }
        let stranger = try await RawPeer(
            ticket.address!, tls: try RawPeer.tls(as: second.node, alpn: ["lanyard-pair/1"]))
        try await stranger.closed()
        #expect(inviter.admitted.all.map(\.deviceID) == [first.node.device])
        #expect(second.admitted.all.isEmpty)
    }

    @Test func `while the answer to a used ticket may be lost, only the device that used it asks again`() async throws {
        let (inviter, first) = (try await Pairer("hall"), try await Pairer("desk"))
        let second = try await Pairer("thief")
        let ticket = try await inviter.invite()
        first.isFailing.withLock { $0 = true }
        await #expect(throws: JoinError.notAdmitted) { try await first.join(ticket) }
        await #expect(throws: JoinError.notInviting(address: "\(ticket.address!)")) {
            try await second.join(ticket)
        }
        try await inviter.node.expectTurnedAway(.notPaired)
        first.isFailing.withLock { $0 = false }
        #expect(try await first.join(ticket).deviceID == inviter.node.device)
        #expect(second.admitted.all.isEmpty)
    }

    @Test func `two devices that come with one ticket at the same moment: one gets in`() async throws {
        let inviter = try await Pairer("hall", isSlow: true)
        let (first, second) = (try await Pairer("desk"), try await Pairer("thief"))
        let ticket = try await inviter.invite()
        async let one = first.join(ticket)
        _ = try await inviter.asked.first("the first to be admitted") { $0.first }
        await #expect(throws: JoinError.refused(code: "ticket_already_used")) { try await second.join(ticket) }
        inviter.letThrough()
        #expect(try await one.deviceID == inviter.node.device)
        #expect(inviter.admitted.all.map(\.deviceID) == [first.node.device])
    }

    @Test func `an inviter dials the joiner only once that knows it, or once the connection is gone`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let events = History<String>()
        inviter.onMet.withLock { $0 = { _ in events.append("met") } }
        joiner.onAdmitting.withLock { $0 = { events.append("joiner admits") } }
        let ticket = try await inviter.invite()
        _ = try await joiner.join(ticket)
        #expect(try await events.first("both") { $0.count == 2 ? $0 : nil } == ["joiner admits", "met"])
        joiner.isFailing.withLock { $0 = true }
        let another = try await inviter.invite()
        await #expect(throws: JoinError.notAdmitted) { try await joiner.join(another) }
        _ = try await events.first("the second end") { $0.last == "met" && $0.count == 4 ? true : nil }
    }

    @Test func `an expired ticket is refused as expired`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let ticket = try await inviter.invite()
        inviter.clock.withLock { $0 += 10 * 60 * 1_000 }
        joiner.clock.withLock { $0 += 10 * 60 * 1_000 }
        // No ticket is open: the pairing protocol is not spoken at all.
        await #expect(throws: JoinError.expired) { try await joiner.join(ticket) }
        // Another is open: the inviter says that this one has expired.
        _ = try await inviter.invite()
        await #expect(throws: JoinError.refused(code: "ticket_expired")) { try await joiner.join(ticket) }
        try await inviter.node.expectRefused(.ticketExpired)
        #expect(inviter.admitted.all.isEmpty && joiner.admitted.all.isEmpty)
    }

    @Test func `a joiner whose clock is a year ahead joins all the same`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        joiner.clock.withLock { $0 += 365 * 86_400_000 }
        #expect(try await joiner.join(try await inviter.invite()).deviceID == inviter.node.device)
    }

    @Test func `where nobody is invited, nobody gets in`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let address = try await inviter.node.listen()
        let ticket = Ticket(
            inviter: inviter.node.device, secret: [UInt8](repeating: 1, count: 16),
            expiresAtMilliseconds: inviter.now + 60_000, addresses: [address])
        await #expect(throws: JoinError.notInviting(address: "\(address)")) { try await joiner.join(ticket) }
        try await inviter.node.expectTurnedAway(.notPaired)
    }

    @Test func `an invitation opens no session to a stranger`() async throws {
        let (inviter, stranger) = (try await Pairer("hall"), try await Pairer("desk"))
        let ticket = try await inviter.invite()
        try await stranger.node.trust(inviter.node)
        let number = try await stranger.node.dial(ticket.address!)
        try await inviter.node.expectTurnedAway(.notPaired)
        _ = try await stranger.node.ended(number)
        #expect(!stranger.node.events.all.contains(.received(number, Node.hello)))
        let naked = try await RawPeer(ticket.address!, tls: try RawPeer.tls(as: nil, alpn: ["lanyard-pair/1"]))
        try await inviter.node.expectTurnedAway(.noCertificate)
        try await naked.closed()
    }

    @Test func `a wrong secret is unknown, three end every ticket, and more wait a minute`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let ticket = try await inviter.invite()
        for attempt in 0..<3 {
            let guess = Ticket(
                inviter: inviter.node.device, secret: [UInt8](repeating: UInt8(attempt), count: 16),
                expiresAtMilliseconds: ticket.expiresAtMilliseconds, addresses: [ticket.address!])
            await #expect(throws: JoinError.refused(code: "ticket_unknown")) { try await joiner.join(guess) }
        }
        try await inviter.node.expectRefused(.ticketUnknown)
        await #expect(throws: JoinError.notInviting(address: "\(ticket.address!)")) {
            try await joiner.join(ticket)
        }
        let another = try await inviter.invite()
        await #expect(throws: JoinError.refused(code: "too_many_attempts")) { try await joiner.join(another) }
        try await inviter.node.expectRefused(.tooManyAttempts)
        #expect(inviter.admitted.all.isEmpty)
    }

    @Test func `another device at the address is noticed before anything is said`() async throws {
        let (inviter, other) = (try await Pairer("hall"), try await Pairer("other"))
        let joiner = try await Pairer("desk")
        let ticket = try await inviter.invite()
        let elsewhere = try await other.invite().address!
        let misled = Ticket(
            inviter: inviter.node.device, secret: ticket.secret, expiresAtMilliseconds: ticket.expiresAtMilliseconds,
            addresses: [elsewhere])
        await #expect(throws: JoinError.wrongDevice(address: "\(elsewhere)")) { try await joiner.join(misled) }
        try await other.node.expectTurnedAway(.notPairedThere)
    }

    @Test func `nobody at any address: each is named with what came of it`() async throws {
        let joiner = try await Pairer("desk")
        let gone = try await Pairer("gone")
        let ticket = try await gone.invite()
        try await gone.node.shutdown()
        let error = try await #require(throws: JoinError.self) { try await joiner.join(ticket) }
        guard case .nobodyAnswered(let attempts) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(attempts.map(\.reason) == [.refused])
        #expect(error.message.contains("\(ticket.address!) (connection_refused)"))
        let empty = Ticket(
            inviter: gone.node.device, secret: ticket.secret, expiresAtMilliseconds: 1 << 50, addresses: [])
        await #expect(throws: JoinError.noAddresses) { try await joiner.join(empty) }
    }

    @Test func `a device cannot join itself`() async throws {
        let inviter = try await Pairer("hall")
        let ticket = try await inviter.invite()
        await #expect(throws: JoinError.ownTicket) { try await inviter.join(ticket) }
    }

    @Test func `an inviter that cannot write the joiner down refuses, and the ticket stays good`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let ticket = try await inviter.invite()
        inviter.isFailing.withLock { $0 = true }
        await #expect(throws: JoinError.refused(code: "not_admitted")) { try await joiner.join(ticket) }
        try await inviter.node.expectRefused(.notAdmitted)
        #expect(joiner.admitted.all.isEmpty)
        inviter.isFailing.withLock { $0 = false }
        let other = try await Pairer("other")
        #expect(try await other.join(ticket).deviceID == inviter.node.device)
    }

    @Test func `a joiner that cannot write the inviter down says so, and may repeat`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let ticket = try await inviter.invite()
        joiner.isFailing.withLock { $0 = true }
        await #expect(throws: JoinError.notAdmitted) { try await joiner.join(ticket) }
        joiner.isFailing.withLock { $0 = false }
        #expect(try await joiner.join(ticket).deviceID == inviter.node.device)
    }

    @Test func `bytes that are no pairing frame end the exchange`() async throws {
        let (inviter, joiner) = (try await Pairer("hall"), try await Pairer("desk"))
        let ticket = try await inviter.invite()
        for noise in [[0, 0, 0, 2, 0xff, 0xff], [0, 0, 0, 2, 0x22, 0], [0, 0, 0, 2, 0x0a, 0]] as [[UInt8]] {
            let tls = try RawPeer.tls(as: joiner.node, alpn: ["lanyard-pair/1"])
            let peer = try await RawPeer(ticket.address!, tls: tls)
            try await peer.send(noise)
            try await peer.closed()
        }
        try await inviter.node.expectTurnedAway(.pairingMalformed)
        #expect(try await joiner.join(ticket).deviceID == inviter.node.device)
    }
}
