import SyncModel

/// The state about stability that the core keeps between two steps.
struct Stability: Sendable {
    /// The time at which our own acknowledgement is due; nil while the last one says what we hold.
    var acknowledgeAt: Tick?
    var acknowledgedAt: Tick?
    /// The store signs one.
    var isAcknowledging = false

    /// True if something came that may make an acknowledgement count, or another vector stable.
    var isMoved = true
    /// The digest of what was held when stability was last computed.
    var lookedAt: Sum256?
    var stable = VersionVector()

    /// A pass of collection: `idle` → `due` → `stepping` → `due` … → `idle`.
    var collection = Collection.idle
    /// The vector of the newest pass that came to its end.
    var collected = VersionVector()

    enum Collection: Sendable, Equatable {
        case idle
        /// The next step, behind the deletion of this dot, waits its turn, so that local writes find the store free.
        case due(at: Tick, VersionVector, after: Dot?)
        case stepping(VersionVector, after: Dot?)
    }
}

// Stability: which acknowledgements count, what is therefore stable, and collecting what no member needs any more.
extension SpaceMachine {
    /// The vector that a counted acknowledgement of every member covers: every operation still to come knows all of it.
    var stable: VersionVector { stability.stable }

    mutating func planStability(_ step: inout CoreStep) {
        passAcknowledgementDeadlines(&step)
        planAcknowledgement(&step)
        if stability.isMoved || stability.lookedAt != held.digest {
            stability.isMoved = false
            stability.lookedAt = held.digest
            countAcknowledgements(&step)
            stability.stable = computedStable
        }
        planCollection(&step)
    }

    /// The vector that every member is known to hold. Every member known here counts, readers too, also a member that was
    /// added behind the vector: it may have seen less than the member that added it. A member added by a change that we do
    /// not hold was added behind its author's counted acknowledgement, and so knows all that is stable.
    private var computedStable: VersionVector {
        if configuration.faults.contains(.collectBeforeStability) { return held.vector() }
        var stable: VersionVector?
        let released = releasedDevices
        for member in membership.members where !released.contains(member.device) {
            guard let counted = acknowledgements[member.device]?.counted else { return VersionVector() }
            stable = stable?.meet(counted) ?? counted
        }
        return stable ?? VersionVector()
    }

    // MARK: Counting

    private mutating func countAcknowledgements(_ step: inout CoreStep) {
        for row in acknowledgements.rows {
            guard case .waiting(let missing) = row.check,
                missing.map({ held.next(of: $0.replica) >= $0.next }) ?? true
            else { continue }
            look(at: row.newest.acknowledgement, &step)
        }
    }

    /// Checks whether an acknowledgement counts: its author's changes up to its ends must be held, and what it covers must be
    /// held with the same heads. An author that forked, or that covers a history no member has, holds everything up.
    private mutating func look(at acknowledgement: Acknowledgement, _ step: inout CoreStep) {
        let device = acknowledgement.device
        // A reader's changes count nowhere, and no peer takes them.
        let ends = membership.signingKey(of: device) == nil ? [] : acknowledgement.laterEnds.entries
        let needed = acknowledgement.vector.entries + ends
        if let missing = needed.first(where: { held.next(of: $0.replica) < $0.next }) {
            return acknowledgements.record(.waiting(for: missing), of: device)
        }
        var sum = held.digest
        var elsewhere: [VersionVector.Entry] = []
        for entry in held.entries {
            let next = acknowledgement.vector.next(of: entry.replica)
            guard next != entry.tip.next else { continue }
            sum -= entry.tip.digestTerm(of: entry.replica)
            if next > 0 { elsewhere.append(VersionVector.Entry(replica: entry.replica, next: next)) }
        }
        guard !elsewhere.isEmpty else {
            return acknowledgements.record(sum == acknowledgement.digest ? .counted : .refuted, of: device)
        }
        let id = ReadID(rawValue: step.nextID())
        acknowledgements.record(.reading(id, elsewhere, sum: sum), of: device)
        step.emit(.readHeads(id, elsewhere))
    }

    mutating func handleHeads(_ id: ReadID, _ heads: [ChainHead?], _ step: inout CoreStep) {
        if handleCompared(id, heads, &step) { return }
        guard let reading = acknowledgements.reading(id) else { return }
        var sum = reading.sum
        for (entry, head) in zip(reading.entries, heads) {
            guard let head else { continue }
            sum += ReplicaTip(next: entry.next, head: head, stamp: .zero).digestTerm(of: entry.replica)
        }
        let isEqual = sum == acknowledgements[reading.device]?.newest.acknowledgement.digest
        acknowledgements.record(isEqual ? .counted : .refuted, of: reading.device)
        stability.isMoved = true
    }

    // MARK: Collecting

    /// The time of the next step of collection; nil if none is due. Collection waits while local writes may stay open: what
    /// they are folded into must be what they saw.
    var collectionDeadline: Tick? {
        guard !sealer.mayStayOpen, !isIncomplete, case .due(let at, _, _) = stability.collection else { return nil }
        return at
    }

    private mutating func planCollection(_ step: inout CoreStep) {
        guard configuration.collectsDeletions, !isIncomplete, !forks.isTakingBack else { return }
        if case .idle = stability.collection, !stable.isEmpty, stable != stability.collected {
            stability.collection = .due(at: step.now, stable, after: nil)
        }
        guard !sealer.mayStayOpen, case .due(let at, let vector, let after) = stability.collection, step.now >= at
        else {
            return
        }
        // What was stable when the pass began may be so no longer: a member was put back, or a new one came.
        guard stable.covers(vector) else {
            stability.collection = .idle
            return
        }
        stability.collection = .stepping(vector, after: after)
        step.emit(.collect(upTo: vector, after: after, limit: configuration.bounds.collectionStepObjects))
    }

    /// Handles a durable step. The next waits a little, so that a long pass costs writers a small part of the store's time.
    mutating func handleCollected(next: Dot?, hasForgotten: Bool, _ step: CoreStep) {
        guard case .stepping(let vector, _) = stability.collection else { return }
        // As the store has raised its own: from now on, not only from the next start.
        if hasForgotten { log.recordForgotten(upTo: vector) }
        if let next {
            stability.collection = .due(at: step.now + configuration.timing.collectionPause, vector, after: next)
        } else {
            stability.collection = .idle
            stability.collected = vector
        }
    }

    mutating func handleCollectFailed(_ step: CoreStep) {
        guard case .stepping(let vector, let after) = stability.collection else { return }
        stability.collection = .due(at: step.now + configuration.timing.storeRetry, vector, after: after)
    }
}

extension TipTable {
    func vector(besides left: [ReplicaID] = []) -> VersionVector {
        VersionVector(
            entries.lazy.filter { !left.contains($0.replica) }.map {
                VersionVector.Entry(replica: $0.replica, next: $0.tip.next)
            })
    }
}
