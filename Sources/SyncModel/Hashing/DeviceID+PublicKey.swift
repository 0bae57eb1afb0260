import Crypto

extension DeviceID {
    /// The device that holds the key with this SPKI (DER).
    public init(subjectPublicKeyInfo: [UInt8]) {
        guard let id = DeviceID(bytes: Array(SHA256.hash(data: subjectPublicKeyInfo))) else {
            preconditionFailure("SHA-256 gives 32 bytes")
        }
        self = id
    }
}
