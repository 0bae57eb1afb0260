import Crypto

/// The content of a `trust` operation: what an admin, or the recovery key, says of a device's role.
///
/// It is complete by itself: what it says, what its author knew and where it stands are signed, so a node can judge it without
/// the history that it stands in. Which statements hold is decided by `TrustLaw`.
package struct TrustStatement: Hashable, Sendable {
    /// The end of one history, at the boundary of a change. Histories that are not named end at 0.
    package struct End: Hashable, Sendable {
        package let incarnation: UInt64
        /// At least 1.
        package let end: UInt64

        package init(incarnation: UInt64, end: UInt64) {
            self.incarnation = incarnation
            self.end = end
        }
    }

    package enum Content: Hashable, Sendable {
        /// Gives a device a role, lower or higher. What needs more than the role is void beyond the ends.
        case role(DeviceID, MemberFact.Role, ends: [End])
        /// Gives a device that was revoked a role again. It undoes the statements that its author knew. The ends are those of a
        /// role.
        case readmission(DeviceID, MemberFact.Role, ends: [End])
        /// Ends all histories of a device. `wipes`: the device is told to delete what it holds of the space.
        case revocation(DeviceID, ends: [End], wipes: Bool)
        /// The public recovery key of the space: Ed25519, 32 bytes.
        case recoveryKey([UInt8])
    }

    package enum Signer: Hashable, Sendable {
        /// The device in whose history it stands.
        case author
        /// The recovery key, on whichever device it was used.
        case recoveryKey
    }

    package let content: Content
    package let signer: Signer
    /// The add-facts and statements known where it was written: of each history, all before the counter.
    package let knows: VersionVector
    /// Ed25519, 64 bytes, over `message`.
    package let signature: [UInt8]

    /// Creates the statement that stands at this dot.
    package init(
        _ content: Content, by signer: Signer, knows: VersionVector, at dot: Dot, in space: SpaceID,
        sign: ([UInt8]) -> [UInt8]
    ) {
        self.content = content
        self.signer = signer
        self.knows = knows
        signature = sign(Self.message(content, signer, knows, at: dot, in: space))
    }

    /// Creates a statement of the recovery key.
    package init(_ content: Content, by key: RecoveryKey, knows: VersionVector, at dot: Dot, in space: SpaceID) {
        self.init(content, by: .recoveryKey, knows: knows, at: dot, in: space, sign: key.sign)
    }

    package var isRecovery: Bool { signer == .recoveryKey }

    /// The device that it is about; nil for a key.
    package var device: DeviceID? {
        switch content {
        case .role(let device, _, _), .readmission(let device, _, _), .revocation(let device, _, _): device
        case .recoveryKey: nil
        }
    }

    /// The role that it gives; nil for a revocation and a key.
    package var role: MemberFact.Role? {
        switch content {
        case .role(_, let role, _), .readmission(_, let role, _): role
        case .revocation, .recoveryKey: nil
        }
    }

    package var isRevocation: Bool { if case .revocation = content { true } else { false } }

    /// True for a revocation that tells the device to delete what it holds.
    package var wipes: Bool { if case .revocation(_, _, wipes: true) = content { true } else { false } }

    package var isReadmission: Bool { if case .readmission = content { true } else { false } }

    /// Sorted by incarnation.
    package var ends: [End] {
        switch content {
        case .role(_, _, let ends), .readmission(_, _, let ends), .revocation(_, let ends, _): ends
        case .recoveryKey: []
        }
    }

    /// True if the key signed this statement for this place.
    ///
    /// - Parameter key: of its author, or the recovery key.
    package func isSigned(by key: [UInt8], at dot: Dot, in space: SpaceID) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
        return key.isValidSignature(signature, for: Self.message(content, signer, knows, at: dot, in: space))
    }

    /// True if its author can have known what it claims: it knows nothing of its own place or behind it, and of others what the
    /// vector covers.
    ///
    /// An admin's statement could otherwise know each later one: no revocation of it would ever hold.
    package func isWithin(_ vector: VersionVector, at dot: Dot) -> Bool {
        knows.entries.allSatisfy { $0.next <= ($0.replica == dot.replica ? dot.counter : vector.next(of: $0.replica)) }
    }

    /// The space, the place in the author's history, all else: so a signature cannot be used again elsewhere.
    private static func message(
        _ content: Content, _ signer: Signer, _ knows: VersionVector, at dot: Dot, in space: SpaceID
    ) -> [UInt8] {
        var bytes = Array("lanyard/trust/v1".utf8) + space.bytes + dot.replica.bytes
        bytes.append(varint: dot.counter)
        append(content, signer, knows, to: &bytes)
        return bytes
    }

    /// Returns the ends of all histories of a device at what its author holds.
    ///
    /// - Parameter tips: The tips of all replicas.
    package static func ends(
        of device: DeviceID, at tips: some Sequence<(replica: ReplicaID, next: UInt64)>
    ) -> [End] {
        tips.filter { $0.replica.device == device && $0.next > 0 }
            .map { End(incarnation: $0.replica.incarnation, end: $0.next) }
            .sorted { $0.incarnation < $1.incarnation }
    }
}

extension TrustStatement: ByteCoded {
    private enum Kind {
        static let role: UInt8 = 1
        static let readmission: UInt8 = 2
        static let revocation: UInt8 = 3
        static let recoveryKey: UInt8 = 4
    }

    /// Layout: 1 byte kind; device and, by kind, varint role, ends, 1 byte (1: wipe), or the key (32); 1 byte (1: signed by
    /// the recovery key); the entries that it knows; signature (64). Ends: varint count, each incarnation and varint end;
    /// ascending.
    package func append(to bytes: inout [UInt8]) {
        Self.append(content, signer, knows, to: &bytes)
        bytes += signature
    }

    private static func append(
        _ content: Content, _ signer: Signer, _ knows: VersionVector, to bytes: inout [UInt8]
    ) {
        append(content, to: &bytes)
        bytes.append(signer == .recoveryKey ? 1 : 0)
        bytes.append(entries: knows.entries)
    }

    private static func append(_ content: Content, to bytes: inout [UInt8]) {
        switch content {
        case .role(let device, let role, let ends):
            bytes.append(Kind.role)
            bytes += device.bytes
            bytes.append(varint: role.rawValue)
            append(ends, to: &bytes)
        case .readmission(let device, let role, let ends):
            bytes.append(Kind.readmission)
            bytes += device.bytes
            bytes.append(varint: role.rawValue)
            append(ends, to: &bytes)
        case .revocation(let device, let ends, let wipes):
            bytes.append(Kind.revocation)
            bytes += device.bytes
            append(ends, to: &bytes)
            bytes.append(wipes ? 1 : 0)
        case .recoveryKey(let key):
            bytes.append(Kind.recoveryKey)
            bytes += key
        }
    }

    private static func append(_ ends: [End], to bytes: inout [UInt8]) {
        bytes.append(varint: UInt64(ends.count))
        for end in ends {
            bytes.append(bigEndian: end.incarnation)
            bytes.append(varint: end.end)
        }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        switch try reader.byte() {
        case Kind.role:
            content = .role(
                try reader.device("trust.device"), try Self.role(&reader), ends: try Self.ends(&reader))
        case Kind.readmission:
            content = .readmission(
                try reader.device("trust.device"), try Self.role(&reader), ends: try Self.ends(&reader))
        case Kind.revocation:
            let (device, ends) = (try reader.device("trust.device"), try Self.ends(&reader))
            let flags = try reader.byte()
            guard flags <= 1 else { throw .outOfRange(field: "trust.flags") }
            content = .revocation(device, ends: ends, wipes: flags == 1)
        case Kind.recoveryKey:
            content = .recoveryKey(Array(reader.bytes[try reader.skip(32)]))
        case _: throw .outOfRange(field: "trust.kind")
        }
        switch try reader.byte() {
        case 0: signer = .author
        case 1: signer = .recoveryKey
        case _: throw .outOfRange(field: "trust.signer")
        }
        let entries = try reader.entries("trust.knows", upTo: Limits.contextEntries)
        guard entries.allSatisfy({ $0.next > 0 }) else { throw .outOfRange(field: "trust.knows") }
        knows = VersionVector(entries)
        signature = Array(reader.bytes[try reader.skip(64)])
    }

    private static func role(_ reader: inout ByteReader) throws(CodecError) -> MemberFact.Role {
        guard let role = MemberFact.Role(rawValue: try reader.varint()) else { throw .outOfRange(field: "trust.role") }
        return role
    }

    private static func ends(_ reader: inout ByteReader) throws(CodecError) -> [End] {
        let count = try reader.varint(upTo: UInt64(Limits.contextEntries), "trust.ends")
        guard count <= UInt64(reader.remainingCount / 9) else { throw .truncated }
        var ends: [End] = []
        for _ in 0..<count {
            let incarnation = try reader.bigEndianUInt64()
            if let last = ends.last, last.incarnation >= incarnation { throw .outOfRange(field: "trust.ends") }
            let end = try reader.varint(upTo: Limits.counters, "trust.end")
            guard end > 0 else { throw .outOfRange(field: "trust.end") }
            ends.append(End(incarnation: incarnation, end: end))
        }
        return ends
    }
}
