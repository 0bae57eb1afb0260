extension ObjectLives {
    /// Takes in what another node knows of the same object: as if each had applied the other's operations.
    ///
    /// What one side has and the other lacks, although its vector covers it, is gone there: a life that ended finally, or
    /// was collected; deletions that were collected. What the other's vector does not cover is concurrent with everything
    /// that only the other has, since neither author can have known it: so a deletion of one side judges the lives of the
    /// other by the rules for operations that arrive one by one.
    ///
    /// - Parameters:
    ///   - held: our vector.
    ///   - theirs: the other's.
    ///   - earlier: births, edits and decisions of this object that are here and were not void. How many of the other side's
    ///     edits a deletion of ours drops, the state does not say: of each of their replicas at least one is counted.
    mutating func join(
        _ other: ObjectLives, held: VersionVector, theirs: VersionVector, earlier: () -> [EarlierEdit]
    ) {
        let mine = self
        let news = other.deletions.filter { !held.covers($0.dot) }
        let ours = mine.deletions.filter { !theirs.covers($0.dot) }
        var edits: [EarlierEdit]?
        var joined: [DeletionRecord] = mine.deletions.compactMap { record in
            if let twin = other.deletions.first(where: { $0.dot == record.dot }) { return record.merged(with: twin) }
            guard !theirs.covers(record.dot) else { return nil }
            var record = record
            record.judge(other, beyond: held, [])
            return record
        }
        for var record in news {
            if record.policy == .deleteWins, edits == nil { edits = earlier() }
            record.judge(mine, beyond: theirs, edits ?? [])
            joined.append(record)
        }
        deletions = joined.sorted { $0.dot < $1.dot }
        let ended = Set(deletions.flatMap(\.ended))
        lives = Self.merged(mine, other, held: held, theirs: theirs).filter { !ended.contains($0.birth) }.map { life in
            life.recording(mine.touches(on: life.birth, beyond: theirs), against: news)
                .recording(other.touches(on: life.birth, beyond: held), against: ours)
                .forgetting { dot in !deletions.contains { $0.dot == dot } }
        }
        if deletions.isEmpty { lives = lives.map(\.withoutDeletions) }
        touched.join(other.touched)
        greatestStamp = max(greatestStamp, other.greatestStamp)
    }

    /// Lives that neither side has seen end, sorted by birth.
    private static func merged(
        _ mine: ObjectLives, _ other: ObjectLives, held: VersionVector, theirs: VersionVector
    ) -> [LifeRecord] {
        var lives: [LifeRecord] = []
        for life in mine.lives {
            if let twin = other.lives.first(where: { $0.birth == life.birth }) {
                lives.append(life.merged(with: twin))
            } else if !theirs.covers(life.birth) {
                lives.append(life)
            }
        }
        for life in other.lives where !held.covers(life.birth) {
            if !lives.contains(where: { $0.birth == life.birth }) { lives.append(life) }
        }
        return lives.sorted { $0.birth < $1.birth }
    }

    /// The last operations on a life that a node at `vector` lacks.
    private func touches(on birth: Dot, beyond vector: VersionVector) -> [LifeRecord.Touch] {
        guard let life = lives.first(where: { $0.birth == birth }) else { return [] }
        return life.touches.filter { !vector.covers($0.dot) }
    }
}

extension DeletionRecord {
    /// Returns the record of two nodes that both have this deletion, with what either knows of it.
    fileprivate func merged(with twin: DeletionRecord) -> DeletionRecord {
        var merged = DeletionRecord(
            dot: dot, stamp: stamp, policy: policy, wallMilliseconds: wallMilliseconds,
            known: known.merged(with: twin.known), births: births.merged(with: twin.births),
            members: Set(members + twin.members).sorted(), keeps: keeps, ended: ended, edited: edited)
        for dot in twin.keeps { merged.keeps.insertSorted(dot) }
        for birth in twin.ended { merged.ended.insertSorted(birth) }
        // Each node has counted a replica's edits up to some point, so the greater count includes the lesser one.
        for edit in twin.edited { merged.raise(edit) }
        return merged
    }

    private mutating func raise(_ edit: Edited) {
        let index = edited.firstIndexPast { !($0.replica < edit.replica) }
        if index < edited.count, edited[index].replica == edit.replica {
            edited[index].count = max(edited[index].count, edit.count)
            edited[index].lastWallMilliseconds = max(edited[index].lastWallMilliseconds, edit.lastWallMilliseconds)
        } else {
            edited.insert(edit, at: index)
        }
    }

    /// Ends what the side has that did not know of it, and lists the edits that go with it.
    ///
    /// - Parameters:
    ///   - vector: of the side that has the deletion: what it covers was judged there.
    ///   - edits: what is known of the side's operations.
    fileprivate mutating func judge(
        _ side: ObjectLives, beyond vector: VersionVector, _ edits: [ObjectLives.EarlierEdit]
    ) {
        guard policy == .deleteWins else { return }
        // None of them can have known it.
        let births = (side.lives.map(\.birth) + side.deletions.flatMap(\.ended)).filter { ends($0, known: KnownDots()) }
        for birth in births { ended.insertSorted(birth) }
        var counted: Set<ReplicaID> = []
        for edit in edits where !vector.covers(edit.dot) && edit.lives.contains(where: births.contains) {
            count(edit.dot.replica, wallMilliseconds: edit.wallMilliseconds)
            counted.insert(edit.dot.replica)
        }
        for life in side.lives where births.contains(life.birth) {
            for touch in life.touches where !vector.covers(touch.dot) && counted.insert(touch.replica).inserted {
                count(touch.replica, wallMilliseconds: touch.stamp.milliseconds)
            }
        }
    }
}

extension LifeRecord {
    fileprivate func merged(with twin: LifeRecord) -> LifeRecord {
        var dissents = dissents
        for dissent in twin.dissents {
            let index = dissents.firstIndexPast { !($0.deletion < dissent.deletion) }
            if index < dissents.count, dissents[index].deletion == dissent.deletion {
                dissents[index].touches = dissents[index].touches.merged(with: dissent.touches)
            } else {
                dissents.insert(dissent, at: index)
            }
        }
        return LifeRecord(
            birth: birth, stamp: stamp, known: known.merged(with: twin.known),
            touches: touches.merged(with: twin.touches), dissents: dissents)
    }

    /// Returns the record with operations that none of the deletions knew of.
    fileprivate func recording(_ touches: [Touch], against deletions: [DeletionRecord]) -> LifeRecord {
        guard !touches.isEmpty else { return self }
        let dissents = deletions.filter { $0.ends(self) }.map { Dissent(deletion: $0.dot, touches: touches) }
        return merged(with: LifeRecord(birth: birth, stamp: stamp, known: known, dissents: dissents))
    }

    /// Returns the record without the dissents from deletions that are not kept any more.
    fileprivate func forgetting(_ isGone: (Dot) -> Bool) -> LifeRecord {
        LifeRecord(
            birth: birth, stamp: stamp, known: known, touches: touches,
            dissents: dissents.filter { !isGone($0.deletion) })
    }
}

extension KnownDots {
    /// Returns the later of both dots per replica.
    fileprivate func merged(with other: KnownDots) -> KnownDots {
        var last: [ReplicaID: Dot] = [:]
        for dot in dots + other.dots { last[dot.replica] = max(last[dot.replica] ?? dot, dot) }
        guard let merged = KnownDots(last.values.sorted()) else { preconditionFailure("each replica occurs once") }
        return merged
    }
}

extension [LifeRecord.Touch] {
    /// Returns the later touch of each replica.
    fileprivate func merged(with other: [LifeRecord.Touch]) -> [LifeRecord.Touch] {
        var merged = self
        for touch in other {
            let index = merged.firstIndexPast { !($0.replica < touch.replica) }
            if index < merged.count, merged[index].replica == touch.replica {
                if merged[index].counter < touch.counter { merged[index] = touch }
            } else {
                merged.insert(touch, at: index)
            }
        }
        return merged
    }
}
