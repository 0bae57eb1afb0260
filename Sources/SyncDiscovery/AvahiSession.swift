import CAvahi
import Glibc

/// A connection to avahi-daemon with its browser, look-ups and entry groups. They live and end together, since Avahi frees a
/// client's objects with the client. Confined to the discovery thread.
///
/// Calls wait for the daemon's answer over D-Bus: usually 0.2 ms, up to 25 s if it hangs.
final class AvahiSession {
    static let serviceType = "_lanyard._tcp"

    private let client: OpaquePointer
    private let inbox: SignalInbox
    private var browser: OpaquePointer?
    private var lookUps: [RecordKey: OpaquePointer] = [:]

    enum Opening {
        case opened(AvahiSession)
        case refused(error: Int32)
    }

    /// Opens a client. Without a daemon it waits for one (AVAHI_CLIENT_NO_FAIL); without a bus it is refused.
    static func open(on loop: PollLoop, inbox: SignalInbox) -> Opening {
        var error: Int32 = 0
        let callback: AvahiClientCallback = { client, state, context in
            SignalInbox.from(context)?.signals.append(
                .client(state, error: client.map { avahi_client_errno($0) } ?? 0))
        }
        let context = Unmanaged.passUnretained(inbox).toOpaque()
        let client = avahi_client_new(loop.api, AVAHI_CLIENT_NO_FAIL, callback, context, &error)
        guard let client else { return .refused(error: error) }
        return .opened(AvahiSession(client: client, inbox: inbox))
    }

    private init(client: OpaquePointer, inbox: SignalInbox) {
        self.client = client
        self.inbox = inbox
    }

    /// Frees the client and discards pending signals, which concern objects that are gone.
    deinit {
        avahi_client_free(client)
        inbox.signals = []
    }

    var lastError: Int32 { avahi_client_errno(client) }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(inbox).toOpaque() }

    // MARK: Browsing

    /// False if the daemon refused.
    func browse() -> Bool {
        guard browser == nil else { return true }
        browser = avahi_service_browser_new(
            client, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC), Self.serviceType, nil,
            AvahiLookupFlags(0), browserCallback, context)
        return browser != nil
    }

    // MARK: Looking up

    /// False if it could not even be asked.
    func lookUp(_ key: RecordKey) -> Bool {
        stopLookingUp(key)
        let resolver = avahi_service_resolver_new(
            client, key.interfaceIndex, key.family.avahi, key.instance, Self.serviceType, nil, key.family.avahi,
            AvahiLookupFlags(0), resolverCallback, context)
        lookUps[key] = resolver
        return resolver != nil
    }

    func stopLookingUp(_ key: RecordKey) {
        if let resolver = lookUps.removeValue(forKey: key) { avahi_service_resolver_free(resolver) }
    }

    // MARK: Announcing

    func makeGroup() -> OpaquePointer? {
        avahi_entry_group_new(client, groupCallback, context)
    }
}

private let browserCallback: AvahiServiceBrowserCallback = {
    browser, interface, avahiProtocol, event, name, _, _, flags, context in
    guard let inbox = SignalInbox.from(context) else { return }
    if event == AVAHI_BROWSER_FAILURE {
        let error = browser.map { avahi_client_errno(avahi_service_browser_get_client($0)) } ?? 0
        inbox.signals.append(.browsingFailed(error: error))
        return
    }
    guard let key = RecordKey(interface: interface, protocol: avahiProtocol, name: name) else { return }
    if event == AVAHI_BROWSER_NEW {
        let isOurs = flags.rawValue & AVAHI_LOOKUP_RESULT_OUR_OWN.rawValue != 0
        inbox.signals.append(.appeared(key, isOurs: isOurs))
    } else if event == AVAHI_BROWSER_REMOVE {
        inbox.signals.append(.vanished(key))
    }
}

private let resolverCallback: AvahiServiceResolverCallback = {
    _, interface, avahiProtocol, event, name, _, _, hostName, address, port, text, _, context in
    guard let inbox = SignalInbox.from(context),
        let key = RecordKey(interface: interface, protocol: avahiProtocol, name: name)
    else { return }
    guard event == AVAHI_RESOLVER_FOUND, port > 0, let address, let hostName,
        let host = String(validatingCString: hostName), RecordFilter.accepts(hostName: host)
    else {
        inbox.signals.append(.answered(key, nil))
        return
    }
    let interfaceName = interfaceName(interface)
    let hostText = RecordFilter.hostText(address: bytes(of: address.pointee), interfaceName: interfaceName)
    let record = hostText.map {
        DiscoveryRecord(
            key: key, hostName: host, interfaceName: interfaceName, addresses: [$0], port: port,
            text: DiscoveryText(strings: strings(of: text)))
    }
    inbox.signals.append(.answered(key, record))
}

private let groupCallback: AvahiEntryGroupCallback = { group, state, context in
    guard let group, let inbox = SignalInbox.from(context) else { return }
    let error = avahi_client_errno(avahi_entry_group_get_client(group))
    inbox.signals.append(.group(group, state, error: error))
}

private func interfaceName(_ index: AvahiIfIndex) -> String {
    var buffer = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    guard if_indextoname(UInt32(bitPattern: index), &buffer) != nil else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

private func bytes(of address: AvahiAddress) -> [UInt8] {
    switch AddressFamily(address.proto) {
    case .ipv4: withUnsafeBytes(of: address.data.ipv4) { Array($0) }
    case .ipv6: withUnsafeBytes(of: address.data.ipv6) { Array($0) }
    case nil: []
    }
}

/// The list is as long as a stranger made it: only a little more than what `DiscoveryText` looks at is copied.
private func strings(of list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
    var strings: [[UInt8]] = []
    var next = list
    while let item = next, strings.count < 32 {
        let size = avahi_string_list_get_size(item)
        if size <= 255, let text = avahi_string_list_get_text(item) {
            strings.append(Array(UnsafeBufferPointer(start: text, count: size)))
        }
        next = avahi_string_list_get_next(item)
    }
    return strings
}
