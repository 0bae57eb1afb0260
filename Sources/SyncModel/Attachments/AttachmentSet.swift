/// The attachments of one life of an object.
///
/// A dot is attached once, so a detached attachment is never attached again, on any replica. Two people who attach the same
/// file have attached two.
package struct AttachmentSet: Replicated {
    package enum Operation: Hashable, Sendable {
        case attach(AttachedFile)
        /// Detaches the attachment of this dot. Void unless its author had seen it attached here.
        case detach(DotReference)
    }

    /// Ascending by id.
    package private(set) var sorted: [Attachment] = []

    package init() {}

    /// - Parameter sorted: ascending by id, each once.
    init(sorted: [Attachment]) { self.sorted = sorted }

    package var isLive: Bool { !sorted.isEmpty }

    package static func span(of operation: Operation) -> UInt64 { 1 }

    package mutating func apply(_ operation: Operation, at origin: Origin) {
        switch operation {
        case .attach(let file): insert(Attachment(id: origin.dot, stamp: origin.stamp, file: file))
        case .detach(let reference):
            let id = reference.dot(by: origin.dot.replica)
            guard origin.knows(id), let index = index(of: id) else { return }
            let gone = sorted.remove(at: index)
            if origin.faults.contains(.detachTakesSameFile) { sorted.removeAll { $0.file.blob == gone.file.blob } }
        }
    }

    package var removal: Removal { Removal() }

    package mutating func remove(_ removal: Removal, at origin: Origin) {
        sorted.removeAll { origin.knows($0.id) }
    }

    package func delta(since vector: VersionVector) -> Delta {
        Delta(
            added: AttachmentSet(sorted: sorted.filter { !vector.covers($0.id) }),
            kept: DotRuns(sorted.lazy.map(\.id).filter(vector.covers)))
    }

    package mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        sorted.removeAll { attachment in
            theirs.covers(attachment.id) && !delta.kept.contains(attachment.id)
                && delta.added.index(of: attachment.id) == nil
        }
        // What we have seen and have no more was detached here.
        for attachment in delta.added.sorted where !held.covers(attachment.id) { insert(attachment) }
    }

    private mutating func insert(_ attachment: Attachment) {
        let index = sorted.firstIndexPast { $0.id >= attachment.id }
        if index < sorted.count, sorted[index].id == attachment.id { return }
        sorted.insert(attachment, at: index)
    }

    private func index(of id: Dot) -> Int? {
        let index = sorted.firstIndexPast { $0.id >= id }
        return index < sorted.count && sorted[index].id == id ? index : nil
    }
}

extension AttachmentSet {
    package var count: Int { sorted.count }

    package func contains(_ id: Dot) -> Bool { index(of: id) != nil }

    /// The part of a life's attachments that a replica lacks.
    package struct Delta: Hashable, Sendable {
        let added: AttachmentSet
        /// The attachments that are present and held by the receiver already.
        let kept: DotRuns
    }
}

extension [Attachment] {
    /// The attachments in the order in which people see them.
    package var newestFirst: [Attachment] { sorted { $1.key < $0.key } }
}
