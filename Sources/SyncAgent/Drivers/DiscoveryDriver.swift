import Logging
import NIOCore
import SyncCore
import SyncDiscovery
import SyncModel
import SyncTransport

/// Carries records from Avahi to the core: a member's become inputs, a stranger's are only shown.
///
/// Confined to the agent's event loop. Records are hints; `SyncDiscovery` has bounded and debounced them.
final class DiscoveryDriver {
    private let loop: AgentLoop
    private let keys: DiscoveryKeyDriver
    /// The port where this agent listens, or did last.
    private var listenPort: UInt16 = 0
    /// False while this agent listens nowhere: then it has no record.
    private var isListening = true
    private var discovery: AvahiDiscovery?
    /// The number of `discovery`, whose events count; those of an earlier one do not.
    private var run = 0
    private(set) var state: DiscoveryState = .off
    private(set) var instance = ""
    private var records: [RecordKey: DiscoveryRecord] = [:]
    /// The addresses that the core was told last, by instance.
    private var told: [String: [Endpoint]] = [:]
    private var daily: Scheduled<Void>?
    private var complaint: Scheduled<Void>?
    /// The time before a complaint: at a start the daemon's bus may take a moment.
    private static let patience = TimeAmount.seconds(10)

    /// True while a person at this device pairs by typed codes: the record says so.
    var isPairing = false {
        didSet { if isPairing != oldValue { announce() } }
    }
    /// Called after records came or went.
    var recordsChanged: () -> Void = {}

    init(loop: AgentLoop, keys: DiscoveryKeyDriver) {
        self.loop = loop
        self.keys = keys
        keys.changed = { [weak self] in self?.keysChanged() }
    }

    func start(_ configuration: DiscoveryConfiguration, listenPort: UInt16) {
        self.listenPort = listenPort
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let eventLoop = loop.eventLoop
        run += 1
        let discovery = AvahiDiscovery(configuration: configuration) { [run] event in
            eventLoop.execute { bound.value.handle(event, of: run) }
        }
        self.discovery = discovery
        loop.step(.announced(instance: "", listenPort: listenPort))
        keys.look()
        announce()
        discovery.start()
        scheduleDailyTag()
    }

    /// Begins anew with another configuration, under another instance. Sessions stay.
    func restart(_ configuration: DiscoveryConfiguration) {
        daily?.cancel()
        complaint?.cancel()
        complaint = nil
        // Its thread takes our record off the network, and ends; nothing waits for it.
        discovery = nil
        (state, instance, records) = (.off, "", [:])
        for instance in told.keys.sorted() { loop.step(.recordVanished(instance: instance)) }
        told = [:]
        recordsChanged()
        start(configuration, listenPort: listenPort)
        loop.peersChanged()
    }

    /// Tells the network and the peers that this agent listens at another port. Nothing happens if it is the same.
    ///
    /// - Parameter port: 0: it listens nowhere. Sessions stay then.
    func move(to port: UInt16) {
        guard port != (isListening ? listenPort : 0) else { return }
        isListening = port != 0
        if isListening {
            listenPort = port
            loop.step(.announced(instance: instance, listenPort: port))
        }
        announce()
        loop.peersChanged()
    }

    func stop() {
        daily?.cancel()
        complaint?.cancel()
        keys.stop()
        discovery?.stop()
    }

    /// Publishes our record. It carries one of the group's keys, turned into today's tag; a device alone has no member to recognise
    /// it, and so no tag.
    private func announce() {
        guard isListening else {
            discovery?.publish(nil)
            return
        }
        let key = loop.core.membership.members.count > 1 ? keys.announced : nil
        let tag = key.map { DiscoveryTag.tag(key: $0, day: WallClock.day) }
        discovery?.publish(DiscoveryAnnouncement(port: listenPort, tag: tag, isPairing: isPairing))
    }

    /// Tags change with the day and with the members.
    func membershipChanged() {
        keys.look()
        keysChanged()
    }

    func objectsChanged() { keys.objectsChanged() }

    /// The keys of daily tags; nil before they are known.
    var knownKeys: DiscoveryKeys? { keys.known }

    private func keysChanged() {
        announce()
        for instance in Set(records.keys.map(\.instance)) { tell(instance) }
    }

    private func scheduleDailyTag() {
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let rest = 86_400_000 - WallClock.milliseconds % 86_400_000
        // A clock that steps is caught at the next hour at the latest.
        daily = loop.eventLoop.scheduleTask(in: .milliseconds(min(rest, 3_600_000) + 1_000)) {
            bound.value.announce()
            bound.value.keys.look()
            bound.value.discovery?.refresh()
            bound.value.scheduleDailyTag()
        }
    }

    private func handle(_ event: DiscoveryEvent, of run: Int) {
        guard run == self.run else { return }
        switch event {
        case .state(let state):
            self.state = state
            record(state)
        case .announced(let instance):
            self.instance = instance
            loop.step(.announced(instance: instance, listenPort: listenPort))
        case .found(let record):
            records[record.key] = record
            loop.loggers.discovery.debug("A record appeared.", metadata: ["mdns.instance": "\(record.key.instance)"])
            tell(record.key.instance)
            recordsChanged()
        case .lost(let key):
            records[key] = nil
            loop.loggers.discovery.debug("A record went.", metadata: ["mdns.instance": "\(key.instance)"])
            tell(key.instance)
            recordsChanged()
        case .interfacesChanged:
            loop.transport.closeLinks(besidesThoseAt: NetworkInterfaces.current().runningAddresses)
            loop.step(.networkChanged)
        }
        loop.peersChanged()
    }

    private func record(_ state: DiscoveryState) {
        switch state {
        case .running:
            complaint?.cancel()
            complaint = nil
            loop.loggers.discovery.notice("Discovery runs.")
        case .off: break
        case .unavailable(let trouble):
            loop.loggers.discovery.warning("Discovery is unavailable.", metadata: ["code": "\(trouble.rawValue)"])
            countLater()
        }
    }

    /// Counts a trouble that lasts: `why` lists failures, and one that was over within seconds is none.
    private func countLater() {
        guard complaint == nil else { return }
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        complaint = loop.eventLoop.scheduleTask(in: Self.patience) {
            bound.value.complaint = nil
            bound.value.loop.journal.record(code: "discovery_unavailable")
        }
    }

    /// Tells the core all addresses of an instance, if it is a member's.
    private func tell(_ instance: String) {
        let ours = records.values.filter { $0.key.instance == instance && isMembers($0) }
        let endpoints = Set(ours.flatMap { record in record.addresses.map { Endpoint(host: $0, port: record.port) } })
            .sorted()
        if endpoints.isEmpty {
            guard told.removeValue(forKey: instance) != nil else { return }
            loop.step(.recordVanished(instance: instance))
        } else if told[instance] != endpoints {
            told[instance] = endpoints
            loop.step(.recordAppeared(instance: instance, endpoints))
        }
    }

    private func isMembers(_ record: DiscoveryRecord) -> Bool {
        guard let tag = record.text.tag, loop.core.membership.members.count > 1 else { return false }
        return DiscoveryTag.recognises(tag, keys: keys.keys.recognised, day: WallClock.day)
    }

    /// The addresses at which agents outside our group may be dialled, IPv4 first.
    var strangerAddresses: [HostPort] { Self.addresses(of: records.values.filter { !isMembers($0) }) }

    /// An agent on the network as its records show it.
    struct Neighbour {
        let hostName: String
        /// IPv4 first.
        let addresses: [HostPort]
        /// True while a person at it pairs by typed codes.
        let isPairing: Bool
        /// True if the tag is one of our group. Another device may know our group while we do not know it as a member.
        let isMember: Bool
    }

    /// The agents on the network, by the names of their instances.
    var neighbours: [String: Neighbour] {
        Dictionary(grouping: records.values, by: \.key.instance).mapValues { records in
            Neighbour(
                hostName: records.map(\.hostName).min() ?? "", addresses: Self.addresses(of: records),
                isPairing: records.contains { $0.text.isPairing }, isMember: records.contains(where: isMembers))
        }
    }

    private static func addresses(of records: some Sequence<DiscoveryRecord>) -> [HostPort] {
        let addresses = records.flatMap { record in
            record.addresses.compactMap { HostPort(host: $0, port: Int(record.port)) }
        }
        return Set(addresses).sorted { left, right in
            let (leftIsLong, rightIsLong) = (left.ipv4Bytes == nil ? 1 : 0, right.ipv4Bytes == nil ? 1 : 0)
            return (leftIsLong, left.description) < (rightIsLong, right.description)
        }
    }

    /// Agents on the network that are not of our group: one entry a host and port, sorted.
    var strangers: [AgentSnapshot.NetworkStranger] {
        var seen: [String: AgentSnapshot.NetworkStranger] = [:]
        for record in records.values where !isMembers(record) {
            let address = record.addresses.min { ($0.contains(":") ? 1 : 0, $0) < ($1.contains(":") ? 1 : 0, $1) } ?? ""
            let stranger = AgentSnapshot.NetworkStranger(hostName: record.hostName, host: address, port: record.port)
            if let known = seen[record.key.instance], !known.host.contains(":") { continue }
            seen[record.key.instance] = stranger
        }
        return seen.values.sorted { ($0.hostName, $0.host, $0.port) < ($1.hostName, $1.host, $1.port) }
    }
}
