import SyncModel

/// One space of this node: what is held of it, what peers hold, and every decision that follows from both.
///
/// Invariant: nothing leaves before its local commit.
struct SpaceMachine: Sendable {
    let configuration: CoreSettings
    var log: SpaceLog
    var sealer = Sealer()
    var announcer: Announcer
    var sender: ChangeSender
    var puller: Puller
    var receiver: ChangeReceiver
    var newcomers: Newcomers
    var returning: ReturningHistories

    /// The peers with a session, in the order the sessions opened.
    var peers: [SpacePeer] = []
    /// True once a report said that changes of our own came back.
    var haveOwnReturned = false

    var forks: ForkDetector

    var compactor: Compactor
    var eventDropper: EventDropper
    var stateReceiver: StateReceiver
    var stateSender: StateSender

    /// The tips that members held when their last session ended.
    var lastWords = LastWords()
    var stability: StabilityMachine
    var collector: DeletionCollector
    var retirement: RetirementMachine

    // MARK: What all parts of the space read

    var space: SpaceID { log.space }
    var held: TipTable { _read { yield log.held } }
    var stateDigest: Sum256 { _read { yield log.stateDigest } }
    var firstHeld: VersionVector { _read { yield log.firstHeld } }
    var floor: VersionVector { _read { yield log.floor } }
    var membership: Membership { _read { yield log.membership } }
    var cuts: CutTable { _read { yield log.cuts } }
    var isIncomplete: Bool { log.isIncomplete }

    /// - Parameter history: the contents of the space's store.
    init(
        configuration: CoreSettings, space: SpaceID, membership: Membership, history: StoredHistory,
        hasStaging: Bool, at now: Tick
    ) {
        self.configuration = configuration
        log = SpaceLog(space: space, membership: membership, history)
        announcer = Announcer(configuration)
        sender = ChangeSender(configuration, space: space)
        puller = Puller(configuration, space: space)
        receiver = ChangeReceiver(configuration)
        newcomers = Newcomers(configuration)
        returning = ReturningHistories(configuration)
        stability = StabilityMachine(configuration, acknowledgements: history.acknowledgements)
        collector = DeletionCollector(configuration)
        retirement = RetirementMachine(configuration)
        compactor = Compactor(configuration)
        eventDropper = EventDropper(configuration)
        stateReceiver = StateReceiver(configuration, space: space, hasStaging: hasStaging)
        stateSender = StateSender(configuration, space: space)
        forks = ForkDetector(
            settled: history.settled, gaveWay: history.gaveWay, awaited: history.awaited,
            hasTakenBack: history.hasTakenBack, mayRelease: !history.awaited.isEmpty,
            redoAt: now + configuration.timing.redoAfter)
    }
}
