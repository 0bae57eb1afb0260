import Crypto

/// The content of an `addMember` operation: "This device is a member." Its author's signature on the chain vouches for it.
///
/// The device key's own signature binds the Ed25519 signing key to the device. So no other device can give a device a signing
/// key that is not its own.
package struct MemberFact: Hashable, Sendable {
    /// The rights of a member. The order is that of power. The raw value is its number in an encoded statement; in a fact an admin
    /// is a writer with a flag, which versions before roles understand.
    package enum Role: UInt64, Sendable, CaseIterable, Comparable {
        case writer = 1
        case reader = 2
        case admin = 3

        private var power: Int {
            switch self {
            case .reader: 0
            case .writer: 1
            case .admin: 2
            }
        }

        package static func < (left: Role, right: Role) -> Bool { left.power < right.power }
    }

    /// DER, P-256. Its SHA-256 is the DeviceID.
    package let subjectPublicKeyInfo: [UInt8]
    /// Ed25519 public key, 32 bytes.
    package let signingKey: [UInt8]
    /// The device key's ECDSA signature (raw, r ‖ s) over `bindingMessage`.
    package let binding: [UInt8]
    /// 32 random bytes with which the device's group may recognise each other on the network.
    package let discoveryKey: [UInt8]
    package let role: Role
    /// A label, not an identity.
    package let name: String
    /// The founder that the author follows; nil in facts of versions before founders.
    package let founder: DeviceID?
    /// The time at which the membership ends, in seconds since 1970; nil if it does not end by itself. It decides nothing: an
    /// admin's agent revokes the device then.
    package let until: UInt64?
    /// Bit 0: the author joined through this device. Bit 1: a founder follows. Bit 2: the device is an admin. Bit 3: a time
    /// follows, `until`. Bit 4: see `isReturn`. Others are a later version's, and kept.
    private let flags: UInt64
    /// Fields of a later version, kept byte for byte.
    package let laterFields: [UInt8]

    package let device: DeviceID

    package init(
        subjectPublicKeyInfo: [UInt8], signingKey: [UInt8], binding: [UInt8], discoveryKey: [UInt8], role: Role,
        name: String, isHost: Bool = false, founder: DeviceID? = nil, until: UInt64? = nil, laterFields: [UInt8] = []
    ) {
        self.init(
            subjectPublicKeyInfo: subjectPublicKeyInfo, signingKey: signingKey, binding: binding,
            discoveryKey: discoveryKey, role: role, name: name, founder: founder, until: until,
            flags: isHost ? Self.hostFlag : 0, laterFields: laterFields)
    }

    private init(
        subjectPublicKeyInfo: [UInt8], signingKey: [UInt8], binding: [UInt8], discoveryKey: [UInt8], role: Role,
        name: String, founder: DeviceID?, until: UInt64?, flags: UInt64, laterFields: [UInt8]
    ) {
        self.subjectPublicKeyInfo = subjectPublicKeyInfo
        self.signingKey = signingKey
        self.binding = binding
        self.discoveryKey = discoveryKey
        self.role = role
        self.name = name
        self.founder = founder
        self.until = until
        self.flags =
            flags & ~Self.founderFlag & ~Self.adminFlag & ~Self.untilFlag | (founder == nil ? 0 : Self.founderFlag)
            | (role == .admin ? Self.adminFlag : 0) | (until == nil ? 0 : Self.untilFlag)
        self.laterFields = laterFields
        device = DeviceID(subjectPublicKeyInfo: subjectPublicKeyInfo)
    }

    private static let hostFlag: UInt64 = 1
    private static let founderFlag: UInt64 = 2
    private static let adminFlag: UInt64 = 4
    private static let untilFlag: UInt64 = 8
    private static let returnFlag: UInt64 = 16

    /// True if the author joined the space through this device. Such a fact answers an invitation, and is not one.
    package var isHost: Bool { flags & Self.hostFlag != 0 }

    /// True if an agent wrote the fact by itself, because a device that was retired is back. It ends the retirement, and makes
    /// no device a member: its author may not have heard yet that what made this one a member is void.
    package var isReturn: Bool { flags & Self.returnFlag != 0 }

    /// The same device, as an agent says by itself that it is back.
    package var asReturn: MemberFact {
        copy(role: role, founder: founder, until: until, flags: flags & ~Self.hostFlag | Self.returnFlag)
    }

    /// The same statement by an author that follows this founder.
    package func following(_ founder: DeviceID?) -> MemberFact {
        copy(role: role, founder: founder, until: until, flags: flags)
    }

    /// The same device, admitted with at most this role.
    package func limited(to role: Role) -> MemberFact {
        copy(role: min(self.role, role), founder: founder, until: until, flags: flags)
    }

    /// The same device, admitted until this time; nil: until it is let go.
    package func ending(at until: UInt64?) -> MemberFact {
        copy(role: role, founder: founder, until: until, flags: flags)
    }

    private func copy(role: Role, founder: DeviceID?, until: UInt64?, flags: UInt64) -> MemberFact {
        MemberFact(
            subjectPublicKeyInfo: subjectPublicKeyInfo, signingKey: signingKey, binding: binding,
            discoveryKey: discoveryKey, role: role, name: name, founder: founder, until: until, flags: flags,
            laterFields: laterFields)
    }

    /// Returns the message that the device key signs to bind `signingKey` to itself.
    package static func bindingMessage(signingKey: [UInt8]) -> [UInt8] { Array("lanyard/binding/v1".utf8) + signingKey }

    /// False for a key that is no P-256 key or a signature that is not its own: such a fact is void on every node.
    package var isBound: Bool {
        guard let key = try? P256.Signing.PublicKey(derRepresentation: subjectPublicKeyInfo),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: binding)
        else { return false }
        return key.isValidSignature(signature, for: Self.bindingMessage(signingKey: signingKey))
    }
}

extension MemberFact {
    /// Layout: SPKI, signing key (32), binding, discovery key (32), role, name; parts of free length are prefixed with it. Flags follow
    /// where one is set or fields of a later version do, then the founder (32) if bit 1 is set, then varint `until` if bit 3 is.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(lengthPrefixed: subjectPublicKeyInfo)
        bytes += signingKey
        bytes.append(lengthPrefixed: binding)
        bytes += discoveryKey
        bytes.append(varint: min(role, .writer).rawValue)
        bytes.append(lengthPrefixed: name.utf8)
        if flags != 0 || !laterFields.isEmpty { bytes.append(varint: flags) }
        if let founder { bytes += founder.bytes }
        if let until { bytes.append(varint: until) }
        bytes += laterFields
        return bytes
    }

    /// Bytes after the last field are a later version's.
    package init(encoded bytes: [UInt8], _ range: Range<Int>) throws(CodecError) {
        guard range.count <= Limits.memberFactBytes else { throw .outOfRange(field: "member") }
        var reader = ByteReader(bytes, range)
        let spki = try reader.lengthPrefixed(upTo: Limits.subjectPublicKeyBytes, "member.spki")
        let signingKey = try reader.skip(32)
        let binding = try reader.lengthPrefixed(upTo: Limits.bindingBytes, "member.binding")
        let discoveryKey = try reader.skip(32)
        guard let role = Role(rawValue: try reader.varint()), role != .admin else {
            throw .outOfRange(field: "member.role")
        }
        let name = try reader.lengthPrefixed(upTo: Limits.deviceNameBytes, "member.name")
        guard Name.isText(bytes[name]) else { throw .outOfRange(field: "member.name") }
        var flags: UInt64 = 0
        if !reader.isAtEnd {
            flags = try reader.varint()
            guard flags != 0 || !reader.isAtEnd else { throw .outOfRange(field: "member.flags") }
        }
        // A reader is no admin.
        guard flags & Self.adminFlag == 0 || role == .writer else { throw .outOfRange(field: "member.flags") }
        var founder: DeviceID?
        if flags & Self.founderFlag != 0 { founder = DeviceID(bytes: bytes[try reader.skip(DeviceID.byteCount)]) }
        let until = flags & Self.untilFlag != 0 ? try reader.varint() : nil
        self.init(
            subjectPublicKeyInfo: Array(bytes[spki]), signingKey: Array(bytes[signingKey]),
            binding: Array(bytes[binding]), discoveryKey: Array(bytes[discoveryKey]),
            role: flags & Self.adminFlag != 0 ? .admin : role,
            name: String(decoding: bytes[name], as: UTF8.self), founder: founder, until: until, flags: flags,
            laterFields: Array(bytes[reader.position..<range.upperBound]))
    }
}
