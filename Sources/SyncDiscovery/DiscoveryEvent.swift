/// The reports of discovery to its owner. Every event is a hint: it names an address that may be worth dialling, and not which
/// device answers there.
package enum DiscoveryEvent: Sendable, Equatable {
    /// The state, at the start and then after every change.
    case state(DiscoveryState)
    /// Our own record stands on the network under this name (another one after a collision).
    case announced(instance: String)
    /// A record appeared, or one that was told before now says something else.
    case found(DiscoveryRecord)
    /// A record told by `found` is gone: its owner left, or Avahi did.
    case lost(RecordKey)
    /// A link or an address came or went. A sign of life: pending dials should be tried now.
    case interfacesChanged
}

/// `off → (unavailable ⇄ running)`; `off` stays when mDNS was not asked for, and is the last word of `stop`.
package enum DiscoveryState: Sendable, Equatable {
    case running
    case unavailable(DiscoveryTrouble)
    case off
}

/// The identity of a record. One host appears once for each interface and protocol it is heard on, so the key is that triple.
package struct RecordKey: Sendable, Hashable {
    package var instance: String
    package var interfaceIndex: Int32
    package var family: AddressFamily

    package init(instance: String, interfaceIndex: Int32, family: AddressFamily) {
        self.instance = instance
        self.interfaceIndex = interfaceIndex
        self.family = family
    }
}

package enum AddressFamily: String, Sendable, Hashable {
    case ipv4
    case ipv6
}

/// A resolved record. Everything in it was written by a stranger; what is kept passed `RecordFilter`, so it is short,
/// free of control characters, and its addresses are ones that a neighbour may have.
package struct DiscoveryRecord: Sendable, Equatable {
    package var key: RecordKey
    package var hostName: String
    package var interfaceName: String
    /// Numeric host text, ready to dial; link-local IPv6 carries its scope (`fe80::1%eth0`).
    package var addresses: [String]
    package var port: UInt16
    package var text: DiscoveryText

    package init(
        key: RecordKey, hostName: String, interfaceName: String, addresses: [String], port: UInt16, text: DiscoveryText
    ) {
        self.key = key
        self.hostName = hostName
        self.interfaceName = interfaceName
        self.addresses = addresses
        self.port = port
        self.text = text
    }
}
