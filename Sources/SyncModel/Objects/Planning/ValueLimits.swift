/// The limits of a value that is written: every node must be able to read it back.
enum ValueLimits {
    /// - Parameter level: how many containers the value is in, the object's fields included.
    static func check(_ value: JSONValue, level: Int) throws(ObjectRefusal) {
        guard level + value.depth <= JSONValue.maximumDepth else { throw .tooDeep }
        guard value.canonicalBytes.count <= Limits.payloadBytes else {
            throw .tooLarge(limitBytes: Limits.payloadBytes)
        }
    }

    /// An element lies one level below the path.
    static func check(_ edit: FieldEdit) throws(ObjectRefusal) {
        guard edit.path.count <= JSONValue.maximumDepth else { throw .tooDeep }
        switch edit.action {
        case .set(let value): try check(value, level: edit.path.count)
        case .add(let value), .remove(let value), .insert(_, let value):
            try check(value, level: edit.path.count + 1)
        case .increment, .unset, .delete, .move: break
        }
    }
}
