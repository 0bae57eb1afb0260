import NIOCore
import Synchronization
import SyncModel
import SyncTransport

/// A device that can invite and join.
final class Pairer: Sendable {
    let node: Node
    let profile: PairingProfile
    let admitted = History<JoinedDevice>()
    /// Admissions that were begun.
    let asked = History<DeviceID>()
    let clock = Mutex<Int64>(1_700_000_000_000)
    let isFailing = Mutex(false)
    let founder = Mutex<DeviceID?>(nil)
    let onMet = Mutex<@Sendable (JoinedDevice) -> Void>({ _ in })
    let onAdmitting = Mutex<@Sendable () -> Void>({})
    private let gate = History<Bool>()

    struct CannotWrite: Error {}

    init(_ name: String, isSlow: Bool = false) async throws {
        node = try await Node()
        let key = [UInt8](repeating: UInt8(name.utf8.first!), count: 32)
        profile = PairingProfile(name: name, discoveryKey: key, addresses: [HostPort(text: "192.0.2.7:21817")!])
        if !isSlow { gate.append(true) }
        let (identity, profile) = (node.identity, profile)
        try await node.on { transport in
            transport.inviter = TicketInviter(
                identity: identity, limits: .patient, store: MemoryTicketStore(),
                nowMilliseconds: { [weak self] in self?.now ?? 0 },
                profile: { profile }, founder: { [weak self] in self?.founder.withLock(\.self) },
                admit: { [weak self] device, _ in
                    self?.asked.append(device.deviceID)
                    _ = try await self?.gate.first("the gate to open") { $0.first }
                    try self?.admit(device)
                },
                met: { [weak self] device in self?.onMet.withLock(\.self)(device) })
        }
    }

    var now: Int64 { clock.withLock { $0 } }

    func letThrough() { gate.append(true) }

    func admit(_ device: JoinedDevice) throws {
        onAdmitting.withLock(\.self)()
        if isFailing.withLock({ $0 }) { throw CannotWrite() }
        admitted.append(device)
    }

    func invite(as role: MemberFact.Role = .writer) async throws -> Ticket {
        let address = try await node.listen()
        return try await node.on { $0.inviter!.issue(addresses: [address], role: role) }
    }

    func join(_ ticket: Ticket, alsoAt others: [HostPort] = []) async throws -> JoinedDevice {
        let (profile, now) = (profile, now)
        return try await node.onFlat { [self] transport in
            let loop = transport.eventLoop
            return transport.join(ticket, alsoAt: others, as: profile, nowMilliseconds: now) { [self] device in
                loop.makeCompletedFuture { try admit(device) }
            }
        }
    }
}
