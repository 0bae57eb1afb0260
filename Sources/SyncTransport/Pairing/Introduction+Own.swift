import Crypto

extension Introduction {
    /// Introduces this device.
    init(_ identity: DeviceIdentity, _ profile: PairingProfile) {
        subjectPublicKeyInfo = identity.subjectPublicKeyInfo
        signingKey = Array(identity.signingKey.publicKey.rawRepresentation)
        binding = identity.binding
        discoveryKey = profile.discoveryKey
        name = profile.name
        addresses = profile.addresses.map(\.description)
    }
}
