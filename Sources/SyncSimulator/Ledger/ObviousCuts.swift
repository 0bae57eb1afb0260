import SyncModel

/// The void changes of a log, computed from the whole of it at once: every change is checked against every cut, again and
/// again, until nothing moves.
struct ObviousCuts {
    struct Written {
        let start: Dot
        /// All that its author had seen.
        let context: VersionVector
    }

    private struct End: Hashable {
        let cut: Dot
        let replica: ReplicaID
    }

    private let table: CutTable
    private var kept: [End: UInt64] = [:]

    /// - Parameter table: the cuts that hold, and the devices exempt from them.
    init(_ table: CutTable, _ changes: [Written]) {
        self.table = table
        guard !table.isEmpty else { return }
        // Of cuts that came with a state words are known that the store does not hold yet: those it can only believe.
        let held = Set(changes.map(\.start))
        let believed = table.witnesses.filter { !held.contains($0.change) }
        var isMoving = true
        while isMoving {
            isMoving = false
            for witness in believed where !isVoid(witness.change) {
                let end = End(cut: witness.cut, replica: witness.replica)
                guard kept[end] ?? 0 < witness.next else { continue }
                kept[end] = witness.next
                isMoving = true
            }
            for change in changes where !isVoid(change.start) {
                for cut in table.cuts where !cut.fact.isStrict && cut.fact.device != change.start.replica.device {
                    let knows =
                        change.start.replica == cut.dot.replica
                        ? cut.dot.counter < change.start.counter : change.context.covers(cut.dot)
                    guard !knows else { continue }
                    for entry in change.context.entries where entry.replica.device == cut.fact.device {
                        let end = End(cut: cut.dot, replica: entry.replica)
                        guard max(kept[end] ?? 0, cut.fact.end(of: entry.replica)) < entry.next else { continue }
                        kept[end] = entry.next
                        isMoving = true
                    }
                }
            }
        }
    }

    /// True if everything there is void, by the law on roles: its own model judges that (Tests/EndsModel/Roles).
    func isStrictlyVoid(_ dot: Dot) -> Bool { table.isStrictlyVoid(dot) }

    func isVoid(_ dot: Dot) -> Bool {
        isStrictlyVoid(dot) || isCut(dot)
    }

    private func isCut(_ dot: Dot) -> Bool {
        table.cuts(of: dot.replica.device).contains { cut in
            // A fact that admits a device counts only if it is not void itself.
            let isExempt = table.exemptions.contains {
                $0.replica == dot.replica && $0.reason.cut == cut.dot && !isVoid($0.reason.addition)
            }
            let end =
                cut.fact.device == dot.replica.device
                ? max(cut.fact.end(of: dot.replica), kept[End(cut: cut.dot, replica: dot.replica)] ?? 0) : 0
            return !isExempt && dot.counter >= end
        }
    }
}
