import Crypto

/// "This device is a member": what an `addMember` operation says. Its author's signature on the chain vouches for it.
///
/// The Ed25519 signing key is bound to the device by the device key's own signature, so nobody can give a device a
/// signing key that is not its own.
package struct MemberFact: Hashable, Sendable {
    package enum Role: UInt64, Sendable {
        case writer = 1
        case reader = 2
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
    /// Fields of a later version, kept byte for byte.
    package let laterFields: [UInt8]

    package let device: DeviceID

    package init(
        subjectPublicKeyInfo: [UInt8], signingKey: [UInt8], binding: [UInt8], discoveryKey: [UInt8], role: Role,
        name: String, laterFields: [UInt8] = []
    ) {
        self.subjectPublicKeyInfo = subjectPublicKeyInfo
        self.signingKey = signingKey
        self.binding = binding
        self.discoveryKey = discoveryKey
        self.role = role
        self.name = name
        self.laterFields = laterFields
        device = DeviceID(subjectPublicKeyInfo: subjectPublicKeyInfo)
    }

    /// What the device key signs to bind `signingKey` to itself.
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
    /// Layout: SPKI, signing key (32), binding, discovery key (32), role, name; parts of free length are prefixed with it.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(lengthPrefixed: subjectPublicKeyInfo)
        bytes += signingKey
        bytes.append(lengthPrefixed: binding)
        bytes += discoveryKey
        bytes.append(varint: role.rawValue)
        bytes.append(lengthPrefixed: name.utf8)
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
        guard let role = Role(rawValue: try reader.varint()) else { throw .outOfRange(field: "member.role") }
        let name = try reader.lengthPrefixed(upTo: Limits.deviceNameBytes, "member.name")
        guard Name.isText(bytes[name]) else { throw .outOfRange(field: "member.name") }
        self.init(
            subjectPublicKeyInfo: Array(bytes[spki]), signingKey: Array(bytes[signingKey]),
            binding: Array(bytes[binding]), discoveryKey: Array(bytes[discoveryKey]), role: role,
            name: String(decoding: bytes[name], as: UTF8.self),
            laterFields: Array(bytes[reader.position..<range.upperBound]))
    }
}
