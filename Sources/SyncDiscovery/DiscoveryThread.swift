import CAvahi

/// The thread for everything that touches Avahi. One turn: wait, take in what came, do what is due.
///
/// The daemon, the bus, or both may be away at any time. A client that lost either is of no use any more
/// (AVAHI_CLIENT_NO_FAIL waits for a daemon, not for a bus), so it is freed with all it held and opened anew.
final class DiscoveryThread {
    private let mailbox: Mailbox
    private let configuration: DiscoveryConfiguration
    private let onEvent: @Sendable (DiscoveryEvent) -> Void
    private let loop: PollLoop
    private let inbox = SignalInbox()
    private let monitor: InterfaceMonitor?
    private let chosenAddresses: [[UInt8]]

    private var session: AvahiSession?
    private var publisher: AvahiPublisher?
    private var isDaemonReady = false
    private var reopenAt: UInt64?
    private var reopenDelay = BackOff()

    private var table = RecordTable()

    private var announcement: DiscoveryAnnouncement?
    private var instance = InstanceName.random()
    private var announcedInstance: String?
    /// The names we had, the newest 16: our own record may still echo after a collision.
    private var ownInstances: [String] = []
    private var announceAt: UInt64?
    private var announceDelay = BackOff()

    private var toldState: DiscoveryState?
    private var changeDueAt: UInt64?
    private var quietAboutInterfacesUntil: UInt64 = 0
    private static let interfaceQuietNanoseconds: UInt64 = 100_000_000

    init?(
        configuration: DiscoveryConfiguration, mailbox: Mailbox,
        onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
    ) {
        guard let loop = PollLoop() else { return nil }
        self.loop = loop
        self.mailbox = mailbox
        self.configuration = configuration
        self.onEvent = onEvent
        monitor = InterfaceMonitor()
        chosenAddresses = configuration.announceAddresses.compactMap(RecordFilter.bytes(ofAddress:))
        loop.watch(mailbox.wakeDescriptor)
        if let monitor { loop.watch(monitor.descriptor) }
    }

    /// Returns when told to stop.
    func run() {
        ownInstances = [instance]
        if configuration.usesMulticast { openSession() } else { tell(.off) }
        var goesOn = true
        while goesOn {
            handleSignals()
            handleDeadlines()
            loop.wake(at: nextDeadline)
            guard let ready = loop.iterate() else { break }
            if let monitor, ready.contains(monitor.descriptor), monitor.drain() { handleInterfaceChange() }
            if ready.contains(mailbox.wakeDescriptor) { goesOn = obey(mailbox.takeAll()) }
        }
        // The daemon says goodbye for a client that leaves, also if the process dies before this line.
        closeSession()
        tell(.off)
    }

    /// False for `stop`.
    private func obey(_ commands: [Mailbox.Command]) -> Bool {
        for command in commands {
            switch command {
            case .announce(let wanted):
                announcement = wanted
                announceDelay.reset()
                announce()
            case .refresh:
                perform(table.refresh(at: PollLoop.now()))
            case .stop:
                return false
            }
        }
        return true
    }

    // MARK: The daemon

    private func openSession() {
        reopenAt = nil
        switch AvahiSession.open(on: loop, inbox: inbox) {
        case .opened(let opened):
            session = opened
            publisher = AvahiPublisher(session: opened)
        case .refused(let error):
            inbox.signals = []
            tell(.unavailable(DiscoveryTrouble(avahiError: error)))
            reopenAt = PollLoop.now() + reopenDelay.next()
        }
    }

    private func closeSession() {
        publisher = nil
        session = nil
        isDaemonReady = false
        announcedInstance = nil
        announceAt = nil
        perform(table.forgetAll())
    }

    private func reopenLater(after error: Int32) {
        closeSession()
        tell(.unavailable(DiscoveryTrouble(avahiError: error)))
        reopenAt = PollLoop.now() + reopenDelay.next()
    }

    private func handleSignals() {
        while !inbox.signals.isEmpty {
            let signals = inbox.signals
            inbox.signals = []
            for signal in signals where session != nil { handle(signal) }
        }
    }

    private func handle(_ signal: AvahiSignal) {
        let now = PollLoop.now()
        switch signal {
        case .client(let state, let error):
            handleClient(state, error: error)
        case .appeared(let key, let isOurs):
            if !isOurs && !ownInstances.contains(key.instance) { perform(table.appeared(key, at: now)) }
        case .vanished(let key):
            perform(table.vanished(key, at: now))
        case .browsingFailed(let error):
            reopenLater(after: error)
        case .answered(let key, let record):
            if record == nil { session?.stopLookingUp(key) }
            perform(table.answered(key, record, at: now))
        case .group(let group, let state, let error):
            if publisher?.owns(group) == true { handleGroup(state, error: error) }
        }
    }

    private func handleClient(_ state: AvahiClientState, error: Int32) {
        switch state {
        case AVAHI_CLIENT_S_RUNNING:
            isDaemonReady = true
            reopenDelay.reset()
            browse()
            announce()
        case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION:
            // The machine's name is not settled, so a record that leads to it must not stand.
            isDaemonReady = false
            publisher?.withdrawAll()
            tell(.unavailable(.registering))
            browse()
        case AVAHI_CLIENT_CONNECTING:
            tell(.unavailable(.daemonMissing))
        case _:
            reopenLater(after: error)
        }
    }

    private func browse() {
        guard let session, !session.browse() else { return }
        reopenLater(after: session.lastError)
    }

    // MARK: Our record

    private func announce() {
        announceAt = nil
        guard isDaemonReady, let publisher else { return }
        guard let announcement else {
            publisher.withdrawAll()
            announcedInstance = nil
            return tell(.running)
        }
        let interfaces = monitor?.interfaces ?? NetworkInterfaces.current()
        let places = AvahiPublisher.places(interfaces, chosen: chosenAddresses)
        guard let error = publisher.publish(announcement, as: instance, in: places) else { return tell(.running) }
        if Int(error) == Int(AVAHI_ERR_COLLISION) { return rename() }
        announceLater(after: error)
    }

    private func handleGroup(_ state: AvahiEntryGroupState, error: Int32) {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED:
            announceDelay.reset()
            if isDaemonReady { tell(.running) }
            guard announcedInstance != instance else { return }
            announcedInstance = instance
            onEvent(.announced(instance: instance))
        case AVAHI_ENTRY_GROUP_COLLISION:
            rename()
        case AVAHI_ENTRY_GROUP_FAILURE:
            publisher?.withdrawAll()
            announceLater(after: error)
        case _:
            break
        }
    }

    /// Announces again later. Others may still be found meanwhile, so the session stays.
    private func announceLater(after error: Int32) {
        tell(.unavailable(DiscoveryTrouble(avahiError: error)))
        announceAt = PollLoop.now() + announceDelay.next()
    }

    /// Takes a new name because another record has ours, by chance or on purpose; each attempt waits longer.
    private func rename() {
        publisher?.withdrawAll()
        instance = InstanceName.random()
        ownInstances = ownInstances.suffix(15) + [instance]
        announceAt = PollLoop.now() + announceDelay.next()
    }

    // MARK: What others hear of

    private func perform(_ actions: [RecordTable.Action]) {
        for action in actions {
            switch action {
            case .lookUp(let key):
                if session?.lookUp(key) != true { perform(table.answered(key, nil, at: PollLoop.now())) }
            case .stopLookingUp(let key):
                session?.stopLookingUp(key)
            case .report(let event):
                if case .lost(let key) = event { session?.stopLookingUp(key) }
                onEvent(event)
            }
        }
    }

    private func tell(_ state: DiscoveryState) {
        guard toldState != state else { return }
        toldState = state
        onEvent(.state(state))
    }

    /// A link that comes up is several messages within milliseconds: the first is told at once, the rest together.
    private func handleInterfaceChange() {
        changeDueAt = changeDueAt ?? max(quietAboutInterfacesUntil, PollLoop.now())
    }

    private func handleDeadlines() {
        let now = PollLoop.now()
        if let due = changeDueAt, due <= now {
            changeDueAt = nil
            quietAboutInterfacesUntil = now + Self.interfaceQuietNanoseconds
            onEvent(.interfacesChanged)
            announce()
            perform(table.refresh(at: now))
        }
        if let due = reopenAt, due <= now { openSession() }
        if let due = announceAt, due <= now { announce() }
        perform(table.passDeadlines(at: now))
        // What Avahi said meanwhile (it may answer within a call) is for this turn too.
        handleSignals()
    }

    private var nextDeadline: UInt64? {
        [changeDueAt, reopenAt, announceAt, table.nextDeadline].compactMap(\.self).min()
    }
}
