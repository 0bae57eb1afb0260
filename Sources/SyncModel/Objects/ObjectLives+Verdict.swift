/// What the deletions of an object make of one of its lives, or of the object.
package enum Verdict: Hashable, Sendable, Comparable {
    case stays
    /// A deletion that asks met an operation nobody has decided about.
    case undecided
    case deleted
}

extension ObjectLives {
    /// Of every life, in the order of `lives`: the harshest that a deletion gives it.
    ///
    /// A deletion D and what was concurrent with it, by the strictest policy among D and the deletions concurrent with D
    /// that end the same life: `updateWins` lets the life stay if there was an operation, `lastWriterWins` if one is
    /// later than D, `ask` is undecided until a keep, or another deletion of the life, knows D. No operation at all is
    /// death by any policy.
    ///
    /// Lives that D ends speak for each other, so that what was shown as one object is judged as one; but not a life that
    /// was dead already to D's author: what was written to an old life in vain must not save a new one.
    package var verdicts: [Verdict] {
        guard !deletions.isEmpty else { return lives.map { _ in .stays } }
        // Whoever knows a deletion knows what that knew: a deletion comes behind all that it knows.
        var given: [Dot: [Verdict]] = [:]
        for deletion in deletions.sorted(by: { $0.known.count < $1.known.count }) {
            given[deletion.dot] = verdicts(of: deletion, after: given)
        }
        return lives.indices.map { index in
            lives[index].endings.compactMap { given[$0.deletion]?[index] }.max() ?? .stays
        }
    }

    /// `.stays` for lives that it does not end.
    private func verdicts(of deletion: DeletionRecord, after given: [Dot: [Verdict]]) -> [Verdict] {
        let speakers = lives.indices.filter { index in
            !deletion.known.contains { given[$0]?[index] == .deleted }
        }
        let concurrent = speakers.flatMap { lives[$0].ending(by: deletion.dot)?.concurrent ?? [] }
        return lives.map { life in
            life.ending(by: deletion.dot) == nil ? .stays : verdict(of: deletion, on: life, concurrent)
        }
    }

    private func policy(of deletion: DeletionRecord, on life: LifeRecord) -> DeletePolicy {
        var policy = deletion.policy
        for other in deletions
        where life.ending(by: other.dot) != nil && !other.known.contains(deletion.dot)
            && !deletion.known.contains(other.dot)
        {
            policy = max(policy, other.policy)
        }
        return policy
    }

    private func verdict(of deletion: DeletionRecord, on life: LifeRecord, _ concurrent: [LifeRecord.Touch]) -> Verdict
    {
        guard !concurrent.isEmpty else { return .deleted }
        switch policy(of: deletion, on: life) {
        case .updateWins: return .stays
        case .ask: return isDecided(deletion, on: life) ? .stays : .undecided
        case .lastWriterWins:
            let isLater = concurrent.contains { ($0.stamp, $0.replica) > (deletion.stamp, deletion.dot.replica) }
            return isLater ? .stays : .deleted
        case .deleteWins: return .deleted
        }
    }

    /// Whether somebody who knew the deletion has said what is to be. A later deletion says it, and is judged itself.
    private func isDecided(_ deletion: DeletionRecord, on life: LifeRecord) -> Bool {
        !deletion.keeps.isEmpty
            || deletions.contains { $0.known.contains(deletion.dot) && life.ending(by: $0.dot) != nil }
    }

    /// The object as a whole.
    package enum Judgement: Hashable, Sendable {
        /// Nobody has begun it, or nothing of it is kept.
        case absent
        /// The births of the lives that are shown, merged, in the order they are shown.
        case live([Dot])
        /// Hidden until somebody decides.
        case undecided
        case deleted
    }

    package var judgement: Judgement {
        let verdicts = verdicts
        if verdicts.contains(.undecided) { return .undecided }
        let staying = lives.indices.filter { verdicts[$0] == .stays }.map { lives[$0] }
        if !staying.isEmpty { return .live(staying.sorted { $0.key < $1.key }.map(\.birth)) }
        return isEmpty ? .absent : .deleted
    }

    /// Whether the object is deleted by a record that forbids to begin it anew.
    package var isBarred: Bool { judgement == .deleted && deletions.contains { $0.policy == .deleteWins } }
}
