import SyncModel

/// One space of this node: what is held of it, what peers hold, and every decision that follows from both.
///
/// Invariant: nothing leaves before its local commit.
struct SpaceMachine: Sendable {
    let settings: CoreSettings
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
    var presence: PresenceMachine
    /// The statement that revoked this device, as a member told it.
    var ownRevocation: PlacedStatement?

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
        settings: CoreSettings, space: SpaceID, membership: Membership, history: StoredHistory,
        hasStaging: Bool, at now: Tick
    ) {
        self.settings = settings
        log = SpaceLog(space: space, membership: membership, history)
        announcer = Announcer(settings)
        sender = ChangeSender(settings, space: space)
        puller = Puller(settings, space: space)
        receiver = ChangeReceiver(settings)
        newcomers = Newcomers(settings)
        returning = ReturningHistories(settings)
        stability = StabilityMachine(settings, acknowledgements: history.acknowledgements)
        collector = DeletionCollector(settings)
        retirement = RetirementMachine(settings)
        presence = PresenceMachine(settings, space: space)
        compactor = Compactor(settings)
        eventDropper = EventDropper(settings)
        stateReceiver = StateReceiver(settings, space: space, hasStaging: hasStaging)
        stateSender = StateSender(settings, space: space)
        forks = ForkDetector(
            settled: history.settled, gaveWay: history.gaveWay, awaited: history.awaited,
            hasTakenBack: history.hasTakenBack, mayRelease: !history.awaited.isEmpty,
            redoAt: now + settings.timing.redoAfter)
    }
}
