import SyncModel
import SyncSimulator
import SyncTransport

/// A join by ticket, recorded: node 1 joins, node 2 has issued the ticket; and one device of today at a side of a recorded join.
///
/// The commands: `issue` (node 2 makes the ticket), `join` (node 1 uses it, on a link whose TLS has proven both keys). The ticket's
/// secret is the same every time.
struct RecordedTickets {
    private static let facts = SimulatedDevice.all.prefix(2).map(\.fact)
    private static let addresses = ["10.77.0.1:21817", "10.77.0.2:21817"].compactMap { HostPort(text: $0) }
    private static let (joiner, inviter) = (0, 1)
    private static let nanoseconds: Int64 = 1_000_000_000

    private let record = RecordedLines()
    private let live: Int?
    private let ticket: Ticket
    private var isIssued = false
    /// Frames under way, with their receivers.
    private var queue: [(node: Int, bytes: [UInt8])] = []
    /// The question as node 1 sent it.
    private var request: TicketRequest?
    private var admitted: [Int: JoinedDevice] = [:]
    private var ended: [Int: String] = [:]

    private struct UnknownCommand: Error { let words: [String] }

    /// The ways in which a join ends.
    enum Scenario: String, CaseIterable {
        case joined = "ticket-1-joined"
        case refused = "ticket-2-refused"

        fileprivate var title: String {
            switch self {
            case .joined: "A device joins with a ticket."
            case .refused: "A device comes with a ticket that was not issued there."
            }
        }

        fileprivate var commands: [String] {
            switch self {
            case .joined: ["issue", "join"]
            case .refused: ["join"]
            }
        }
    }

    static func record(_ scenario: Scenario) throws -> RecordedFile {
        var tickets = RecordedTickets(live: nil)
        tickets.record.lines.append(.prose("# " + scenario.title))
        for command in scenario.commands {
            tickets.record.add(.command([command]), at: nanoseconds)
            try tickets.perform([command])
        }
        let outcomes = (0...1).flatMap { tickets.outcomes(of: $0) }
        return RecordedFile(lines: tickets.record.lines + outcomes.map { .outcome($0) })
    }

    static func replay(_ file: RecordedFile, at node: Int) throws -> Replay {
        var tickets = RecordedTickets(live: node)
        for line in file.lines {
            switch line {
            case .prose, .outcome, .time: break
            case .command(let words): try tickets.perform(words)
            case .frame(let frame) where frame.node == node: tickets.hear(node, frame.bytes)
            case .frame(let frame):
                // The answer is proven over the question as it came: the device of today has asked what was asked then.
                if case .request(let said)? = TicketFrame(frame.bytes, key: facts[node].subjectPublicKeyInfo) {
                    tickets.request = said
                }
            }
        }
        return Replay(outcomes: tickets.outcomes(of: node), faults: tickets.record.faults)
    }

    /// The bytes of a frame that was read and written again; nil if it is not understood.
    static func rewritten(_ frame: RecordedFrame) -> [UInt8]? {
        TicketFrame(frame.bytes, key: facts[frame.sender].subjectPublicKeyInfo)?.encoded
    }

    private init(live: Int?) {
        self.live = live
        ticket = Ticket(
            inviter: Self.facts[Self.inviter].device, secret: Array(repeating: 0x51, count: Ticket.secretByteCount),
            expiresAtMilliseconds: 1_800_000_000_000, addresses: [Self.addresses[Self.inviter]])
    }

    // MARK: What is done

    private mutating func perform(_ words: [String]) throws {
        switch words[0] {
        case "issue": isIssued = true
        case "join":
            let asked = TicketRequest(
                ticket, inviterKey: Self.facts[Self.inviter].subjectPublicKeyInfo, joiner: Self.facts[Self.joiner],
                addresses: [Self.addresses[Self.joiner]])
            request = asked
            send(.request(asked), from: Self.joiner)
        case _: throw UnknownCommand(words: words)
        }
        while !queue.isEmpty {
            let (node, bytes) = queue.removeFirst()
            hear(node, bytes)
        }
    }

    private mutating func send(_ frame: TicketFrame, from node: Int) {
        // In a replay the other device has said what it said.
        guard live == nil else { return }
        let recorded = RecordedFrame(sender: node, node: 1 - node, name: Self.kind(frame), bytes: frame.encoded)
        record.add(.frame(recorded), at: Self.nanoseconds)
        queue.append((1 - node, recorded.bytes))
    }

    private mutating func hear(_ node: Int, _ bytes: [UInt8]) {
        let frame = TicketFrame(bytes, key: Self.facts[1 - node].subjectPublicKeyInfo)
        switch (node, frame) {
        case (Self.inviter, .request(let request)): answer(request)
        case (Self.inviter, .confirmed): ended[node] = "confirmed"
        case (Self.joiner, .accepted(let acceptance)): take(acceptance)
        case (Self.joiner, .refused(let code)): ended[node] = "refused: \(code)"
        case (_, _): record.faults.append("node \(node + 1) cannot use the frame")
        }
    }

    private mutating func answer(_ request: TicketRequest) {
        let key = Self.facts[Self.inviter].subjectPublicKeyInfo
        guard isIssued, request.ticket == ticket.id.bytes, request.isProven(secret: ticket.secret, inviterKey: key)
        else {
            ended[Self.inviter] = "refused it"
            return send(.refused(code: "ticket_unknown"), from: Self.inviter)
        }
        guard let device = request.device else {
            return record.faults.append("the joiner's signing key is not bound to its key")
        }
        admitted[Self.inviter] = device
        let acceptance = TicketAcceptance(
            of: request, secret: ticket.secret, inviter: Self.facts[Self.inviter],
            addresses: [Self.addresses[Self.inviter]],
            grant: MembershipGrant(role: .writer, founder: Self.facts[Self.inviter].device))
        send(.accepted(acceptance), from: Self.inviter)
    }

    private mutating func take(_ acceptance: TicketAcceptance) {
        guard let request,
            let device = acceptance.device(
                answering: request, secret: ticket.secret, metAt: Self.addresses[Self.inviter])
        else { return record.faults.append("the answer is not the inviter's") }
        admitted[Self.joiner] = device
        ended[Self.joiner] = "joined"
        send(.confirmed, from: Self.joiner)
    }

    private func outcomes(of node: Int) -> [String] {
        var outcomes = ["ended \(ended[node] ?? "not yet")"]
        if let device = admitted[node] {
            let places = device.addresses.map(\.description).joined(separator: " ")
            outcomes.append("admitted \(device.deviceID) \(device.name) at \(places)")
            if let grant = device.grant {
                outcomes.append("became \(grant.role) of \(grant.founder.map { "\($0)" } ?? "no founder")")
            }
        } else {
            outcomes.append("admitted no device")
        }
        return outcomes.map { "\(node + 1) \($0)" }
    }

    private static func kind(_ frame: TicketFrame) -> String {
        switch frame {
        case .request: "join request"
        case .accepted: "join accepted"
        case .refused(let code): "join refused \(code)"
        case .confirmed: "join confirmed"
        }
    }
}
