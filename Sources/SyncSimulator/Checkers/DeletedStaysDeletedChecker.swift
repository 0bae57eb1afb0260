import LawHistories
import SyncModel
import SyncStore

/// Checks that a deleted object stays deleted, or comes back exactly as the policy of its deletions says; and that every
/// other object is there.
struct DeletedStaysDeletedChecker: Checker {
    static let name = "deleted stays deleted"

    mutating func inspected(_ inspection: Inspection) -> String? {
        guard inspection.isThorough, let ledger = inspection.ledger else { return nil }
        for key in ledger.objects.keys.sorted() {
            let rules = ledger.rules(of: key)
            let verdicts = rules.verdicts
            let state = ((try? inspection.store.object(key, space: .home)) ?? nil)?.state ?? ObjectState()
            let expected = Self.judgement(verdicts)
            let shown = Self.judgement(state.judgement)
            guard expected != shown else { continue }
            if let other = inspection.leftOpen.rules[key], Self.judgement(other.verdicts) == shown { continue }
            return
                "node \(inspection.node) shows \(key) as \(shown), and by the rules it is \(expected); "
                + "log: \(ledger.log(of: key))"
        }
        return nil
    }

    private enum Judgement: Equatable {
        /// The births of the lives that are shown.
        case live([Dot])
        case undecided
        /// Deleted, or never here: what is deleted may have been forgotten.
        case gone
    }

    private static func judgement(_ verdicts: [Dot: Verdict]) -> Judgement {
        if verdicts.values.contains(.undecided) { return .undecided }
        let staying = verdicts.filter { $0.value == .stays }.keys.sorted()
        return staying.isEmpty ? .gone : .live(staying)
    }

    private static func judgement(_ judgement: ObjectLives.Judgement) -> Judgement {
        switch judgement {
        case .absent, .deleted: .gone
        case .undecided: .undecided
        case .live(let births): .live(births.sorted())
        }
    }
}
