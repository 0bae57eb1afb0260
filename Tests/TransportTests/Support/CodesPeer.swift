import Crypto
import NIOCore
import SyncModel
import SyncTransport
import Testing

/// A device with the links of a pairing by typed codes, and what they reported.
final class CodesPeer: Sendable {
    enum Report: Sendable, Equatable {
        case secured(UInt64, DeviceID)
        case offered(UInt64, DeviceID)
        case received(UInt64, PairingMessage)
        case ended(UInt64, EndReason)
    }

    let node: Node
    let name: String
    let reports = History<Report>()
    let offers = History<PairingLinks.Offer>()
    /// Devices that do not take part.
    let blocked = History<DeviceID>()
    private let links: NIOLoopBound<PairingLinks>

    init(
        _ name: String, memberCount: UInt64 = 1, grant: MembershipGrant? = nil, lifetime: TimeAmount = .minutes(10),
        limits: TransportLimits = .patient
    ) async throws {
        let node = try await Node(limits: limits)
        self.node = node
        self.name = name
        let (reports, offers, blocked) = (reports, offers, blocked)
        links = try await node.on { transport in
            let profile = PairingProfile(
                name: name, discoveryKey: [UInt8](repeating: 7, count: 32),
                addresses: [HostPort(text: "192.0.2.7:21817")!])
            let links = PairingLinks(
                transport: transport, profile: profile, memberCount: memberCount, grant: grant, lifetime: lifetime,
                isRefused: { blocked.all.contains($0) })
            links.secured = { reports.append(.secured($0, $1)) }
            links.offer = {
                offers.append($1)
                reports.append(.offered($0, $1.device.deviceID))
            }
            links.received = { reports.append(.received($0, $1)) }
            links.ended = { reports.append(.ended($0, $1)) }
            return NIOLoopBound(links, eventLoop: transport.eventLoop)
        }
    }

    var device: DeviceID { node.device }

    /// Runs on the event loop.
    func on<T: Sendable>(_ body: @escaping @Sendable (SessionTransport, PairingLinks) throws -> T) async throws -> T {
        try await node.on { [links] transport in try body(transport, links.value) }
    }

    /// Listens, and lets strangers in on the protocol of codes.
    func open() async throws -> HostPort {
        let address = try await node.listen()
        try await on { $0.open($1) }
        return address
    }

    func dial(_ address: HostPort) async throws -> UInt64 { try await on { $1.dial(address) } }

    func close() async throws { try await on { $1.close() } }

    // MARK: Waiting

    /// The number of the link on which the device's offer came.
    func link(with other: DeviceID) async throws -> UInt64 {
        try await reports.first("an offer at \(name)") { reports in
            for case .offered(let number, other) in reports { return number }
            return nil
        }
    }

    func ended(_ link: UInt64) async throws -> EndReason {
        try await reports.first("the end of link \(link) at \(name)") { reports in
            for case .ended(link, let reason) in reports { return reason }
            return nil
        }
    }

    /// Waits until so many links have ended for this reason.
    func ended(_ reason: EndReason, times: Int = 1) async throws {
        try await reports.first("\(times) ends for \(reason.rawValue) at \(name)") { reports in
            let count = reports.count { if case .ended(_, reason) = $0 { true } else { false } }
            return count == times ? () : nil
        }
    }

    func messages(_ count: Int) async throws -> [PairingMessage] {
        try await reports.first("\(count) messages at \(name)") { reports in
            let messages = reports.compactMap { if case .received(_, let message) = $0 { message } else { nil } }
            return messages.count == count ? messages : nil
        }
    }
}

/// Frames of pairing.proto, written by hand: also those that no encoder of ours would write.
enum CodesBytes {
    /// An introduction as `node` would make it, to be spoilt by the caller.
    struct Introduction {
        var name = "stranger"
        var signingKey: [UInt8]
        var binding: [UInt8]
        var discoveryKey = [UInt8](repeating: 9, count: 32)
        var addresses = ["192.0.2.9:21817"]
        /// The bytes of a `Grant`.
        var grant: [UInt8]?

        init(_ node: Node) {
            signingKey = Array(node.identity.signingKey.publicKey.rawRepresentation)
            binding = node.identity.binding
        }

        /// The frame with this offer, its length before it.
        var frame: [UInt8] { CodesBytes.frame(field(1, statement)) }

        private var statement: [UInt8] {
            let parts = [Array(name.utf8), signingKey, binding, discoveryKey] + addresses.map { Array($0.utf8) }
            let fields = parts.enumerated().flatMap { index, part in field(min(index + 1, 5), part) }
            // members = 1
            return field(1, fields) + [0x10, 1] + (grant.map { field(3, $0) } ?? [])
        }
    }

    /// A field of bytes, text or a message.
    static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
        var head = [UInt8(number << 3 | 2)]
        var length = bytes.count
        while length >= 0x80 {
            head.append(UInt8(length & 0x7F | 0x80))
            length >>= 7
        }
        return head + [UInt8(length)] + bytes
    }

    /// A payload with its length before it.
    static func frame(_ payload: [UInt8]) -> [UInt8] {
        let count = UInt32(payload.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + payload
    }

    static func commitment(byteCount: Int = 32) -> [UInt8] {
        frame(field(2, [UInt8](repeating: 5, count: byteCount)))
    }
}
