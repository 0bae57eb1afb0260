/// The verdict of an object's deletions on one of its lives, or on the object.
package enum Verdict: Hashable, Sendable, Comparable {
    case stays
    /// A deletion with the policy `ask` met a concurrent operation, and no user has decided since.
    case undecided
    case deleted
}

extension ObjectLives {
    /// The verdict on every life, in the order of `lives`: the harshest that a deletion gives it.
    ///
    /// A deletion D and the operations concurrent with it are judged by the strictest policy among D and the deletions
    /// concurrent with D that end the same life:
    ///
    /// - `updateWins` lets the life stay if there was an operation.
    /// - `lastWriterWins` lets it stay if an operation is later than D.
    /// - `ask` is undecided until a keep, or another deletion of the life, knows D.
    ///
    /// If there was no operation, the life is dead by any policy.
    ///
    /// An operation on one of the lives that D ends counts for all of them, so that what was shown as one object is judged as
    /// one. An operation on a life that was already dead to D's author counts for none: it must not save a newer life.
    package var verdicts: [Verdict] {
        guard !deletions.isEmpty else { return lives.map { _ in .stays } }
        // Nothing was concurrent: an ended life is dead, by any policy. An object that is created and deleted in turn, a
        // thousand times before any peer learns of it, is judged in no time; the newest deletion ends most lives.
        if lives.allSatisfy(\.dissents.isEmpty) {
            return lives.map { life in deletions.reversed().contains { $0.ends(life) } ? .deleted : .stays }
        }
        // A deletion that knows another also knows all that the other knew: it comes behind them.
        let knownCounts = deletions.map { deletion in deletions.count { deletion.known.covers($0.dot) } }
        let order = deletions.indices.sorted { (knownCounts[$0], $0) < (knownCounts[$1], $1) }
        var given = deletions.map { _ in lives.map { _ in Verdict.stays } }
        for index in order { given[index] = verdicts(of: deletions[index], after: given) }
        return lives.indices.map { life in given.reduce(.stays) { max($0, $1[life]) } }
    }

    /// Returns the verdict of one deletion on every life: `.stays` for lives that it does not end.
    ///
    /// - Parameter given: the verdicts of the deletions before it, in the order of `deletions`.
    private func verdicts(of deletion: DeletionRecord, after given: [[Verdict]]) -> [Verdict] {
        var dissent: [LifeRecord.Touch] = []
        for index in lives.indices {
            let touches = lives[index].dissent(from: deletion.dot)
            guard !touches.isEmpty else { continue }
            let wasDead = deletions.indices.contains {
                given[$0][index] == .deleted && deletion.known.covers(deletions[$0].dot)
            }
            if !wasDead { dissent += touches }
        }
        let concurrent = deletions.filter { !$0.known.covers(deletion.dot) && !deletion.known.covers($0.dot) }
        return lives.map { life in
            guard deletion.ends(life) else { return .stays }
            let policy = concurrent.lazy.filter { $0.ends(life) }.map(\.policy).max() ?? deletion.policy
            return verdict(of: deletion, on: life, policy: policy, dissent)
        }
    }

    /// Returns the verdict of one deletion on a life that it ends.
    ///
    /// - Parameter dissent: the operations concurrent with the deletion.
    private func verdict(
        of deletion: DeletionRecord, on life: LifeRecord, policy: DeletePolicy, _ dissent: [LifeRecord.Touch]
    ) -> Verdict {
        guard !dissent.isEmpty else { return .deleted }
        switch policy {
        case .updateWins: return .stays
        case .ask: return isDecided(deletion, on: life) ? .stays : .undecided
        case .lastWriterWins:
            let isLater = dissent.contains { ($0.stamp, $0.replica) > (deletion.stamp, deletion.dot.replica) }
            return isLater ? .stays : .deleted
        case .deleteWins: return .deleted
        }
    }

    /// True if a decision or a deletion knows this deletion. A later deletion is such a decision, and is judged itself.
    func isDecided(_ deletion: DeletionRecord, on life: LifeRecord) -> Bool {
        !deletion.keeps.isEmpty || deletions.contains { $0.known.covers(deletion.dot) && $0.ends(life) }
    }

    /// The object as a whole.
    package enum Judgement: Hashable, Sendable {
        /// The object was never begun, or nothing of it is kept.
        case absent
        /// The births of the lives that are shown, merged, in the order they are shown.
        case live([Dot])
        /// The object is hidden until a user decides.
        case undecided
        case deleted

        /// True if readers see the object, or a person has to decide whether they do.
        package var isThere: Bool {
            switch self {
            case .live, .undecided: true
            case .absent, .deleted: false
            }
        }
    }

    package var judgement: Judgement {
        let verdicts = verdicts
        if verdicts.contains(.undecided) { return .undecided }
        let staying = lives.indices.filter { verdicts[$0] == .stays }.map { lives[$0] }
        if !staying.isEmpty { return .live(staying.sorted { $0.key < $1.key }.map(\.birth)) }
        return isEmpty ? .absent : .deleted
    }

    /// True if the object is deleted by a record that forbids beginning it anew.
    package var isBarred: Bool { judgement == .deleted && deletions.contains { $0.policy == .deleteWins } }
}
