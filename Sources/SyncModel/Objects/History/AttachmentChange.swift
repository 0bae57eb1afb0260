/// What a change did to the attachments that a reader sees.
package enum AttachmentChange: Hashable, Sendable {
    case attached(Attachment)
    case detached(Attachment)

    /// What went, then what came, each in the order in which it was attached here.
    static func between(_ before: [Attachment], _ after: [Attachment]) -> [AttachmentChange] {
        let difference = AttachmentDifference(from: before, to: after)
        return difference.gone.newestFirst.reversed().map { .detached($0) }
            + difference.new.newestFirst.reversed().map { .attached($0) }
    }
}
