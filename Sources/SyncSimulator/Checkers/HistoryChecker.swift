import SyncCore
import SyncModel
import SyncStore

/// What was dropped from a log takes nothing from what is left of it: each version that a node still knows is what all changes
/// say it was.
struct HistoryChecker: Checker {
    static let name = "versions as they were"

    private var random: SplitMix64
    private let faults: StoreFaults

    init(seed: UInt64, faults: StoreFaults) {
        random = SplitMix64(seed: seed ^ 0x7665_7273_696f_6e73)
        self.faults = faults
    }

    mutating func inspected(_ inspection: Inspection) -> String? {
        guard inspection.isThorough, let past = inspection.past else { return nil }
        do throws(StoreError) {
            let store = inspection.store
            guard let all = try ReplayedStore.make(of: store, past: past, faults: faults, using: &random) else {
                return nil
            }
            let members = try all.members()
            for object in try store.changedObjects(of: nil, space: .home, after: 0, limit: .max) {
                let touches = try store.touches(of: object.key, space: .home)
                let held = ObjectPast(touches, from: try store.beginning(of: object.key, space: .home))
                let whole = ObjectPast(try all.touches(of: object.key, space: .home))
                for change in held.changes {
                    guard held.isKnown(change) else {
                        // Authors of what came as state may not have seen each other's work; of what is left of a log they have.
                        if inspection.hasTakenState { continue }
                        return
                            "node \(inspection.node), \(object.key): what version \(change.version) was is not known any more"
                    }
                    guard let same = whole.change(of: change.version) else {
                        return "node \(inspection.node), \(object.key): nobody wrote version \(change.version)"
                    }
                    let (one, other) = (
                        held.state(behind: change, members: members), whole.state(behind: same, members: members)
                    )
                    let differences = one.differences(to: other, schema: nil, path: nil)
                    if !differences.isEmpty || one.judgement != other.judgement {
                        return
                            "node \(inspection.node), \(object.key): version \(change.version) is not what its author left: "
                            + "\(differences), \(one.judgement) and \(other.judgement)"
                    }
                }
            }
            return nil
        } catch { return "the history that node \(inspection.node) holds cannot be read: \(error)" }
    }
}
