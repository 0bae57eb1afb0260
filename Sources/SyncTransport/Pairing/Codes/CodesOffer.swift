package import SyncModel

/// The offer of a device that pairs by codes: what it says of itself, and the number of members of its space.
package struct CodesOffer {
    /// Without the address at which it was met.
    package let device: JoinedDevice
    package let memberCount: UInt64

    /// - Parameters:
    ///   - fact: what a member fact says of the device.
    ///   - grant: what its guest becomes.
    package init(_ fact: MemberFact, addresses: [HostPort], memberCount: UInt64, grant: MembershipGrant? = nil) {
        device = JoinedDevice(
            deviceID: fact.device, subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey,
            binding: fact.binding, discoveryKey: fact.discoveryKey, name: fact.name, addresses: addresses,
            grant: grant)
        self.memberCount = memberCount
    }

    /// Nil for bytes that are no offer, fields outside their limits, and a signing key that is not bound to the device's key.
    ///
    /// - Parameter key: the DER of the key that TLS proved.
    package init?(_ bytes: [UInt8], key: [UInt8]) {
        guard let (introduction, memberCount, grant) = CodesFrames.readOffer(bytes, key: key),
            let device = introduction.joined(metAt: nil, grant: grant)
        else { return nil }
        self.device = device
        self.memberCount = memberCount
    }

    package var encoded: [UInt8] {
        CodesFrames.offer(Introduction(device), memberCount: memberCount, grant: device.grant)
    }
}

extension Introduction {
    fileprivate init(_ device: JoinedDevice) {
        subjectPublicKeyInfo = device.subjectPublicKeyInfo
        signingKey = device.signingKey
        binding = device.binding
        discoveryKey = device.discoveryKey
        name = device.name
        addresses = device.addresses.map(\.description)
    }
}
