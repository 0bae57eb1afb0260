import SyncModel
import SyncStore

/// The blobs that a store says are needed are those of the attachments that it shows, counted one by one; of what was
/// deleted nothing is.
struct NeededBlobChecker: Checker {
    static let name = "needed blobs are those shown"

    mutating func inspected(_ inspection: Inspection) -> String? {
        do throws(StoreError) {
            return try Self.difference(inspection.store).map { "node \(inspection.node) \($0)" }
        } catch { return "node \(inspection.node) does not say which blobs it needs: \(error)" }
    }

    private static func difference(_ store: SQLiteStore) throws(StoreError) -> String? {
        let shown = try store.everyObject.flatMap(\.state.shownAttachments)
        let kept = try store.logState().counts.attachments
        if kept != shown.count { return "counts \(kept) attachments and shows \(shown.count)" }
        var needed: [BlobName: Int64] = [:]
        for attachment in shown { needed[attachment.file.blob, default: 0] += 1 }
        for reference in try store.references(of: .home, after: nil, limit: .max) {
            let count = needed.removeValue(forKey: reference.blob) ?? 0
            let name = reference.blob.hash.bytes.hexadecimal
            if reference.attachmentCount != count {
                return "needs \(name) \(reference.attachmentCount) times, and shows it \(count) times"
            }
            if reference.isHeld != (reference.releasedMilliseconds == nil) {
                return "does not know since when \(name) is not needed"
            }
        }
        return needed.isEmpty ? nil : "shows \(needed.count) blobs that it does not need"
    }
}
