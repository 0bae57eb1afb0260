package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// Snapshots of streams: beginning with one.
extension Agent {
    /// Chooses a snapshot, brings its bytes here, and puts the consumer aside until `finishRestoring`. What fails before
    /// that leaves the consumer as it was. Throws `unknown_snapshot`, `snapshot_schema`, `snapshot_foreign`, `catching_up`,
    /// `version_mismatch`, `damaged`, `nobody_has`, and as a fetch does.
    package func beginRestoring(
        space: String, consumer: String, _ request: RestoreRequest,
        progress: @escaping @Sendable (ByteProgress) -> Void
    ) async throws(ControlError) -> RestoredSnapshot {
        try checkSpace(space)
        let candidates = try await reading { () throws(ControlError) in try self.candidates(request) }
        var skipped: [String] = []
        var missing: ControlError?
        for candidate in candidates {
            let id = candidate.attachment.label
            do throws(ControlError) {
                _ = try await fetch(space: space, id: id, progress: progress)
            } catch {
                guard error.code == .nobodyHas else { throw error }
                missing = error
                skipped.append(id)
                continue
            }
            // Only now: what failed before has left the consumer as it was.
            let restore = Consumer.Restore(snapshot: id, cursor: candidate.cursor)
            try await controlled {
                _ = try await update { store throws(StoreError) in
                    try store.changeConsumer(consumer, stream: request.stream, space: .home) { known, _ in
                        known.restore = restore
                    }
                }
            }
            let entry = try await reading { () throws(ControlError) in try self.entry(of: candidate) }
            return RestoredSnapshot(snapshot: entry, skipped: skipped)
        }
        throw missing ?? .noSnapshot(of: request.stream, schema: request.schema)
    }

    /// Ends a restore: the application holds the state of the snapshot, and from now on the consumer is given the events that
    /// the snapshot does not cover. May be called again. Throws `restore_unfinished` where another restore was begun
    /// meanwhile, or none was.
    package func finishRestoring(
        space: String, consumer: String, _ request: RestoredRequest
    ) async throws(ControlError) -> ConsumerEntry {
        try checkSpace(space)
        let stream = request.stream
        let done = try await reading { () throws(ControlError) -> ConsumerEntry? in
            let known = try read { () throws(StoreError) in
                try store.findConsumer(consumer, stream: stream, space: .home)
            }
            guard let known else { throw .restoreSuperseded }
            // The caller repeats a finish whose answer was lost. It succeeded if the consumer stands exactly behind the
            // snapshot: then the consumer's state is the snapshot's.
            guard known.restore == nil, let done = try snapshotShelf().known.first(where: { request.isOf($0) }),
                known.cursor == done.cursor
            else { return nil }
            return try read { () throws(StoreError) in try entry(of: known) }
        }
        if let done { return done }
        let (changed, isFinished) = try await controlled {
            try await update { store throws(StoreError) -> (Consumer, Bool) in
                var isFinished = false
                let changed = try store.changeConsumer(consumer, stream: request.stream, space: .home) { known, _ in
                    isFinished = known.finishRestore(of: request.snapshot)
                }
                return (changed, isFinished)
            }
        }
        guard isFinished else { throw .restoreSuperseded }
        return try await stored { () throws(StoreError) in try entry(of: changed) }
    }

    /// Returns the snapshots that serve the request, best first.
    private func candidates(_ request: RestoreRequest) throws(ControlError) -> [KnownSnapshot] {
        let shelf = try snapshotShelf()
        if let id = request.snapshot { return [try named(id, on: shelf, request)] }
        let all = shelf.known
        let stream = ExactString(request.stream)
        let ofStream = all.filter { $0.record.stream == stream }
        let ofSchema = ofStream.filter { $0.record.schema == request.schema }
        let usable = ofSchema.filter { $0.problem == nil }
        guard !usable.isEmpty else {
            if let problem = ofSchema.first?.problem { throw problem }
            let unreadable = shelf.unreadable.first { $0.said.mayServe(stream: stream, schema: request.schema) }
            if let unreadable { throw unreadable.problem }
            let known = Set(ofStream.filter { $0.problem == nil }.map(\.record.schema)).sorted()
            throw known.isEmpty
                ? .noSnapshot(of: request.stream, schema: request.schema)
                : .otherSchema(of: request.stream, schema: request.schema, known: known)
        }
        var standing: [KnownSnapshot] = []
        for snapshot in usable where try stands(snapshot) { standing.append(snapshot) }
        guard !standing.isEmpty else { throw .allOutrun(of: request.stream) }
        return SnapshotChoice.ranked(standing.map(\.candidate)).map { standing[$0] }
    }

    private func named(
        _ id: String, on shelf: SnapshotShelf, _ request: RestoreRequest
    ) throws(ControlError) -> KnownSnapshot {
        func isMeant(_ label: String) -> Bool { !id.isEmpty && label.hasPrefix(id.uppercased()) }
        let found = shelf.known.filter { isMeant($0.attachment.label) }
        guard let first = found.first else {
            throw shelf.unreadable.first { $0.labels.contains(where: isMeant) }?.problem ?? .unknownSnapshot
        }
        guard found.count == 1 else { throw .ambiguousAttachment }
        guard first.record.stream == ExactString(request.stream) else {
            throw .snapshotOfOther(stream: first.record.stream.string)
        }
        guard first.record.schema == request.schema else {
            throw .schemaDiffers(first.record.schema, asked: request.schema)
        }
        if let problem = first.problem { throw problem }
        guard try stands(first) else { throw .outrun(of: request.stream) }
        return first
    }

    /// Returns true if no event is stored that its state would have to be undone for.
    func stands(_ snapshot: KnownSnapshot) throws(ControlError) -> Bool {
        guard snapshot.record.isCanonical else { return true }
        let page = try read { () throws(StoreError) in
            try store.read(
                ConsumerQuery(
                    space: .home, stream: snapshot.record.stream.string, cursor: snapshot.cursor, limit: 1,
                    byteBudget: 0)
            )
        }
        return page.rewind == nil
    }
}

extension RestoredRequest {
    fileprivate func isOf(_ snapshot: KnownSnapshot) -> Bool {
        snapshot.attachment.label == self.snapshot && snapshot.record.stream == ExactString(stream)
    }
}
