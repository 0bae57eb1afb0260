import Crypto

extension ObjectState {
    /// The attachments of what is shown, of all lives that are, ascending by id; none when nothing is.
    package var shownAttachments: [Attachment] {
        guard case .live(let births) = judgement else { return [] }
        let sets = births.compactMap(attachments(of:))
        // The usual case without a copy. A dot is of one life.
        if sets.count == 1 { return sets[0].sorted }
        return sets.flatMap(\.sorted).sorted { $0.id < $1.id }
    }
}

extension Attachment {
    /// Returns the attachment's term of the state digest, for one that a reader sees.
    package func digestTerm(of owner: ObjectKey) -> Sum256 {
        var bytes = Array("lanyard/digest/attachment/v1".utf8)
        owner.append(to: &bytes)
        bytes += id.replica.bytes
        bytes.append(varint: id.counter)
        file.append(to: &bytes)
        return Sum256(SHA256.hash(data: bytes))
    }
}

/// The difference between two lists of attachments: those removed and those added.
package struct AttachmentDifference: Hashable, Sendable {
    /// Ascending by id.
    package private(set) var gone: [Attachment] = []
    /// Ascending by id.
    package private(set) var new: [Attachment] = []

    /// - Parameters: both ascending by id. A list that was not touched costs nothing, however long it is.
    package init(from before: [Attachment], to after: [Attachment]) {
        guard before != after else { return }
        var (one, other) = (before[...], after[...])
        while let old = one.first, let next = other.first {
            if old.id == next.id {
                one.removeFirst()
                other.removeFirst()
            } else if old.id < next.id {
                gone.append(one.removeFirst())
            } else {
                new.append(other.removeFirst())
            }
        }
        gone += one
        new += other
    }

    package var isEmpty: Bool { gone.isEmpty && new.isEmpty }
}
