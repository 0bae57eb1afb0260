import SyncModel

/// The passes of compaction: dropping changes that every member has.
///
/// The store knows which of them are old enough, and where the compaction point may lie; this machine decides when a pass
/// begins, and when the store takes its next step. A pass: `idle` → `due` → `stepping` → `due` … → `idle`.
struct Compactor: Sendable {
    private enum Progress: Sendable, Equatable {
        case idle
        /// The next step waits its turn, so that local writes find the store free.
        case due(at: Tick, VersionVector)
        case stepping(VersionVector)
    }

    private let settings: CoreSettings
    private var progress = Progress.idle
    /// The time at which the next pass begins by itself; nil before the first step of the core.
    private var nextAt: Tick?
    /// The time at which the current step, or the last one, was asked for.
    private var steppedAt = Tick(nanoseconds: 0)
    /// True if something was written since the step before.
    private var hasCompany = false

    init(_ settings: CoreSettings) { self.settings = settings }

    /// True while the store works on a step.
    var isStepping: Bool {
        if case .stepping = progress { return true }
        return false
    }

    /// The time of the next step; nil while the store works on one.
    var deadline: Tick? {
        switch progress {
        case .idle: nextAt
        case .due(let at, _): at
        case .stepping: nil
        }
    }

    /// Begins a pass, or asks for its next step, if the time has come.
    mutating func plan(stable: VersionVector, _ step: inout CoreStep) {
        let beginsAt = nextAt ?? step.now + settings.timing.compactAfter
        nextAt = beginsAt
        if case .idle = progress, step.now >= beginsAt {
            nextAt = step.now + settings.timing.compactEvery
            if !stable.isEmpty { progress = .due(at: step.now, stable) }
        }
        guard case .due(let at, let vector) = progress, step.now >= at else { return }
        progress = .stepping(vector)
        steppedAt = step.now
        step.emit(.compact(upTo: vector))
    }

    /// Handles a user's request for a pass now. A pass under way goes on; what it leaves takes the next one.
    mutating func handleAsked(at now: Tick) { nextAt = now }

    /// Records that the store wrote something else.
    mutating func recordWritten() { hasCompany = true }

    /// Handles a durable step. Beside writes the next step waits four times as long as this one took, so that a long pass
    /// costs them a fifth of the store's time. The wait is at most five seconds, for a machine that slept meanwhile. Without
    /// writes it is a moment, for a writer that begins.
    mutating func handleCompacted(isLast: Bool, at now: Tick) {
        guard case .stepping(let vector) = progress else { return }
        let took = Tick.Span(nanoseconds: min((now - steppedAt).nanoseconds, 1_250_000_000))
        let rest = hasCompany ? Tick.Span(nanoseconds: took.nanoseconds * 4) : took
        hasCompany = false
        progress = isLast ? .idle : .due(at: now + max(rest, settings.timing.collectionPause), vector)
    }

    /// Ends the pass. No change is half done; the next pass finds what is left.
    mutating func handleFailed() { progress = .idle }
}
