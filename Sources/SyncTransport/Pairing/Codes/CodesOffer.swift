package import SyncModel

/// The offer of a device that pairs by codes: what it says of itself, and the number of members of its space.
package struct CodesOffer {
    /// Without the address at which it was met.
    package let device: JoinedDevice
    package let memberCount: UInt64

    /// - Parameter fact: what a member fact says of the device.
    package init(_ fact: MemberFact, addresses: [HostPort], memberCount: UInt64) {
        device = JoinedDevice(
            deviceID: fact.device, subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey,
            binding: fact.binding, discoveryKey: fact.discoveryKey, name: fact.name, addresses: addresses)
        self.memberCount = memberCount
    }

    /// Nil for bytes that are no offer, fields outside their limits, and a signing key that is not bound to the device's key.
    ///
    /// - Parameter key: the DER of the key that TLS proved.
    package init?(_ bytes: [UInt8], key: [UInt8]) {
        guard let (introduction, memberCount) = CodesFrames.readOffer(bytes, key: key),
            let device = introduction.joined(metAt: nil)
        else { return nil }
        self.device = device
        self.memberCount = memberCount
    }

    package var encoded: [UInt8] { CodesFrames.offer(Introduction(device), memberCount: memberCount) }
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
