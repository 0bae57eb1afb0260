/// The upgrade of a store that an older program wrote, while it runs.
package struct StoreUpgrade: Hashable, Sendable {
    /// The steps, in their order. A store may need only some of them.
    package enum Step: String, Sendable {
        /// The database is copied, as it was.
        case copying
        /// The steps of the schema run, in one transaction.
        case migrating
        /// The indexes of objects are filled.
        case indexing
        /// The tables that follow from the log are filled anew.
        case deriving
    }

    package let step: Step
    /// The share of the whole that is done, from 0 to 1. It never falls, and jumps where a step is not needed.
    package let share: Double
}

/// Tells how far an upgrade is. The copy and the schema cost little beside the log (`deploy/bench migrate`).
struct UpgradeReport: Sendable {
    private let body: (@Sendable (StoreUpgrade) -> Void)?

    /// - Parameter body: called on the thread that opens the store; nil: there is no upgrade to tell of.
    init(_ body: (@Sendable (StoreUpgrade) -> Void)?) { self.body = body }

    /// - Parameter share: the share of this step that is done, from 0 to 1.
    func callAsFunction(_ step: StoreUpgrade.Step, _ share: Double = 0) {
        guard let body else { return }
        let (start, end) =
            switch step {
            case .copying: (0.0, 0.05)
            case .migrating: (0.05, 0.15)
            case .indexing: (0.15, 0.2)
            case .deriving: (0.2, 1.0)
            }
        body(StoreUpgrade(step: step, share: start + (end - start) * min(max(share, 0), 1)))
    }
}
