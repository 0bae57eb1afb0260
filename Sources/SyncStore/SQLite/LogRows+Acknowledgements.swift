import SyncModel

// Members' newest acknowledgements, chain heads between signatures, and the floor.
extension LogRows {
    func acknowledgements() throws(StoreError) -> [SignedAcknowledgement] {
        var found: [SignedAcknowledgement] = []
        try access.forEach("SELECT signed FROM acknowledgement WHERE space = ? ORDER BY device", .integer(spaceRow)) {
            row throws(StoreError) in
            found.append(try Self.signed(row.blob(0)))
            return true
        }
        return found
    }

    func keep(_ acknowledgements: [SignedAcknowledgement]) throws(StoreError) {
        for signed in acknowledgements {
            let known = try access.first(
                "SELECT signed FROM acknowledgement WHERE space = ? AND device = ?", .integer(spaceRow),
                .blob(signed.device.bytes)
            ) { row throws(StoreError) in try Self.signed(row.blob(0)) }
            if let known, !signed.acknowledgement.isNewer(than: known.acknowledgement) { continue }
            try access.run(
                """
                INSERT INTO acknowledgement (space, device, signed) VALUES (?, ?, ?)
                ON CONFLICT (space, device) DO UPDATE SET signed = excluded.signed
                """, .integer(spaceRow), .blob(signed.device.bytes), .blob(signed.encoded))
        }
    }

    private static func signed(_ bytes: [UInt8]) throws(StoreError) -> SignedAcknowledgement {
        guard let signed = try? SignedAcknowledgement(encoded: bytes) else {
            throw .corrupt(detail: "an acknowledgement does not read back")
        }
        return signed
    }

    /// The chain head at a counter where a change ends, also inside a stored segment; nil elsewhere.
    func chainHead(of replica: ReplicaID, at end: UInt64) throws(StoreError) -> ChainHead? {
        if let head = try head(of: replica, at: end) { return head }
        guard end < 1 << 63, let row = try findReplica(replica) else { return nil }
        let stored = try access.first(
            "SELECT start, end, bytes, change_count FROM segment WHERE replica = ? AND end > ? ORDER BY end LIMIT 1",
            .integer(row), .integer(Int64(end))
        ) { row throws(StoreError) in
            row.integer(3) == 0
                ? nil
                : Segment(
                    replica: replica, start: UInt64(row.integer(0)), end: UInt64(row.integer(1)), bytes: row.blob(2),
                    signature: [])
        }
        guard let stored = stored ?? nil, let before = try head(of: replica, at: stored.start) else { return nil }
        return stored.head(at: end, from: before)
    }

    /// True if one of these histories, none of which is longer than the one here, parts from it: as far as changes are here, which tell.
    func parts(from claims: [ReplicaID: ChainEnd], on state: LogState) throws(StoreError) -> Bool {
        for (replica, claimed) in claims
        where claimed.end <= state.held.next(of: replica) && state.firstHeld.next(of: replica) <= claimed.end {
            if try chainHead(of: replica, at: claimed.end) != claimed.head { return true }
        }
        return false
    }

    func write(floor: VersionVector) throws(StoreError) {
        try access.run(
            "UPDATE space SET floor = ? WHERE id = ?", .blob(VectorColumn.encoded(floor)), .integer(spaceRow))
    }
}

extension ObjectRows {
    /// Objects whose newest deletion is stable, in the order of its dot.
    func deletions(upTo stable: VersionVector, after: Dot?, limit: Int) throws(StoreError) -> [KeptDeletion] {
        var due: [KeptDeletion] = []
        for entry in stable.entries where due.count < limit && after.map({ $0.replica <= entry.replica }) ?? true {
            guard let replica = try log.findReplica(entry.replica) else { continue }
            let first = after.flatMap { $0.replica == entry.replica ? Int64($0.counter) + 1 : nil } ?? 0
            try access.forEach(
                """
                SELECT object.deletion_counter, collection.name, object.key
                FROM object JOIN collection ON collection.id = object.collection
                WHERE object.deletion_replica = ? AND object.deletion_counter >= ? AND object.deletion_counter < ?
                ORDER BY object.deletion_counter LIMIT ?
                """, .integer(replica), .integer(first), .integer(Int64(clamping: entry.next)),
                .integer(Int64(limit - due.count))
            ) { row throws(StoreError) in
                let key = ObjectKey(collection: ExactString(row.text(1)), id: ExactString(row.text(2)))
                let dot = Dot(replica: entry.replica, counter: UInt64(row.integer(0)))
                due.append(KeptDeletion(dot: dot, object: key))
                return true
            }
        }
        return due
    }

    func write(_ plan: CollectionPlan) throws(StoreError) {
        // Collected deletions are of objects not shown: no attachment goes with them.
        try write(plan.objects, segments: try log.write(plan.log), at: 0)
        try log.write(floor: plan.log.after.floor)
        let beginnings = BeginningRows(self)
        for entry in plan.objects.changed {
            // Others go with the changes that were about them.
            guard let row = try objectRow(entry.object.key), try beginnings.held(row) == .none else { continue }
            try removeIfForgotten(entry.object.key, row)
        }
    }
}
