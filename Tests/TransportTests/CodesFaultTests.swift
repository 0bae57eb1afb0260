import NIOCore
import SyncModel
import SyncTransport
import Testing

/// Strangers at a pairing by typed codes that break its protocol, or come in numbers.
@Suite struct CodesFaultTests {
    private static let alpn = ["lanyard-codes/1"]

    private struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: EndReason
        /// Made from the stranger's keys, and those of another device.
        let bytes: @Sendable (_ stranger: Node, _ other: Node) -> [UInt8]

        init(
            _ name: String, _ reason: EndReason = .pairingMalformed,
            _ bytes: @escaping @Sendable (Node, Node) -> [UInt8]
        ) {
            (testDescription, self.reason, self.bytes) = (name, reason, bytes)
        }

        /// An offer that is right but for one thing.
        static func offer(
            _ name: String, _ reason: EndReason = .pairingMalformed,
            _ spoil: @escaping @Sendable (inout CodesBytes.Introduction, Node) -> Void
        ) -> Fault {
            Fault(name, reason) { stranger, other in
                var introduction = CodesBytes.Introduction(stranger)
                spoil(&introduction, other)
                return introduction.frame
            }
        }
    }

    private static let faults = [
        Fault("no protobuf") { _, _ in CodesBytes.frame([0xFF, 0xFF]) },
        Fault("an unknown body") { stranger, _ in
            CodesBytes.Introduction(stranger).frame + CodesBytes.frame(CodesBytes.field(9, []))
        },
        Fault("a frame without a body") { stranger, _ in
            CodesBytes.Introduction(stranger).frame + CodesBytes.frame([0x80, 0x01, 0])
        },
        Fault("an empty offer") { _, _ in CodesBytes.frame(CodesBytes.field(1, [])) },
        Fault("an offer that is no message") { _, _ in CodesBytes.frame(CodesBytes.field(1, [0x0A, 9, 1])) },
        Fault("a message before the offer") { _, _ in CodesBytes.commitment() },
        Fault("a confirmation before the offer") { _, _ in CodesBytes.frame(CodesBytes.field(5, [])) },
        Fault("two offers") { stranger, _ in
            CodesBytes.Introduction(stranger).frame + CodesBytes.Introduction(stranger).frame
        },
        Fault("a short commitment") { stranger, _ in
            CodesBytes.Introduction(stranger).frame + CodesBytes.commitment(byteCount: 31)
        },
        Fault("a long commitment") { stranger, _ in
            CodesBytes.Introduction(stranger).frame + CodesBytes.commitment(byteCount: 33)
        },
        .offer("a binding of another device") { $0.binding = $1.identity.binding },
        .offer("keys of another device") { introduction, other in
            introduction.binding = other.identity.binding
            introduction.signingKey = CodesBytes.Introduction(other).signingKey
        },
        .offer("a short binding") { introduction, _ in introduction.binding.removeLast() },
        .offer("a short signing key") { introduction, _ in introduction.signingKey.removeLast() },
        .offer("a long discovery key") { introduction, _ in introduction.discoveryKey.append(1) },
        .offer("a name with control characters") { introduction, _ in introduction.name = "hall\u{1B}[2J" },
        .offer("a name with a line break") { introduction, _ in introduction.name = "hall\nYour code: 123 456" },
        .offer("a name of 129 bytes") { introduction, _ in introduction.name = String(repeating: "x", count: 129) },
        .offer("a name of 10,000 bytes", .oversizeFrame) { introduction, _ in
            introduction.name = String(repeating: "x", count: 10_000)
        },
        .offer("17 addresses") { introduction, _ in
            introduction.addresses = [String](repeating: "192.0.2.9:1", count: 17)
        },
        .offer("an address without a port") { introduction, _ in introduction.addresses = ["192.0.2.9"] },
        .offer("an address with a line break") { introduction, _ in introduction.addresses = ["a\nb:1"] },
        .offer("a grant without a role") { introduction, _ in introduction.grant = [] },
        .offer("a grant of a role that is none") { introduction, _ in introduction.grant = [0x08, 4] },
        .offer("a founder of 31 bytes") { introduction, _ in
            introduction.grant = [0x08, 1] + CodesBytes.field(2, [UInt8](repeating: 1, count: 31))
        },
        Fault("an empty frame", .emptyFrame) { _, _ in [0, 0, 0, 0] },
        Fault("a frame of a mebibyte", .oversizeFrame) { _, _ in [0, 0x10, 0, 0] },
        Fault("a large frame behind the offer", .oversizeFrame) { stranger, _ in
            CodesBytes.Introduction(stranger).frame + [0, 0, 0x10, 1]
        },
    ]

    @Test func `bytes that break the protocol end their link and nothing else`() async throws {
        let (hall, desk) = (try await CodesPeer("hall"), try await CodesPeer("desk"))
        let (stranger, other) = (try await Node(), try await Node())
        let address = try await hall.open()
        let number = try await desk.dial(address)
        let kept = try await hall.link(with: desk.device)
        var counts: [EndReason: Int] = [:]
        for fault in Self.faults {
            let raw = try await RawPeer(address, tls: try RawPeer.tls(as: stranger, alpn: Self.alpn))
            try await raw.send(fault.bytes(stranger, other))
            counts[fault.reason, default: 0] += 1
            do { try await hall.ended(fault.reason, times: counts[fault.reason]!) } catch {
                Issue.record("\(fault.testDescription): \(error)")
                return
            }
            try await raw.closed()
        }
        try await hall.node.expectTurnedAway(.pairingMalformed)
        #expect(!hall.reports.all.contains { if case .received = $0 { true } else { false } })
        #expect(!hall.reports.all.contains { if case .ended(kept, _) = $0 { true } else { false } })
        try await desk.on { $1.send(number, .confirmed) }
        #expect(try await hall.messages(1) == [.confirmed])
    }

    @Test func `a frame that breaks off is no message`() async throws {
        let (hall, stranger) = (try await CodesPeer("hall"), try await Node())
        let raw = try await RawPeer(try await hall.open(), tls: try RawPeer.tls(as: stranger, alpn: Self.alpn))
        try await raw.send(CodesBytes.Introduction(stranger).frame + CodesBytes.commitment().dropLast())
        let link = try await hall.link(with: stranger.device)
        try await raw.close()
        #expect(try await hall.ended(link) == .truncatedFrame)
        #expect(!hall.reports.all.contains { if case .received = $0 { true } else { false } })
    }

    @Test func `a link is bounded in time, before its offer and behind it`() async throws {
        var limits = TransportLimits()
        limits.greetingDeadline = .seconds(10)
        let hall = try await CodesPeer("hall", lifetime: .milliseconds(400), limits: limits)
        let stranger = try await Node()
        let address = try await hall.open()
        let silent = try await RawPeer(address, tls: try RawPeer.tls(as: stranger, alpn: Self.alpn))
        try await hall.ended(.helloTimedOut)
        try await silent.closed()
        let talker = try await RawPeer(address, tls: try RawPeer.tls(as: stranger, alpn: Self.alpn))
        try await talker.send(CodesBytes.Introduction(stranger).frame)
        _ = try await hall.link(with: stranger.device)
        try await hall.ended(.pairingTimedOut)
        try await talker.closed()
    }

    @Test func `strangers take the places of strangers until their offers came`() async throws {
        let hall = try await CodesPeer("hall")
        let stranger = try await Node()
        let address = try await hall.open()
        var held: [RawPeer] = []
        for _ in 1...4 { held.append(try await RawPeer(address, tls: try RawPeer.tls(as: stranger, alpn: Self.alpn))) }
        let fifth = try await RawPeer(address)
        try await fifth.closed()
        try await hall.node.expectTurnedAway(.tooManyFromAddress)
        // Behind their offers they are the pairing's to bound.
        for (index, raw) in held.enumerated() {
            try await raw.send(CodesBytes.Introduction(stranger).frame)
            try await hall.offers.first("offer \(index + 1)") { $0.count == index + 1 ? () : nil }
        }
        let sixth = try await RawPeer(address, tls: try RawPeer.tls(as: stranger, alpn: Self.alpn))
        try await sixth.send(CodesBytes.Introduction(stranger).frame)
        try await hall.offers.first("the offer of the sixth") { $0.count == 5 ? () : nil }
        for raw in held { #expect(!raw.seen.all.contains { if case .closed = $0 { true } else { false } }) }
    }
}
