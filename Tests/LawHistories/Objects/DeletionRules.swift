package import SyncModel

/// The rules of deletion as pure functions of a set of operations: slow, obvious, and nothing of `ObjectLives`.
///
/// Birth, edits, deletions and decisions of one object, and the add-facts of all members.
package struct DeletionRules {
    package enum Step: Hashable, Sendable {
        case birth
        /// Of the life that this dot began.
        case edit(Dot)
        case delete(DeletePolicy)
        case keep
        /// "This device is a member."
        case member(DeviceID)
    }

    package struct Entry: Hashable, Sendable {
        package let step: Step
        package let origin: Origin
        package let wallMilliseconds: Int64

        package var dot: Dot { origin.dot }

        package init(step: Step, origin: Origin, wallMilliseconds: Int64) {
            self.step = step
            self.origin = origin
            self.wallMilliseconds = wallMilliseconds
        }
    }

    private struct Judged: Hashable {
        let deletion: Dot
        let birth: Dot
    }

    /// A verdict asks for those of all earlier deletions: each is found once.
    private final class Found {
        var verdicts: [Judged: Verdict] = [:]
        var admitting: [Dot: Set<DeviceID>] = [:]
    }

    package let entries: [Entry]
    package let births: [Entry]
    package let deletions: [(entry: Entry, policy: DeletePolicy)]
    private let members: [Entry]
    private let found = Found()

    package init(entries: [Entry]) {
        self.entries = entries
        births = entries.filter { $0.step == .birth }
        deletions = entries.compactMap { entry in
            if case .delete(let policy) = entry.step { (entry, policy) } else { nil }
        }
        members = entries.filter { entry in
            if case .member = entry.step { true } else { false }
        }
    }

    private func knows(_ entry: Entry, _ other: Entry) -> Bool { entry.origin.knows(other.dot) }

    private func knowsMember(_ entry: Entry, _ device: DeviceID) -> Bool {
        members.contains { $0.step == .member(device) && knows(entry, $0) }
    }

    private func admits(_ entry: Entry, onWorkOf other: Entry) -> Bool {
        admitting(entry).contains(other.dot.replica.device)
    }

    /// The author, who let it in, who let those in, and so on, as far as the author knew.
    private func admitting(_ entry: Entry) -> Set<DeviceID> {
        if let admitting = found.admitting[entry.dot] { return admitting }
        let facts = members.filter { knows(entry, $0) }
        var admitting: Set<DeviceID> = [entry.dot.replica.device]
        var before = 0
        while admitting.count > before {
            before = admitting.count
            for fact in facts {
                if case .member(let device) = fact.step, admitting.contains(device) {
                    admitting.insert(fact.dot.replica.device)
                }
            }
        }
        found.admitting[entry.dot] = admitting
        return admitting
    }

    package func ends(_ deletion: Entry, _ birth: Entry) -> Bool {
        guard admits(deletion, onWorkOf: birth) else { return false }
        if knows(deletion, birth) { return true }
        if knows(birth, deletion) { return false }
        return deletion.dot.replica.device == birth.dot.replica.device
            || knowsMember(deletion, birth.dot.replica.device)
    }

    package func isFinallyEnded(_ birth: Entry) -> Bool {
        deletions.contains { $0.policy == .deleteWins && ends($0.entry, birth) }
    }

    /// Everything that counts as an operation on the life: its birth, edits, decisions to keep it.
    package func operations(on birth: Entry) -> [Entry] {
        entries.filter { entry in
            switch entry.step {
            case .birth: entry.dot == birth.dot
            case .edit(let life): life == birth.dot && knows(entry, birth) && admits(entry, onWorkOf: birth)
            case .keep: knows(entry, birth) && admits(entry, onWorkOf: birth)
            case .delete, .member: false
            }
        }
    }

    private func concurrent(with deletion: Entry, on birth: Entry) -> [Entry] {
        operations(on: birth).filter { !knows($0, deletion) && !knows(deletion, $0) }
    }

    package func policy(of deletion: (entry: Entry, policy: DeletePolicy), on birth: Entry) -> DeletePolicy {
        deletions.filter { other in
            ends(other.entry, birth) && !knows(other.entry, deletion.entry) && !knows(deletion.entry, other.entry)
        }.map(\.policy).max() ?? deletion.policy
    }

    package func verdict(of deletion: (entry: Entry, policy: DeletePolicy), on birth: Entry) -> Verdict {
        let judged = Judged(deletion: deletion.entry.dot, birth: birth.dot)
        if let verdict = found.verdicts[judged] { return verdict }
        let verdict = judge(deletion, on: birth)
        found.verdicts[judged] = verdict
        return verdict
    }

    private func judge(_ deletion: (entry: Entry, policy: DeletePolicy), on birth: Entry) -> Verdict {
        let speakers = births.filter { other in
            ends(deletion.entry, other) && !isFinallyEnded(other)
                && !deletions.contains { earlier in
                    knows(deletion.entry, earlier.entry) && ends(earlier.entry, other)
                        && verdict(of: earlier, on: other) == .deleted
                }
        }
        let concurrent = speakers.flatMap { self.concurrent(with: deletion.entry, on: $0) }
        if concurrent.isEmpty { return .deleted }
        switch policy(of: deletion, on: birth) {
        case .deleteWins: return .deleted
        case .updateWins: return .stays
        case .lastWriterWins:
            let key = (deletion.entry.origin.stamp, deletion.entry.dot.replica)
            return concurrent.contains { ($0.origin.stamp, $0.dot.replica) > key } ? .stays : .deleted
        case .ask:
            let isDecided = entries.contains { decision in
                switch decision.step {
                case .keep: knows(decision, deletion.entry) && admits(decision, onWorkOf: deletion.entry)
                case .delete: knows(decision, deletion.entry) && ends(decision, birth)
                case .birth, .edit, .member: false
                }
            }
            return isDecided ? .stays : .undecided
        }
    }

    /// Of every life that did not end finally.
    package var verdicts: [Dot: Verdict] {
        var verdicts: [Dot: Verdict] = [:]
        for birth in births where !isFinallyEnded(birth) {
            verdicts[birth.dot] =
                deletions.filter { ends($0.entry, birth) }.map { verdict(of: $0, on: birth) }.max() ?? .stays
        }
        return verdicts
    }

    /// What `deleteWins` drops: operations on the lives that it ends which it did not know.
    package func dropped(by deletion: Entry) -> Set<Entry> {
        Set(births.filter { ends(deletion, $0) }.flatMap { concurrent(with: deletion, on: $0) })
    }

    package func droppedCount(by deletion: Entry, of replica: ReplicaID) -> Int {
        dropped(by: deletion).count { $0.dot.replica == replica }
    }

    /// Those among them that nobody had seen who made a `deleteWins` deletion of the life: dropping them is the rule's doing,
    /// and nobody's.
    package func droppedUnseen(by deletion: Entry) -> Set<Entry> {
        Set(
            births.filter { ends(deletion, $0) }.flatMap { birth in
                let enders = deletions.filter { $0.policy == .deleteWins && ends($0.entry, birth) }.map(\.entry)
                return concurrent(with: deletion, on: birth).filter { edit in !enders.contains { knows($0, edit) } }
            })
    }
}
