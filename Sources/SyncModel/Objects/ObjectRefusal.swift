/// The reason why a local write to an object or a schema is refused. Nothing was written, and nothing of the same write will
/// be.
package enum ObjectRefusal: Error, Hashable, Sendable {
    /// A deletion that wins is still held: begin another object, or wait until the deletion is forgotten everywhere.
    case deleted
    /// A deletion asks: decide first.
    case undecided
    /// This device has not yet received the admission that lets it write to objects of other devices.
    case catchingUp
    /// This device wrote to the object before it heard of its retirement, and that waits to be written again.
    case writingAgain
    /// The object is not as the writer saw it; nil: it does not exist.
    case versionMismatch(current: Dot?)
    /// The object to create exists already.
    case exists(version: Dot?)
    /// The object to change does not exist.
    case notFound
    /// The collection's schema says `"upsert": false`: only an explicit creation begins an object.
    case creationRequired
    /// The field holds, or its schema says, another type than this write needs.
    case typeMismatch(field: String, expected: FieldType)
    /// A constant has a value and keeps it.
    case constant(field: String)
    case indexOutOfRange(field: String, count: Int)
    /// The offset in a text is inside the `Character` that goes from `start` to `end`, and that was not to be cut.
    case insideCharacter(field: String, offset: Int, start: Int, end: Int)
    /// A counter would leave 64 bits.
    case counterOverflow(field: String)
    /// The value has more than `JSONValue.maximumDepth` containers inside each other.
    case tooDeep
    case tooLarge(limitBytes: Int)
    case unknownOperation(String)
    case noSuchField(String)
    case invalidName(String)
    /// This device may only read.
    case readOnly
    /// A schema names a type that this version does not know.
    case unknownType(field: String, name: String)
    /// A part of a schema is not what it has to be; `key` says which.
    case invalidSchema(key: String)
    /// Another write was done under the same key.
    case keyReused
    /// The field's values of its present type would not be shown any more.
    case wouldLoseData(field: String, from: FieldType)
}

extension ObjectRefusal {
    /// Stable; what HTTP, the command line and clients see.
    package var code: String {
        switch self {
        case .deleted: "object_deleted"
        case .undecided: "undecided"
        case .catchingUp: "catching_up"
        case .writingAgain: "writing_again"
        case .versionMismatch: "version_mismatch"
        case .exists: "exists"
        case .notFound: "not_found"
        case .creationRequired: "creation_required"
        case .typeMismatch: "type_mismatch"
        case .constant: "constant"
        case .indexOutOfRange: "index_out_of_range"
        case .insideCharacter: "inside_character"
        case .counterOverflow: "counter_overflow"
        case .tooDeep: "too_deep"
        case .tooLarge: "too_large"
        case .unknownOperation: "unknown_operation"
        case .noSuchField: "no_such_field"
        case .invalidName: "invalid_name"
        case .readOnly: "read_only"
        case .unknownType: "unknown_type"
        case .invalidSchema: "invalid_schema"
        case .wouldLoseData: "would_lose_data"
        case .keyReused: "key_reused"
        }
    }
}
