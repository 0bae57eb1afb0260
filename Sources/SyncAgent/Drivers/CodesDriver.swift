import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncTransport

/// Pairs by typed codes: dials devices on the network that pair at the same time, carries messages between the links and the
/// machine, and makes the member that it admits.
///
/// One pairing at a time. It decides only which devices to dial; the rest is `PairingMachine`'s. Confined to the agent's event loop.
final class CodesDriver {
    /// The time between two dials to the same device or address.
    private static let redialGap = Tick.Span.seconds(1)

    /// A pairing that runs.
    private final class Pairing {
        var machine: PairingMachine
        let links: PairingLinks
        let address: HostPort?
        /// The role that this device gives its guest.
        let role: MemberFact.Role
        /// The end of the guest's membership.
        let until: UInt64?
        var timer: DeadlineTimer
        var redial: RepeatedTask?
        var dials: [Target: Dial] = [:]
        /// The devices behind links, from their offers on.
        var offers: [UInt64: PairingLinks.Offer] = [:]

        init(
            machine: PairingMachine, links: PairingLinks, address: HostPort?, role: MemberFact.Role,
            until: UInt64?, timer: DeadlineTimer
        ) {
            self.machine = machine
            self.links = links
            self.address = address
            self.role = role
            self.until = until
            self.timer = timer
        }
    }

    /// A device that is dialled, by the way it is known.
    private enum Target: Hashable {
        /// The address that the person named for this pairing.
        case named
        /// An address that a person gave this device earlier.
        case given(HostPort)
        /// The instance of a record.
        case record(String)
    }

    private struct Dial {
        var link: UInt64?
        var nextAt = Tick.milliseconds(0)
        /// The number of dials so far; the addresses take turns.
        var count = 0
        /// The device that answered last.
        var device: DeviceID?
    }

    private let loop: AgentLoop
    private let discovery: DiscoveryDriver
    private let members: PairingDriver
    private let profile: @Sendable () -> PairingProfile
    /// The time that a pairing has.
    private let lifetime: Tick.Span
    private let signal: ChangeSignal
    private var running: Pairing?
    /// The newest pairing, also after its end.
    private var view: PairingView?
    /// The one before it, for a reader that has not seen its end.
    private var viewBefore: PairingView?
    /// The view that the signal was touched for last.
    private var shown: PairingView?
    private var lastID: UInt64 = 0

    /// - Parameter signal: touched after each change of `view`.
    init(
        loop: AgentLoop, discovery: DiscoveryDriver, members: PairingDriver, signal: ChangeSignal, lifetime: Tick.Span,
        profile: @escaping @Sendable () -> PairingProfile
    ) {
        self.loop = loop
        self.discovery = discovery
        self.members = members
        self.signal = signal
        self.lifetime = lifetime
        self.profile = profile
        discovery.recordsChanged = { [weak self] in self?.handleRecordsChanged() }
    }

    /// Opens this device for a pairing.
    ///
    /// - Parameters:
    ///   - wish: the device that the person named.
    ///   - address: the address that the person named.
    ///   - role: the role of the other device, if it joins the space of this one.
    ///   - until: the end of its membership.
    /// - Returns: the id of the pairing.
    /// - Throws: `AgentError.alreadyPairing`, `roleTooGreat` and `untilPassed`.
    func open(
        _ wish: PairingMachine.Wish, at address: HostPort?, giving role: MemberFact.Role, until: UInt64?
    ) throws -> UInt64 {
        guard running == nil else { throw AgentError.alreadyPairing }
        try loop.checkAdmission(as: role, until: until)
        var rules = PairingMachine.Rules()
        rules.lifetime = lifetime
        let memberCount = UInt64(loop.core.membership.members.count)
        let links = PairingLinks(
            transport: loop.transport, profile: profile(), memberCount: memberCount,
            grant: MembershipGrant(role: role, founder: loop.founder),
            lifetime: .nanoseconds(rules.lifetime.nanoseconds + rules.admission.nanoseconds),
            isRefused: { [weak loop] in loop?.core.isBlocked($0) ?? true })
        let machine = PairingMachine(
            own: links.ownSide, memberCount: memberCount, wish: wish, rules: rules, now: loop.now)
        let pairing = Pairing(
            machine: machine, links: links, address: address, role: role, until: until,
            timer: DeadlineTimer(eventLoop: loop.eventLoop))
        running = pairing
        viewBefore = view
        lastID += 1
        view = PairingView(
            id: lastID,
            expiresMilliseconds: WallClock.milliseconds + rules.lifetime.nanoseconds / 1_000_000)
        connect(pairing)
        loop.transport.open(links)
        discovery.isPairing = true
        dial(pairing)
        updateView(pairing)
        return lastID
    }

    /// Returns a pairing as it is, or as it ended; the newest for nil.
    func view(_ id: UInt64?) -> PairingView? {
        guard let id else { return view }
        return [view, viewBefore].compactMap(\.self).first { $0.id == id }
    }

    /// Takes what a person did. Ignored unless this pairing runs.
    func step(_ id: UInt64, _ input: PairingMachine.Input) {
        guard let running, view?.id == id else { return }
        step(running, input)
    }

    /// Tells the other device that this one stops.
    func stop() {
        if let running { step(running, .cancelled) }
    }

    private func connect(_ pairing: Pairing) {
        let links = pairing.links
        links.secured = { [weak self, weak pairing] link, device in
            guard let self, let pairing else { return }
            for key in pairing.dials.keys where pairing.dials[key]?.link == link { pairing.dials[key]?.device = device }
            updateView(pairing)
        }
        links.offer = { [weak self, weak pairing] link, offer in
            guard let self, let pairing else { return }
            pairing.offers[link] = offer
            let isNamed = pairing.dials[.named]?.device == offer.device.deviceID
            step(
                pairing,
                .offered(
                    ConnectionID(rawValue: link), PairingCandidate(offer), nonce: Self.nonce(),
                    isAtNamedAddress: isNamed))
        }
        links.received = { [weak self, weak pairing] link, message in
            guard let self, let pairing else { return }
            step(pairing, .received(ConnectionID(rawValue: link), message))
        }
        links.ended = { [weak self, weak pairing] link, _ in
            guard let self, let pairing else { return }
            handleEnded(link, pairing)
        }
        pairing.timer.onDeadline = { [weak self, weak pairing] in
            guard let self, let pairing else { return }
            step(pairing, .tick)
        }
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let gap = TimeAmount.nanoseconds(Self.redialGap.nanoseconds)
        pairing.redial = loop.eventLoop.scheduleRepeatedTask(initialDelay: gap, delay: gap) { _ in
            if let running = driver.value.running { driver.value.dial(running) }
        }
        pairing.timer.schedule(pairing.machine.nextDeadline)
    }

    private static func nonce() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<PairingTranscript.nonceByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private func handleEnded(_ link: UInt64, _ pairing: Pairing) {
        for key in pairing.dials.keys where pairing.dials[key]?.link == link { pairing.dials[key]?.link = nil }
        pairing.offers[link] = nil
        step(pairing, .closed(ConnectionID(rawValue: link)))
    }

    private func step(_ pairing: Pairing, _ input: PairingMachine.Input) {
        guard running === pairing else { return }
        // Its name alone: a code is between the two screens.
        let kind = Mirror(reflecting: input).children.first?.label ?? "\(input)"
        loop.loggers.pairing.debug("A pairing goes on.", metadata: ["input": "\(kind)"])
        for effect in pairing.machine.step(input, at: loop.now) { perform(effect, pairing) }
        pairing.timer.schedule(pairing.machine.nextDeadline)
        updateView(pairing)
    }

    private func perform(_ effect: PairingMachine.Effect, _ pairing: Pairing) {
        switch effect {
        case .send(let link, let message): pairing.links.send(link.rawValue, message)
        case .close(let link):
            pairing.links.close(link.rawValue)
            pairing.offers[link.rawValue] = nil
            for key in pairing.dials.keys where pairing.dials[key]?.link == link.rawValue {
                pairing.dials[key]?.link = nil
            }
        case .show(let code, let peer):
            view?.code = code
            view?.peer = peer
        case .confirmed: view?.isConfirmed = true
        case .admit(let link, let peer, let isHost): admit(link, peer, isHost, pairing)
        case .ended(let outcome): end(outcome, pairing)
        }
    }

    private func admit(_ link: ConnectionID, _ peer: PairingCandidate, _ isHost: Bool, _ pairing: Pairing) {
        // A block that was set meanwhile counts.
        guard let device = pairing.offers[link.rawValue]?.device, device.deviceID == peer.device,
            !loop.core.isBlocked(peer.device)
        else {
            return step(pairing, .admitted(isDone: false))
        }
        // The role of this device may have become a lesser one since the pairing began, and the time may be over.
        if !isHost, (try? loop.checkAdmission(of: peer.device, as: pairing.role, until: pairing.until)) == nil {
            return step(pairing, .admitted(isDone: false))
        }
        view?.joined = device
        view?.membership = PairingView.Membership(
            role: isHost ? device.grant?.role ?? .writer : pairing.role, isOwn: isHost)
        let driver = NIOLoopBound((self, pairing), eventLoop: loop.eventLoop)
        let admitted =
            isHost ? members.admitHost(device) : members.admit(device, as: pairing.role, until: pairing.until)
        admitted.whenComplete { result in
            let (driver, pairing) = driver.value
            if case .failure(let error) = result {
                driver.loop.loggers.pairing.error(
                    "A paired device could not be written down.", metadata: ["error": "\(error)"])
            }
            driver.step(pairing, .admitted(isDone: (try? result.get()) != nil))
        }
    }

    private func end(_ outcome: PairingOutcome, _ pairing: Pairing) {
        running = nil
        pairing.redial?.cancel()
        pairing.timer.cancel()
        pairing.links.close()
        discovery.isPairing = false
        view?.outcome = outcome
        switch outcome {
        case .paired, .halfPaired:
            if let device = view?.joined { members.dial(device) }
            loop.loggers.pairing.notice(
                "Paired with a device.", metadata: ["device.id": "\(view?.peer?.device.shortID ?? "")"])
        case .wrongCode, .endedThere, .connectionLost, .notAdmitted, .timedOut, .tooManyTries, .cancelled: break
        }
        signal.touch()
    }
}

// MARK: - Dialling

extension CodesDriver {
    private func handleRecordsChanged() {
        guard let running else { return }
        dial(running)
        updateView(running)
    }

    /// Dials each device that says it pairs, and each address that a person gave, unless a link with it is up.
    private func dial(_ pairing: Pairing) {
        let linked = Set(pairing.offers.values.map(\.device.deviceID))
        let now = loop.now
        for (target, addresses) in targets(pairing) where !addresses.isEmpty {
            var dial = pairing.dials[target] ?? Dial()
            let isLinked = dial.device.map(linked.contains) ?? false
            guard dial.link == nil, !isLinked, dial.nextAt <= now else { continue }
            dial.link = pairing.links.dial(addresses[dial.count % addresses.count])
            dial.nextAt = now + Self.redialGap
            dial.count += 1
            pairing.dials[target] = dial
        }
    }

    private func targets(_ pairing: Pairing) -> [(Target, [HostPort])] {
        var targets: [(Target, [HostPort])] = []
        if let address = pairing.address { targets.append((.named, [address])) }
        for address in members.staticAddresses where address != pairing.address {
            targets.append((.given(address), [address]))
        }
        for (instance, neighbour) in discovery.neighbours.sorted(by: { $0.key < $1.key }) where neighbour.isPairing {
            targets.append((.record(instance), neighbour.addresses))
        }
        return targets
    }
}

// MARK: - The view

extension CodesDriver {
    private func updateView(_ pairing: Pairing) {
        guard running === pairing, var next = view else { return }
        next.devices = devices(pairing)
        next.needsChoice = pairing.machine.needsChoice
        guard next != shown else { return }
        view = next
        shown = next
        signal.touch()
    }

    /// The devices that pair, and behind them those on the network that do not yet.
    private func devices(_ pairing: Pairing) -> [PairingView.Device] {
        let neighbours = discovery.neighbours
        var foundHere: Set<String> = []
        var devices = pairing.machine.candidates.map { candidate in
            let offers = pairing.offers.values.filter { $0.device.deviceID == candidate.device }
            let listens = Set(offers.flatMap(\.device.addresses))
            let instances = neighbours.filter { !listens.isDisjoint(with: $0.value.addresses) }.map(\.key)
            foundHere.formUnion(instances)
            let isGiven = pairing.dials.contains { target, dial in
                if case .record = target { false } else { dial.device == candidate.device }
            }
            let via: PairingView.Via = isGiven ? .address : instances.isEmpty ? .incoming : .multicast
            // An address at which it listens says more than the one that it dialled from.
            let announced = instances.sorted().compactMap { neighbours[$0]?.addresses.first?.description }.first
            return PairingView.Device(
                device: candidate.device, name: candidate.name, address: announced ?? candidate.address, via: via,
                isMember: loop.core.membership[candidate.device] != nil)
        }
        for (instance, neighbour) in neighbours.sorted(by: { $0.value.hostName < $1.value.hostName })
        where !neighbour.isMember && !neighbour.isPairing && !foundHere.contains(instance) {
            devices.append(
                PairingView.Device(
                    device: nil, name: neighbour.hostName, address: neighbour.addresses.first?.description ?? "",
                    via: .multicast, isMember: false))
        }
        return devices
    }
}

extension PairingCandidate {
    fileprivate init(_ offer: PairingLinks.Offer) {
        self.init(
            side: offer.side, device: offer.device.deviceID, name: offer.device.name, memberCount: offer.memberCount,
            address: offer.remote.description)
    }
}
