import LawHistories
import ReferenceModels
import SyncModel
import SyncStore

/// Checks that no edit is lost silently: each is visible, or superseded by one that knew it, or void by rule, or listed.
///
/// The reference models say what all edits of a life come to; what the node keeps must read the same, value by value. What a
/// deletion dropped must be counted there, and what contradicts must be listed as a conflict.
struct NoEditLostChecker: Checker {
    static let name = "no edit lost silently"

    mutating func inspected(_ inspection: Inspection) -> String? {
        guard inspection.isThorough, let ledger = inspection.ledger else { return nil }
        let holdsAll = (try? inspection.store.logState().firstHeld.entries.isEmpty) ?? false
        for key in ledger.objects.keys.sorted() {
            guard let stored = (try? inspection.store.object(key, space: .home)) ?? nil else {
                // Of an object that is gone for good nothing comes with state; whether it may be gone another checker says.
                if inspection.past != nil { continue }
                return "node \(inspection.node) holds operations on \(key) and has no object"
            }
            let rules = ledger.rules(of: key)
            let fault =
                Self.fields(stored, rules, ledger)
                ?? Self.dropped(stored, rules, isCounted: holdsAll, late: inspection.readmitted)
                ?? Self.listed(stored)
            if let fault { return "node \(inspection.node), \(key): \(fault)" }
        }
        for collection in ledger.schemas.keys.sorted() {
            let expected = ledger.reading(ofSchema: collection)
            let schema = (try? inspection.store.schema(of: collection, space: .home)) ?? nil
            let shown = schema?.entries.reading ?? .nothing
            if shown != expected {
                return "node \(inspection.node), schema of \(collection): \(shown); its edits come to \(expected)"
            }
        }
        return nil
    }

    private static func fields(
        _ stored: StoredObject, _ rules: DeletionRules, _ ledger: ObjectLedger
    ) -> String? {
        // A life that is not kept any more was judged by the rules of deletion.
        for birth in rules.births {
            guard let fields = stored.state.fields(of: birth.dot) else { continue }
            let expected = ledger.reading(of: birth, stored.key, by: rules)
            if fields.reading != expected {
                return "life \(birth.dot) reads \(fields.reading); its edits come to \(expected)"
            }
            let attached = stored.state.attachments(of: birth.dot)?.reading ?? .nothing
            let expectedAttached = ledger.attachments(of: birth, stored.key, by: rules)
            if attached != expectedAttached {
                return "to life \(birth.dot) \(attached) is attached; its operations come to \(expectedAttached)"
            }
        }
        return nil
    }

    /// - Parameters:
    ///   - isCounted: false where state was taken for changes. It does not say how many edits a deletion dropped: of
    ///     each replica at least one is listed, with one of the deletions that dropped it. Nor does it say what was in a life
    ///     when a deletion that knew it dropped it: of that another deletion lists nothing, and its author had seen the edit.
    ///   - late: devices without which lives were forgotten. As little is known of those by a deletion of such a device; what
    ///     deletions listed that were forgotten, too, stays listed.
    private static func dropped(
        _ stored: StoredObject, _ rules: DeletionRules, isCounted: Bool, late: Set<DeviceID>
    ) -> String? {
        let replicas = Set(rules.entries.map(\.dot.replica)).sorted()
        var unseen: Set<Dot> = []
        var listed: Set<Dot> = []
        for record in stored.state.lives.deletions where record.policy == .deleteWins {
            guard let deletion = rules.deletions.first(where: { $0.entry.dot == record.dot })?.entry else {
                return "a deletion \(record.dot) that no author made"
            }
            let isLate = late.contains(record.dot.replica.device)
            let isCounted = isCounted && !isLate
            let dropped = rules.dropped(by: deletion)
            for replica in replicas {
                let expected = dropped.count { $0.dot.replica == replica }
                let count = Int(record.edited.first { $0.replica == replica }?.count ?? 0)
                if isCounted ? count != expected : count > expected {
                    return "\(record.dot) lists \(count) edits of \(replica) that it dropped; there were \(expected)"
                }
            }
            let dots = rules.droppedUnseen(by: deletion).map(\.dot)
            if !isCounted { unseen.formUnion(dots) }
            let edits = record.edited + (isLate ? stored.collectedEdits : [])
            listed.formUnion(dots.filter { dot in edits.contains { $0.replica == dot.replica } })
        }
        guard let edit = unseen.subtracting(listed).min() else { return nil }
        return "\(edit) was dropped unseen, and no deletion that dropped it lists an edit of its replica"
    }

    /// Values that contradict each other are found by who asks for conflicts.
    private static func listed(_ stored: StoredObject) -> String? {
        guard stored.summary.standing == .live else { return nil }
        let isContradicted = stored.state.mergedFields.contains { member in
            member.value.parts.count > 1
                || member.value.parts.contains { part in
                    if case .values(let values) = part.content { Set(values).count > 1 } else { false }
                }
        }
        return isContradicted && !stored.summary.hasConflict
            ? "values contradict each other, and no conflict is listed" : nil
    }
}
