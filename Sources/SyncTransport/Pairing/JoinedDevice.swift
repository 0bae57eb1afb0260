package import SyncModel

/// A device that a pairing admitted: its keys are proven, and it held the ticket or made it.
package struct JoinedDevice: Sendable, Equatable {
    package let deviceID: DeviceID
    /// DER, P-256, proven by TLS.
    package let subjectPublicKeyInfo: [UInt8]
    /// Ed25519 public key, 32 bytes, bound to the device by `binding`.
    package let signingKey: [UInt8]
    package let binding: [UInt8]
    /// 32 bytes.
    package let discoveryKey: [UInt8]
    /// A label, at most `Limits.deviceNameBytes`.
    package let name: String
    /// The addresses at which it says it may be dialled, at most 16, and last the address it was met at.
    package let addresses: [HostPort]
    /// The membership that it gives this device if this one is its guest. Nil from a device that joins by ticket, and from a
    /// version before roles: then this device is a writer, and facts tell the founder.
    package let grant: MembershipGrant?

    /// The fact that makes it a member.
    ///
    /// - Parameters:
    ///   - isHost: the author of the fact joins through this device.
    ///   - founder: the one that the author follows.
    ///   - until: the end of the membership.
    package func memberFact(
        role: MemberFact.Role, isHost: Bool = false, founder: DeviceID? = nil, until: UInt64? = nil
    ) -> MemberFact {
        MemberFact(
            subjectPublicKeyInfo: subjectPublicKeyInfo, signingKey: signingKey, binding: binding,
            discoveryKey: discoveryKey, role: role, name: name, isHost: isHost, founder: founder,
            until: until)
    }
}

/// The statements of a device about itself in a pairing, beside its keys.
package struct PairingProfile: Sendable, Equatable {
    package let name: String
    /// 32 bytes.
    package let discoveryKey: [UInt8]
    /// The addresses at which it listens, as others may dial it. Addresses with a scope are left out, and all beyond 16.
    package let addresses: [HostPort]

    package init(name: String, discoveryKey: [UInt8], addresses: [HostPort]) {
        precondition(discoveryKey.count == 32, "a discovery key has 32 bytes")
        self.name = name
        self.discoveryKey = discoveryKey
        self.addresses = Array(addresses.filter { !$0.hasScope }.prefix(Self.addressLimit))
    }

    static let addressLimit = 16
}
