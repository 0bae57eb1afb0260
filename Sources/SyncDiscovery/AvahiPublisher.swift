import CAvahi

/// Our record on the network: one entry group for each place it stands in, so that an interface that comes or goes does
/// not make the record flicker on the others. Confined to the discovery thread; belongs to one `AvahiSession`.
final class AvahiPublisher {
    /// A place to stand in: an interface, and the address to name there if `--announce` chose one.
    struct Place: Hashable {
        var interfaceIndex: Int32
        var address: [UInt8]?

        var avahiProtocol: AvahiProtocol {
            switch address?.count {
            case 4: AddressFamily.ipv4.avahi
            case 16: AddressFamily.ipv6.avahi
            case _: AvahiProtocol(AVAHI_PROTO_UNSPEC)
            }
        }
    }

    private struct Group {
        var pointer: OpaquePointer
        var instance: String
        var announcement: DiscoveryAnnouncement
    }

    private let session: AvahiSession
    private var groups: [Place: Group] = [:]

    init(session: AvahiSession) {
        self.session = session
    }

    func owns(_ group: OpaquePointer) -> Bool {
        groups.values.contains { $0.pointer == group }
    }

    /// Makes the network say exactly this; returns Avahi's error if it refused (what stood is then withdrawn).
    func publish(_ announcement: DiscoveryAnnouncement, as instance: String, in places: [Place]) -> Int32? {
        for place in groups.keys where !places.contains(place) { withdraw(from: place) }
        for place in places {
            if let group = groups[place] {
                guard group.instance != instance || group.announcement != announcement else { continue }
                if group.instance == instance, group.announcement.port == announcement.port {
                    if updateText(announcement, of: group, in: place) { continue }
                }
                withdraw(from: place)
            }
            if let error = add(announcement, as: instance, in: place) { return error }
        }
        return nil
    }

    func withdrawAll() {
        groups.keys.forEach(withdraw)
    }

    private func withdraw(from place: Place) {
        if let group = groups.removeValue(forKey: place) { avahi_entry_group_free(group.pointer) }
    }

    private func updateText(_ announcement: DiscoveryAnnouncement, of group: Group, in place: Place) -> Bool {
        let result = withStringList(announcement.text) { text in
            avahi_entry_group_update_service_txt_strlst(
                group.pointer, place.interfaceIndex, place.avahiProtocol, AvahiPublishFlags(0), group.instance,
                AvahiSession.serviceType, nil, text)
        }
        guard result >= 0 else { return false }
        groups[place]?.announcement = announcement
        return true
    }

    private func add(_ announcement: DiscoveryAnnouncement, as instance: String, in place: Place) -> Int32? {
        guard let pointer = session.makeGroup() else { return session.lastError }
        let hostName = place.address.map { _ in "\(instance).local" }
        var result: Int32 = 0
        if let address = place.address, let hostName {
            result = addHost(hostName, address, to: pointer, in: place)
        }
        if result >= 0 {
            result = withStringList(announcement.text) { text in
                avahi_entry_group_add_service_strlst(
                    pointer, place.interfaceIndex, place.avahiProtocol, AvahiPublishFlags(0), instance,
                    AvahiSession.serviceType, nil, hostName, announcement.port, text)
            }
        }
        if result >= 0 { result = avahi_entry_group_commit(pointer) }
        guard result >= 0 else {
            avahi_entry_group_free(pointer)
            return result
        }
        groups[place] = Group(pointer: pointer, instance: instance, announcement: announcement)
        return nil
    }

    /// A host name of our own that leads to the chosen address only. No reverse entry: the machine's own name has it.
    private func addHost(_ name: String, _ address: [UInt8], to group: OpaquePointer, in place: Place) -> Int32 {
        var avahi = AvahiAddress()
        avahi.proto = place.avahiProtocol
        withUnsafeMutableBytes(of: &avahi.data) { $0.copyBytes(from: address) }
        return avahi_entry_group_add_address(
            group, place.interfaceIndex, place.avahiProtocol, AVAHI_PUBLISH_NO_REVERSE, name, &avahi)
    }
}

extension AvahiPublisher {
    /// Returns the places of the record: every interface that leads to neighbours, or the addresses chosen by `--announce` on
    /// the interface that has them (on all, if none has: the address is then a router's or a host's).
    static func places(_ interfaces: NetworkInterfaces, chosen addresses: [[UInt8]]) -> [Place] {
        let usual = interfaces.announced
        guard !addresses.isEmpty else { return usual.map { Place(interfaceIndex: $0.index, address: nil) } }
        return addresses.flatMap { address in
            let owners = interfaces.all.filter {
                $0.addresses.contains(address) && $0.isRunning && $0.reachesNeighbours
            }
            return (owners.isEmpty ? usual : owners).map { Place(interfaceIndex: $0.index, address: address) }
        }
    }
}

/// A TXT list for the length of a call. Avahi prepends, so the last string goes in first.
private func withStringList<Result>(
    _ text: DiscoveryText, _ body: (UnsafeMutablePointer<AvahiStringList>?) -> Result
) -> Result {
    let list = text.strings.reversed().reduce(nil) { avahi_string_list_add($0, $1) }
    defer { avahi_string_list_free(list) }
    return body(list)
}
