package import SyncModel

/// An operation that counts nowhere, for a person to look at.
package struct VoidOperation: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case object(ObjectKey, Edit)
        case event(SyncModel.Operation.Event)
        case schema(SyncModel.Operation.SchemaEdit)
        case stream(SyncModel.Operation.StreamSetting)
        /// A drop of so many events from a stream.
        case dropEvents(ExactString)
        case addition(DeviceID, name: String, role: MemberFact.Role)
        case retirement(DeviceID)
        case statement(TrustStatement.Content)
        /// An operation of a later version.
        case unknown
    }

    package enum Edit: Sendable, Hashable {
        /// An edit, with the first `fieldLimit` of its fields.
        case created([ExactString])
        case edited([ExactString])
        case attached(AttachedFile)
        case detached
        case deleted
        case kept
    }

    package static let fieldLimit = 64

    package let key: CanonicalKey
    /// The author's clock, for display.
    package let wallMilliseconds: Int64
    package let content: Content
    /// True if an admin accepted it. Operations on objects and events only.
    package internal(set) var isAccepted = false
    /// The segment's row.
    let segment: Int64

    var isOnObject: Bool { if case .object = content { true } else { false } }

    /// The approximate memory that it takes, in bytes.
    var byteCount: Int {
        switch content {
        case .event(let event): event.payload.count + 128
        case .object(_, .created(let fields)), .object(_, .edited(let fields)): fields.count * 24 + 128
        case .schema(let edit): edit.canonicalBytes.count + 128
        case .object, .stream, .dropEvents, .addition, .retirement, .statement, .unknown: 128
        }
    }

    /// Nil for what says nothing to a person: counters without effect, and notes on other operations.
    init?(
        _ operation: SyncModel.Operation, at key: CanonicalKey, wallMilliseconds: Int64, segment: Int64
    ) {
        switch operation {
        case .appendEvent(let event): content = .event(event)
        case .addMember(let fact): content = .addition(fact.device, name: fact.name, role: fact.role)
        case .editSchema(let edit): content = .schema(edit)
        case .setStream(let setting): content = .stream(setting)
        case .dropEvents(let drop): content = .dropEvents(drop.stream)
        case .cut(let fact): content = .retirement(fact.device)
        case .trust(let statement): content = .statement(statement.content)
        case .unknown: content = .unknown
        case .editObject, .editAgain, .editAttachments, .deleteObject, .keepObject:
            guard let (object, action) = operation.objectAction else { return nil }
            content = .object(object, Edit(action))
        case .markRewriting, .settleCut, .acceptWork, .void: return nil
        }
        self.key = key
        self.wallMilliseconds = wallMilliseconds
        self.segment = segment
    }
}

extension VoidOperation.Edit {
    fileprivate init(_ action: ObjectState.Action) {
        switch action {
        case .edit(.birth, let edits): self = .created(Self.fields(of: edits))
        case .edit(_, let edits): self = .edited(Self.fields(of: edits))
        case .editAttachments(_, .attach(let file)): self = .attached(file)
        case .editAttachments(_, .detach): self = .detached
        case .delete: self = .deleted
        case .keep: self = .kept
        }
    }

    /// The edited fields, in their order, each once.
    private static func fields(of edits: [ObjectFields.Operation]) -> [ExactString] {
        var fields: [ExactString] = []
        for edit in edits {
            guard fields.count < VoidOperation.fieldLimit else { return fields }
            switch edit {
            case .update(let field, _), .remove(let field, _): if !fields.contains(field) { fields.append(field) }
            case .create: break
            }
        }
        return fields
    }
}

/// A page of the void work of a device.
package struct VoidWorkPage: Sendable, Hashable {
    /// Void operations in the order of their stamps.
    package var operations: [VoidOperation] = []
    /// The key behind which the next page begins; nil for the last page.
    package var next: CanonicalKey?
    /// True if the log no longer has some of the void changes.
    package var isDropped = false
}

/// The void work of a device on one object, as far as an admin can accept it.
package enum WorkOnObject: Sendable {
    /// There is none.
    case none
    /// All of it was accepted.
    case accepted
    /// The log no longer has it, or not all of it.
    case dropped
    /// A retirement made it void, and not all devices have heard of that: one of them could still make it count.
    case unsettled
    case found(WorkToAccept)
}
