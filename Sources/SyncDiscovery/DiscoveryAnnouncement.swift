/// The announcement of this agent on the network: a port and a tag that members recognise.
package struct DiscoveryAnnouncement: Sendable, Equatable {
    package var port: UInt16
    /// The tag of today (`DiscoveryTag.tag`), or nil while the device shares its space with no other.
    package var tag: [UInt8]?
    /// True while a person at this device pairs by typed codes.
    package var isPairing: Bool

    package init(port: UInt16, tag: [UInt8]?, isPairing: Bool = false) {
        self.port = port
        self.tag = tag
        self.isPairing = isPairing
    }

    var text: DiscoveryText { DiscoveryText(version: DiscoveryText.ownVersion, tag: tag, isPairing: isPairing) }
}

package struct DiscoveryConfiguration: Sendable, Equatable {
    /// False for `--no-mdns`: Avahi is never asked, interfaces are still watched.
    package var usesMulticast: Bool
    /// `--announce ADDRESS`: the addresses to announce instead of those that Avahi finds on the usual interfaces.
    package var announceAddresses: [String]

    package init(usesMulticast: Bool = true, announceAddresses: [String] = []) {
        self.usesMulticast = usesMulticast
        self.announceAddresses = announceAddresses
    }
}

/// Generates names for the network: random, new at each start and after a collision, so that no device can be followed by its
/// name.
enum InstanceName {
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<8).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
