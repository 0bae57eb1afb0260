import SyncModel

/// The edits of a life of a large object, as stored in a row of `edit`.
struct NotedEdits {
    /// `Operation.Kind`: edits fields, attaches or detaches.
    let kind: UInt64
    let bytes: [UInt8]

    init(kind: UInt64, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    /// Nil for what is not on one life.
    init?(_ action: ObjectState.Action) {
        var bytes: [UInt8] = []
        switch action {
        case .edit(_, let edits):
            kind = Operation.Kind.editObject
            for edit in edits { edit.append(to: &bytes) }
        case .editAttachments(_, .attach(let file)):
            kind = Operation.Kind.attach
            file.append(to: &bytes)
        case .editAttachments(_, .detach(let id)):
            kind = Operation.Kind.detach
            id.append(to: &bytes)
        case .delete, .keep: return nil
        }
        self.bytes = bytes
    }

    /// Nil when the bytes are none that were noted.
    func action(on life: Operation.LifeReference) -> ObjectState.Action? {
        var reader = ByteReader(ownBytes: bytes)
        do throws(CodecError) {
            let action: ObjectState.Action
            switch kind {
            case Operation.Kind.editObject:
                var edits: [ObjectFields.Operation] = []
                while !reader.isAtEnd { edits.append(try ObjectFields.Operation(reading: &reader)) }
                action = .edit(life, edits)
            case Operation.Kind.attach:
                action = .editAttachments(life, .attach(try AttachedFile(reading: &reader)))
            case Operation.Kind.detach:
                action = .editAttachments(life, .detach(try DotReference(reading: &reader)))
            case _: return nil
            }
            return reader.isAtEnd ? action : nil
        } catch {
            return nil
        }
    }
}
