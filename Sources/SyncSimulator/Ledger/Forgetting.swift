import LawHistories
import SyncModel

/// A disk that was put back: its device had acknowledged what it then did not hold, and others may have forgotten it.
struct Forgetting {
    let device: DeviceID
    /// What the disk holds now.
    let now: VersionVector
    /// What others held: nobody forgets what is not there.
    let elsewhere: VersionVector

    private func concerns(_ deletion: DeletionRules.Entry) -> Bool {
        elsewhere.covers(deletion.dot) && !now.covers(deletion.dot)
    }

    private func isBlind(_ entry: DeletionRules.Entry, to deletion: DeletionRules.Entry) -> Bool {
        entry.dot.replica.device == device && !now.covers(entry.dot) && !entry.origin.knows(deletion.dot)
    }

    /// Whether the device wrote on an object without knowing a deletion of it that it had held: whoever has forgotten that can
    /// only drop what was written (ARCHITECTURE.md, "Deletions are forgotten"), and whoever has not judges by it.
    func leavesOpen(_ entries: [DeletionRules.Entry]) -> Bool {
        entries.contains { deletion in
            guard case .delete = deletion.step, concerns(deletion) else { return false }
            return entries.contains { isBlind($0, to: deletion) }
        }
    }
}

extension ObjectLedger {
    /// Objects of which more than one state is right.
    func leftOpen(by forgettings: [Forgetting]) -> Set<ObjectKey> {
        guard !forgettings.isEmpty else { return [] }
        return Set(
            objects.filter { _, entries in
                let rules = entries.map(\.rule)
                return forgettings.contains { $0.leavesOpen(rules) }
            }.keys)
    }
}
