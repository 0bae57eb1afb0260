package import SyncModel

/// An address to dial: where a member was last met, or one a person added.
package struct PeerAddress: Sendable, Hashable {
    package let host: String
    package let port: UInt16
    /// Nil until a device answered there.
    package let device: DeviceID?
    package let isStatic: Bool
    package let lastConnectedMilliseconds: Int64?

    package init(host: String, port: UInt16, device: DeviceID?, isStatic: Bool, lastConnectedMilliseconds: Int64?) {
        self.host = host
        self.port = port
        self.device = device
        self.isStatic = isStatic
        self.lastConnectedMilliseconds = lastConnectedMilliseconds
    }
}
