/// A change to the attachments that a reader sees.
package enum AttachmentChange: Hashable, Sendable {
    case attached(Attachment)
    case detached(Attachment)

    /// Returns the removed attachments, then the added ones, each in the order in which they were attached here.
    static func between(_ before: [Attachment], _ after: [Attachment]) -> [AttachmentChange] {
        let difference = AttachmentDifference(from: before, to: after)
        return difference.gone.newestFirst.reversed().map { .detached($0) }
            + difference.new.newestFirst.reversed().map { .attached($0) }
    }
}
