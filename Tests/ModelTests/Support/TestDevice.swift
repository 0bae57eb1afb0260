import Crypto
import SyncModel

/// A device with keys made from one number: the same in every run.
struct TestDevice {
    let deviceKey: P256.Signing.PrivateKey
    let signing: Curve25519.Signing.PrivateKey
    let fact: MemberFact

    var id: DeviceID { fact.device }
    var signingKey: [UInt8] { Array(signing.publicKey.rawRepresentation) }

    init(
        _ number: UInt8, role: MemberFact.Role = .writer, name: String = "device", isHost: Bool = false,
        founder: DeviceID? = nil, until: UInt64? = nil
    ) throws {
        deviceKey = try P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: number, count: 32))
        signing = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: number, count: 32))
        let key = Array(signing.publicKey.rawRepresentation)
        fact = MemberFact(
            subjectPublicKeyInfo: Array(deviceKey.publicKey.derRepresentation), signingKey: key,
            binding: Array(
                try deviceKey.signature(for: MemberFact.bindingMessage(signingKey: key)).rawRepresentation),
            discoveryKey: [UInt8](repeating: number, count: 32), role: role, name: name, isHost: isHost,
            founder: founder, until: until)
    }

    func replica(_ incarnation: UInt64 = 1) -> ReplicaID { ReplicaID(device: id, incarnation: incarnation) }

    func sign(_ message: [UInt8]) -> [UInt8] {
        guard let signature = try? signing.signature(for: message) else { return [] }
        return Array(signature)
    }

    func author(_ incarnation: UInt64 = 1) -> ChangeAuthor {
        let replica = replica(incarnation)
        return ChangeAuthor(
            space: .home, replica: replica, tip: .empty(space: .home, replica: replica), named: VersionVector())
    }

    /// Segments of `groups` as this device would write them, nothing of others held unless `held` says so.
    func segments(
        _ groups: [[Operation]], with author: inout ChangeAuthor, held: VersionVector = VersionVector(),
        greatest: Stamp = .zero, wall: Int64 = 1_700_000_000_000
    ) throws -> [VerifiedSegment] {
        struct StampsExhausted: Error {}
        let segments = author.author(
            groups, held: held, greatestStamp: greatest, wallMilliseconds: wall, sign: sign)
        guard let segments else { throw StampsExhausted() }
        return segments
    }
}

extension Operation {
    static func event(_ number: Int, stream: String = "log") -> Operation {
        .appendEvent(Event(stream: stream, type: nil, payload: Array("{\"n\":\(number)}".utf8)))
    }
}
