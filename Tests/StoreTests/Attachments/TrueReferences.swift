import SyncModel
import SyncStore
import Testing

extension SQLiteStore {
    /// That references and counts are what the attachments shown come to, and these what the objects say.
    func expectTrueReferences(_ comment: Comment = "", sourceLocation: SourceLocation = #_sourceLocation) throws {
        let attachments = try attachments()
        var shown: [StoredAttachment] = []
        for collection in try collections(of: .home) {
            let query = ObjectQuery(
                space: .home, collection: collection.name, selection: .standing(.live), limit: .max)
            for object in try objects(query) {
                shown += object.state.shownAttachments.map { StoredAttachment(owner: object.key, attachment: $0) }
            }
        }
        shown.sort { $1.attachment.key < $0.attachment.key }
        #expect(attachments == shown, comment, sourceLocation: sourceLocation)
        #expect(try state().counts.attachments == shown.count, comment, sourceLocation: sourceLocation)
        let references = try references(of: .home, after: nil, limit: .max)
        let counts = Dictionary(grouping: attachments, by: \.attachment.file.blob).mapValues { Int64($0.count) }
        #expect(Set(counts.keys).isSubset(of: references.map(\.blob)), comment, sourceLocation: sourceLocation)
        for reference in references {
            let count = counts[reference.blob] ?? 0
            #expect(reference.attachmentCount == count, comment, sourceLocation: sourceLocation)
            #expect(
                (reference.releasedMilliseconds == nil) == reference.isHeld, comment, sourceLocation: sourceLocation)
        }
    }
}
