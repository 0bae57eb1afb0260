import SyncModel

// The contexts of authors: a segment names only what its author came to know since the one before.
extension ObjectRows {
    /// The contexts of a replica's author, by the end of each segment that named more than the one before it.
    struct ContextSteps {
        private(set) var ends: [Int64] = []
        private(set) var contexts: [VersionVector] = []

        mutating func append(_ context: VersionVector, at end: Int64) {
            ends.append(end)
            contexts.append(context)
        }

        func context(at end: Int64) -> VersionVector {
            // The last that does not end behind it.
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if ends[middle] <= end { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? VersionVector() : contexts[low - 1]
        }
    }

    /// Returns the steps by replica.id, of all replicas in the vector: one pass over their segments below it, for many
    /// objects.
    func contextSteps(upTo vector: VersionVector) throws(StoreError) -> [Int64: ContextSteps] {
        var steps: [Int64: ContextSteps] = [:]
        let firsts = try log.firstContexts()
        for entry in vector.entries {
            guard let replica = try log.findReplica(entry.replica) else { continue }
            steps[replica] = try contextSteps(
                of: replica, upTo: Int64(clamping: entry.next), behind: firsts.inherited(by: entry.replica))
        }
        return steps
    }

    /// Reads the replica's contexts in one pass over its log, including segments that touched no object. It begins at the
    /// context stored for the first held change, or at the start if changes from before a received state are held below that.
    ///
    /// - Parameter inherited: what the author had seen before the first.
    func contextSteps(
        of replica: Int64, upTo end: Int64, behind inherited: VersionVector
    ) throws(StoreError) -> ContextSteps {
        let noted = try access.first(
            "SELECT first_held, first_context FROM replica WHERE id = ? AND compacted >= first_held", .integer(replica)
        ) { row throws(StoreError) in (row.integer(0), row.isNull(1) ? nil : row.blob(1)) }
        var steps = ContextSteps()
        var context = inherited
        var start: Int64 = 0
        if !inherited.isEmpty { steps.append(context, at: start) }
        if let (first, noted) = noted, let bytes = noted {
            guard let seen = VectorColumn.decoded(bytes) else {
                throw .corrupt(detail: "what an author had seen does not read back")
            }
            start = first
            context.join(seen)
            steps.append(context, at: start)
        }
        try access.forEach(
            "SELECT end, bytes, change_count FROM segment WHERE replica = ? AND end > ? AND end <= ? ORDER BY end",
            .integer(replica), .integer(start), .integer(end)
        ) { row throws(StoreError) in
            var reader = ByteReader(row.blob(1))
            guard let first = try? ChangeView(&reader) else { throw .corrupt(detail: "a change does not read back") }
            var named = VersionVector(first.context)
            // Of a residue also the others, where an author came to know more than one change may name.
            if row.integer(2) == 0 {
                while let view = try? ChangeView(&reader) { named.join(VersionVector(view.context)) }
            }
            guard !named.isEmpty else { return true }
            context.join(named)
            steps.append(context, at: row.integer(0))
            return true
        }
        return steps
    }
}

/// The contexts by replica.id, of all that the log has of each replica.
final class KnownContexts {
    var steps: [Int64: ObjectRows.ContextSteps] = [:]
}
