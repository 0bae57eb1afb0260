import SyncModel

/// The steps of dropping events that the retention of their streams lets go.
///
/// The store knows which are old enough; this machine decides when to look. A step: `idle` → `stepping` → `idle`, or at once
/// another.
struct EventDropper: Sendable {
    private let settings: CoreSettings
    /// The time at which the store is asked next; nil before the first step of the core.
    private(set) var nextAt: Tick?
    private(set) var isStepping = false
    /// The number of times the store was asked since the core began.
    private var steps = 0

    init(_ settings: CoreSettings) { self.settings = settings }

    /// The number of the step that the store has not answered; nil if none is under way.
    var openStep: Int? { isStepping ? steps : nil }

    /// Asks the store for a step, if the time has come.
    ///
    /// - Parameter stable: the vector that every member has acknowledged.
    mutating func plan(stable: VersionVector, _ step: inout CoreStep) {
        let looksAt = nextAt ?? step.now + settings.timing.dropEventsEvery
        nextAt = looksAt
        guard step.now >= looksAt else { return }
        nextAt = step.now + settings.timing.dropEventsEvery
        guard !stable.isEmpty else { return }
        isStepping = true
        steps += 1
        step.emit(.dropEvents(stable: stable))
    }

    /// Handles a user's request to look now.
    mutating func handleAsked(at now: Tick) { nextAt = now }

    mutating func handleDropped(hasMore: Bool, at now: Tick) {
        isStepping = false
        if hasMore { nextAt = now + settings.timing.collectionPause }
    }
}
