package import LawHistories
package import SyncModel

/// A disk that was put back: its device had acknowledged what it then did not hold, and others may have forgotten it.
package struct Forgetting {
    let device: DeviceID
    /// The changes that the disk holds now.
    let now: VersionVector
    /// The changes that others held: a node does not forget what is not there.
    let elsewhere: VersionVector

    package init(device: DeviceID, now: VersionVector, elsewhere: VersionVector) {
        (self.device, self.now, self.elsewhere) = (device, now, elsewhere)
    }

    private func concerns(_ deletion: DeletionRules.Entry) -> Bool {
        elsewhere.covers(deletion.dot) && !now.covers(deletion.dot)
    }

    /// True only for what is concurrent with the deletion: a node that has forgotten a deletion had taken it, and
    /// before it all that its author had seen.
    private func isBlind(_ entry: DeletionRules.Entry, to deletion: DeletionRules.Entry) -> Bool {
        entry.dot.replica.device == device && !now.covers(entry.dot) && entry != deletion
            && !entry.origin.knows(deletion.dot) && !deletion.origin.knows(entry.dot)
    }

    /// Returns the device's writes on an object that did not know a deletion of it that the device had held. A node that has
    /// forgotten the deletion can only drop them (ARCHITECTURE.md, "Deletions are forgotten"); a node that has not judges by
    /// it.
    package func blind(in entries: [DeletionRules.Entry]) -> Set<DeletionRules.Entry> {
        let deletions = entries.filter { entry in
            if case .delete = entry.step { concerns(entry) } else { false }
        }
        return Set(entries.filter { entry in deletions.contains { isBlind(entry, to: $0) } })
    }
}

/// Objects that may be in two states: as all that was done to them says, or as that says without what was written blindly.
package struct OpenObjects {
    /// The rules of the other state.
    package internal(set) var rules: [ObjectKey: DeletionRules] = [:]
}

extension ObjectLedger {
    func leftOpen(by forgettings: [Forgetting]) -> OpenObjects {
        var open = OpenObjects()
        guard !forgettings.isEmpty else { return open }
        for key in objects.keys {
            let entries = rules(of: key).entries
            let blind = forgettings.reduce(into: Set()) { $0.formUnion($1.blind(in: entries)) }
            if !blind.isEmpty { open.rules[key] = DeletionRules(entries: entries.filter { !blind.contains($0) }) }
        }
        return open
    }
}
