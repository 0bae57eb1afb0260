import Synchronization
package import SyncModel

/// The needs stated by the records of all spaces in a store, and by work that is void.
///
/// A pin needs nothing beyond it: it holds only while a record names the blob.
package struct RecordNeeds: BlobNeeds {
    private let store: SQLiteStore

    package init(_ store: SQLiteStore) { self.store = store }

    package func need(of blob: BlobName) throws(StoreError) -> BlobNeed {
        let need = try store.read { access throws(StoreError) in try ReferenceRows(access).need(of: blob) }
        if need == .needed { return need }
        return try store.isAttachedByVoidWork(blob) ? .needed : need
    }
}

/// The blobs that void work attaches.
struct VoidBlobs: Sendable {
    let stretches: [VoidStretch]
    private(set) var blobs: Set<BlobName> = []

    init(_ stretches: [VoidStretch], in rows: LogRows) throws(StoreError) {
        self.stretches = stretches
        for stretch in stretches {
            try rows.forEachSegment(of: stretch.replica, behind: stretch.counters.lowerBound) { segment in
                segment.forEachOperation(within: stretch.counters) { _, operation in
                    if case .editAttachments(let edit) = operation, case .attach(let file) = edit.edit {
                        blobs.insert(file.blob)
                    }
                }
            }
        }
    }
}

extension SQLiteStore {
    /// True if the log has void work that attaches the blob: its author writes it again, an admin accepts it, or it counts one day,
    /// and then the bytes may be nowhere else.
    fileprivate func isAttachedByVoidWork(_ blob: BlobName) throws(StoreError) -> Bool {
        let state = try logState()
        let stretches = state.voidStretches
        if stretches.isEmpty { return false }
        // A branch that took the place of another may be as long.
        if !state.hasTakenBack, let known = voidBlobs.withLock({ $0 }), known.stretches == stretches {
            return known.blobs.contains(blob)
        }
        let found = try readLog(space) { rows throws(StoreError) in try VoidBlobs(stretches, in: rows) }
        voidBlobs.withLock { $0 = found }
        return found?.blobs.contains(blob) ?? false
    }
}
