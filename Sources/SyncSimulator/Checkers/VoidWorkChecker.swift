import SyncModel
import SyncStore

/// Checks that no unseen write is lost: what a device had written when it was retired is in the log again in the end, counter
/// by counter.
struct VoidWorkChecker: Checker {
    static let name = "no unseen write lost"

    mutating func inspected(_ inspection: Inspection) -> String? {
        guard inspection.isLast, let state = try? inspection.store.state() else { return nil }
        for known in state.tips {
            // What a revocation or a lowered role makes void stays so.
            let last = min(known.tip.next, state.cuts.strictEnd(of: known.replica) ?? .max)
            guard let end = state.cuts.end(of: known.replica), end < last else { continue }
            var next = end
            for place in state.cuts.rewritten.filter({ $0.old.replica == known.replica }).sorted(by: { $0.old < $1.old }
            ) {
                // Work kept aside after it was rewritten may be there twice; none may be left out.
                if place.old.counter > next { break }
                // Where that is void, too, it is asked for there.
                next = max(next, place.old.counter + place.count)
            }
            if next < last {
                return "\(known.replica) counts up to \(end), and was written again up to \(next) of \(last)"
            }
        }
        return nil
    }
}
