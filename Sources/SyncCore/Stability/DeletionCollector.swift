import SyncModel

/// The passes of collecting deletions that no member needs any more.
///
/// A pass: `idle` → `due` → `stepping` → `due` … → `idle`.
struct DeletionCollector: Sendable {
    private enum Pass: Sendable, Equatable {
        case idle
        /// The next step, behind the deletion of this dot, waits its turn, so that local writes find the store free.
        case due(at: Tick, VersionVector, after: Dot?)
        case stepping(VersionVector, after: Dot?)
    }

    private let settings: CoreSettings
    private var pass = Pass.idle
    /// The vector of the newest pass that came to its end.
    private var collected = VersionVector()

    init(_ settings: CoreSettings) { self.settings = settings }

    /// True while the store works on a step.
    var isStepping: Bool {
        if case .stepping = pass { return true }
        return false
    }

    /// The time of the next step; nil if none is due.
    var dueAt: Tick? {
        guard case .due(let at, _, _) = pass else { return nil }
        return at
    }

    /// Begins a pass if another vector is stable, and asks the store for the step that is due.
    ///
    /// - Parameter mayStep: false while local writes may stay open: they are folded into objects as their authors saw them.
    mutating func plan(stable: VersionVector, mayStep: Bool, _ step: inout CoreStep) {
        if case .idle = pass, !stable.isEmpty, stable != collected { pass = .due(at: step.now, stable, after: nil) }
        guard mayStep, case .due(let at, let vector, let after) = pass, step.now >= at else { return }
        // What was stable when the pass began may be so no longer: a member was put back, or a new one came.
        guard stable.covers(vector) else {
            pass = .idle
            return
        }
        pass = .stepping(vector, after: after)
        step.emit(.collect(upTo: vector, after: after, limit: settings.bounds.collectionStepObjects))
    }

    /// Handles a durable step. The next waits a little, so that a long pass costs writers a small part of the store's time.
    ///
    /// - Returns: the vector up to which deletions were collected; nil if no step was under way.
    mutating func handleCollected(next: Dot?, at now: Tick) -> VersionVector? {
        guard case .stepping(let vector, _) = pass else { return nil }
        if let next {
            pass = .due(at: now + settings.timing.collectionPause, vector, after: next)
        } else {
            pass = .idle
            collected = vector
        }
        return vector
    }

    mutating func handleFailed(at now: Tick) {
        guard case .stepping(let vector, let after) = pass else { return }
        pass = .due(at: now + settings.timing.storeRetry, vector, after: after)
    }
}
