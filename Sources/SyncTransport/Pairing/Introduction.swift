import Foundation
import SwiftProtobuf
import SyncModel

/// A side of a pairing as the other sees it: the key TLS proved, and the device's own statements.
struct Introduction: Equatable {
    let subjectPublicKeyInfo: [UInt8]
    let signingKey: [UInt8]
    let binding: [UInt8]
    let discoveryKey: [UInt8]
    let name: String
    /// Text forms, as they came: the proof is over these bytes.
    let addresses: [String]

    /// The peer, with the key that TLS proved. Nil for fields outside their limits.
    init?(_ message: Lanyard_Pairing_V1_Introduction, subjectPublicKeyInfo: [UInt8]) {
        guard message.signingKey.count == 32, message.binding.count == 64, message.discoveryKey.count == 32,
            Name.isText(message.name.utf8), message.addresses.count <= PairingProfile.addressLimit,
            message.addresses.allSatisfy({ HostPort(text: $0) != nil })
        else { return nil }
        self.subjectPublicKeyInfo = subjectPublicKeyInfo
        signingKey = Array(message.signingKey)
        binding = Array(message.binding)
        discoveryKey = Array(message.discoveryKey)
        name = message.name
        addresses = message.addresses
    }

    var message: Lanyard_Pairing_V1_Introduction {
        .with {
            $0.name = name
            $0.signingKey = Data(signingKey)
            $0.binding = Data(binding)
            $0.discoveryKey = Data(discoveryKey)
            $0.addresses = addresses
        }
    }

    /// Nil unless the signing key is bound to a P-256 device key.
    /// - Parameters:
    ///   - metAt: an address that worked, kept beside those it names.
    ///   - grant: what the peer makes of this device.
    func joined(metAt: HostPort?, grant: MembershipGrant? = nil) -> JoinedDevice? {
        var reachable = addresses.compactMap(HostPort.init(text:))
        if let metAt, !reachable.contains(metAt) { reachable.append(metAt) }
        let device = JoinedDevice(
            deviceID: DeviceID(subjectPublicKeyInfo: subjectPublicKeyInfo), subjectPublicKeyInfo: subjectPublicKeyInfo,
            signingKey: signingKey, binding: binding, discoveryKey: discoveryKey, name: name, addresses: reachable,
            grant: grant)
        return device.memberFact(role: .writer).isBound ? device : nil
    }

    /// Every field with its length before it, so that no two introductions have the same bytes.
    var provenBytes: [UInt8] {
        var bytes: [UInt8] = []
        for field in [Array(name.utf8), signingKey, binding, discoveryKey] { bytes.append(lengthPrefixed: field) }
        bytes.append(varint: UInt64(addresses.count))
        for address in addresses { bytes.append(lengthPrefixed: address.utf8) }
        return bytes
    }
}
