package import SyncModel

/// The needs stated by the records of all spaces in a store.
///
/// A pin needs nothing beyond it: it holds only while a record names the blob.
package struct RecordNeeds: BlobNeeds {
    private let store: SQLiteStore

    package init(_ store: SQLiteStore) { self.store = store }

    package func need(of blob: BlobName) throws(StoreError) -> BlobNeed {
        try store.read { access throws(StoreError) in try ReferenceRows(access).need(of: blob) }
    }
}
