import SyncCore
import SyncModel
import SyncStore

/// Checks that dropping changes from a log does not alter what is left: each version that a node still knows is what all
/// changes say it was.
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
            let rewritten = try store.logState().cuts.rewritten
            for object in try store.changedObjects(of: nil, space: .home, after: 0, limit: .max) {
                let touches = try store.touches(of: object.key, space: .home)
                let held = ObjectPast(touches, from: try store.beginning(of: object.key, space: .home))
                let whole = ObjectPast(try all.touches(of: object.key, space: .home))
                for change in held.changes {
                    guard held.isKnown(change) else {
                        // Authors of what came as state may not have seen each other's work; of what is left of a log they have,
                        // but for one that wrote before it was let in.
                        let author = change.version.replica.device
                        let isStranger = change.operations.allSatisfy { !members.knows(author, at: $0.origin) }
                        if inspection.hasTakenState || isStranger { continue }
                        // A rewritten operation has the context of its first writing.
                        if rewritten.contains(where: { $0.has(change.version) }) { continue }
                        return
                            "node \(inspection.node), \(object.key): version \(change.version) is not known any more; "
                            + Self.story(held, touches, try store.logState().firstHeld)
                    }
                    guard let same = whole.change(of: change.version) else {
                        return "node \(inspection.node), \(object.key): no author wrote version \(change.version)"
                    }
                    let (one, other) = (
                        held.state(behind: change, members: members), whole.state(behind: same, members: members)
                    )
                    let differences = one.differences(to: other, schema: nil, path: nil)
                    if !differences.isEmpty || one.judgement != other.judgement {
                        return
                            "node \(inspection.node), \(object.key): version \(change.version) is not what its author left: "
                            + "\(differences), \(one.judgement) and \(other.judgement); "
                            + Self.story(held, touches, try store.logState().firstHeld)
                    }
                }
            }
            return nil
        } catch { return "the history that node \(inspection.node) holds cannot be read: \(error)" }
    }

    private static func story(_ past: ObjectPast, _ touches: [PastOperation], _ firstHeld: VersionVector) -> String {
        let began = past.beginning.map {
            "\($0.version.map { "\($0)" } ?? "-"), touched by \(text($0.state.lives.touched))"
        }
        let operations = touches.map { "\($0.origin.dot) knowing \(text($0.origin.context)): \($0.action)" }
        return "began as \(began ?? "-"), changes are held from \(text(firstHeld)); "
            + operations.joined(separator: "; ")
    }

    private static func text(_ vector: VersionVector) -> String {
        "[" + vector.entries.map { "\($0.replica):\($0.next)" }.joined(separator: " ") + "]"
    }
}

extension Rewriting {
    /// True if the operation is at a place where others were rewritten.
    fileprivate func has(_ dot: Dot) -> Bool {
        dot.replica == new.replica && dot.counter >= new.counter && dot.counter - new.counter < count
    }
}
