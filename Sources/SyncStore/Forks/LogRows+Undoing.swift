import SyncModel

// Where a part of the log came as state, or was dropped, what follows from it cannot be made anew. What goes lies behind that part,
// since everybody had acknowledged it, or the one it came from: so what touched objects is undone object by object, each from where its
// held history begins.
extension LogRows {
    /// Makes what follows from the log what it would be without what was removed from it.
    ///
    /// - Parameter state: before.
    /// - Throws: `notApplicable` where that cannot be told.
    func undo(
        _ gone: Gone, _ taking: TakingBack, on state: LogState, at wallMilliseconds: Int64
    ) throws(StoreError) {
        let starts = taking.starts
        let isInState = starts.contains { $0.value < state.firstHeld.next(of: $0.key) }
        if gone.isFinal || isInState || state.cuts.rests(on: starts) { throw taking.refusal }
        // The snapshots of large objects were made with all membership facts known until now.
        let objects = ObjectRows(self, sharesContexts: true)
        _ = try knownMembers()
        for (replica, start) in starts { try forget(replica, from: start) }
        for (segment, keys) in gone.touched {
            for key in keys {
                guard let row = try objects.objectRow(key) else { continue }
                try access.run(
                    "DELETE FROM touch WHERE object = ? AND segment = ?", .integer(row), .integer(segment))
            }
        }
        var after = try self.state()
        // A device is no longer admitted, or by another fact: its work that counts may be on objects that are not examined
        // here.
        guard after.cuts == state.cuts else { throw taking.refusal }
        var keys = gone.touched.reduce(into: Set<ObjectKey>()) { $0.formUnion($1.objects) }.sorted()[...]
        while !keys.isEmpty {
            let plan = try plan(toUndo: keys.prefix(Self.undoneAtOnce), taking, on: after, objects)
            keys = keys.dropFirst(Self.undoneAtOnce)
            try objects.write(plan, segments: [], at: wallMilliseconds)
            (after.counts, after.objectPosition) = (plan.counts, plan.position)
        }
        try access.run("DELETE FROM latest_event")
        let streams = StreamRows(self)
        try streams.write(
            StreamPlan(
                from: [:], to: after.streams, ends: StrictEndMove(staying: after.cuts), collected: [], streams))
        try access.run(
            "UPDATE space SET digest = ? WHERE id = ?", .blob(try recomputedDigest().bytes), .integer(spaceRow))
    }

    /// The number of objects undone at once: they are in memory together.
    private static var undoneAtOnce: Int { 64 }

    private func plan(
        toUndo keys: some Sequence<ObjectKey>, _ taking: TakingBack, on state: LogState, _ objects: ObjectRows
    ) throws(StoreError) -> ObjectPlan {
        var plan = ObjectPlan(on: state)
        for key in keys where try objects.objectRow(key) != nil {
            // A state that came later may hold some of it.
            let known = try objects.beginning(of: key)?.state.lives.touched ?? VersionVector()
            let isMixed = taking.starts.contains { $0.value < known.next(of: $0.key) }
            guard !isMixed, try plan.rebuild(key, objects) else { throw taking.refusal }
        }
        try plan.finish(objects)
        return plan
    }

    /// Forgets what its author knew, as far as the remaining changes do not say it.
    private func forget(_ replica: ReplicaID, from start: UInt64) throws(StoreError) {
        try access.run(
            "DELETE FROM addition WHERE space = ? AND replica = ? AND counter >= ?", .integer(spaceRow),
            .blob(replica.bytes), .integer(Int64(start)))
        guard let row = try findReplica(replica) else { return }
        if start == 0 {
            try access.run(
                "UPDATE replica SET first_named = NULL, first_is_hearsay = 0 WHERE id = ?", .integer(row))
        }
        let first = try readFirstContexts().context(of: replica)
        var named = first
        for step in try contextSteps(of: replica) { named.join(VersionVector(step.moved)) }
        try access.run(
            "UPDATE replica SET named = ? WHERE id = ?",
            .blob(named == first ? nil : VectorColumn.encoded(named)), .integer(row))
    }
}

extension CutTable {
    /// True if a change behind one of these places is evidence for or against a retirement or revocation.
    fileprivate func rests(on starts: [ReplicaID: UInt64]) -> Bool {
        let said = witnesses.map(\.change) + returns.map(\.addition)
        return said.contains { dot in starts[dot.replica].map { $0 <= dot.counter } ?? false }
            || exemptions.contains { starts[$0.replica] == 0 }
    }
}

extension Segment {
    /// True if its operations replace something without naming the old value.
    var setsWhatHolds: Bool {
        let kinds = [
            SyncModel.Operation.Kind.editSchema, SyncModel.Operation.Kind.setStream, SyncModel.Operation.Kind.cut,
            SyncModel.Operation.Kind.markRewriting, SyncModel.Operation.Kind.settleCut,
            SyncModel.Operation.Kind.trust,
        ]
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            var isFound = false
            view.forEachOperation(in: bytes) { _, operation in isFound = isFound || kinds.contains(operation.kind) }
            if isFound { return true }
        }
        return false
    }
}
