/// The fields of one life while a write is planned.
///
/// An operation is applied only when the fields are read again: a keystroke in a book is planned without copying the book.
final class PlannedFields {
    private var fields: ObjectFields
    private var pending: [(operation: ObjectFields.Operation, origin: Origin)] = []
    /// The operations since the last `take`.
    private var operations: [ObjectFields.Operation] = []
    /// The origin of the next operation.
    private(set) var origin: Origin

    init(_ fields: ObjectFields, at origin: Origin) {
        self.fields = fields
        self.origin = origin
    }

    /// The fields after everything planned so far.
    var value: ObjectFields {
        for (operation, origin) in pending { fields.apply(operation, at: origin) }
        pending = []
        return fields
    }

    /// Returns a draft whose operations stand at `origin` and behind.
    func draft(at origin: Origin) -> Draft<ObjectFields> {
        self.origin = origin
        return Draft(read: { self.value }, write: { self.record($0) }, current: { self.origin })
    }

    /// Returns the operations recorded since the last call.
    func take() -> [ObjectFields.Operation] {
        defer { operations = [] }
        return operations
    }

    private func record(_ operation: ObjectFields.Operation) {
        pending.append((operation, origin))
        operations.append(operation)
        origin = origin.advanced(by: ObjectFields.span(of: operation))
    }
}
