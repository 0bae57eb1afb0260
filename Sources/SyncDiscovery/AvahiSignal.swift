import CAvahi

/// The reports of Avahi's callbacks, as values. A callback only files one of these and never calls back into Avahi, so that no
/// object is freed while Avahi uses it. One place decides what to do (`DiscoveryThread`).
enum AvahiSignal {
    case client(AvahiClientState, error: Int32)
    case appeared(RecordKey, isOurs: Bool)
    case vanished(RecordKey)
    case browsingFailed(error: Int32)
    /// Nil: no answer, or one that is not worth keeping.
    case answered(RecordKey, DiscoveryRecord?)
    case group(OpaquePointer, AvahiEntryGroupState, error: Int32)
}

/// Bounds: the thread empties it after each callback.
final class SignalInbox {
    var signals: [AvahiSignal] = []

    static func from(_ context: UnsafeMutableRawPointer?) -> SignalInbox? {
        context.map { Unmanaged<SignalInbox>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension RecordKey {
    /// Builds the key of a record; nil for a name that no neighbour of ours would have.
    init?(interface: AvahiIfIndex, protocol avahiProtocol: AvahiProtocol, name: UnsafePointer<CChar>?) {
        guard let name, let instance = String(validatingCString: name), RecordFilter.accepts(instance: instance),
            interface > 0, let family = AddressFamily(avahiProtocol)
        else { return nil }
        self.init(instance: instance, interfaceIndex: interface, family: family)
    }
}

extension AddressFamily {
    init?(_ avahiProtocol: AvahiProtocol) {
        switch Int(avahiProtocol) {
        case Int(AVAHI_PROTO_INET): self = .ipv4
        case Int(AVAHI_PROTO_INET6): self = .ipv6
        case _: return nil
        }
    }

    var avahi: AvahiProtocol {
        switch self {
        case .ipv4: AvahiProtocol(AVAHI_PROTO_INET)
        case .ipv6: AvahiProtocol(AVAHI_PROTO_INET6)
        }
    }
}
