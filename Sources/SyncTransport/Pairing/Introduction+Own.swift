import Crypto

extension Introduction {
    /// This device.
    init(_ identity: DeviceIdentity, _ profile: PairingProfile) {
        subjectPublicKeyInfo = identity.subjectPublicKeyInfo
        signingKey = Array(identity.signingKey.publicKey.rawRepresentation)
        binding = identity.binding
        discoveryKey = profile.discoveryKey
        name = profile.name
        addresses = profile.addresses.map(\.description)
    }
}
