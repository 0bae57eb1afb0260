import SyncModel
import SyncStore

/// Checks that no unseen write is lost: what a device had written when it was retired is in the log again in the end, counter
/// by counter. Where the device was revoked meanwhile, it does not come back, and where it is a reader, it writes nothing: then its
/// operations on objects are shown for review.
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
                // Where that is void, too, it is asked for there, or shown for review.
                next = max(next, place.old.counter + place.count)
            }
            guard next < last else { continue }
            let device = known.replica.device
            guard state.cuts.isBarred(device) || state.cuts.verdicts?.roles[device] == .reader else {
                return "\(known.replica) counts up to \(end), and was written again up to \(next) of \(last)"
            }
            do throws(StoreError) {
                guard let dot = try Self.unshown(known.replica, next..<last, inspection.store) else { continue }
                return "\(dot) counts nowhere, and no review shows it"
            } catch { return "what \(known.replica) wrote cannot be shown: \(error)" }
        }
        return nil
    }

    /// Returns the first of these operations on objects that is in the log and not shown for review.
    private static func unshown(
        _ replica: ReplicaID, _ counters: Range<UInt64>, _ store: SQLiteStore
    ) throws(StoreError) -> Dot? {
        let page = try store.voidWork(of: replica.device, after: nil, limit: .max, byteBudget: .max, space: .home)
        let shown = Set(page.operations.map(\.key.dot))
        var missing: [Dot] = []
        for segment in try store.segments(of: replica, from: counters.lowerBound, byteBudget: .max) {
            var reader = ByteReader(segment.bytes)
            while !reader.isAtEnd, let view = try? ChangeView(&reader) {
                view.forEachOperation(in: segment.bytes) { counter, operation in
                    let dot = Dot(replica: replica, counter: counter)
                    guard counters.contains(counter), !shown.contains(dot),
                        Operation(operation, in: segment.bytes).objectAction != nil
                    else { return }
                    missing.append(dot)
                }
            }
        }
        return missing.min()
    }
}
