/// A place in an object that one operation writes and a later one, which knows it, writes anew without a trace of it.
struct ReplacedPlace: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case key(ExactString)
        case element(DotReference)
    }

    enum Kind: Hashable, Sendable {
        case register
        /// The membership of one element in a set.
        case element(FieldType, JSONValue)
    }

    let path: [Step]
    let kind: Kind
}

/// The effect of one edit of an object's fields on the places in it.
enum ReplacingEdit: Hashable, Sendable {
    case replaces(ReplacedPlace)
    /// Removes all that its author had seen under the path.
    case removes([ReplacedPlace.Step])
    /// Adds to what is there: nothing may be left out.
    case other

    init(_ edit: ObjectFields.Operation) { self.init(edit, under: []) }

    private init(
        _ edit: ReplicatedDictionary<ExactString, ReplicatedValue>.Operation, under path: [ReplacedPlace.Step]
    ) {
        switch edit {
        case .create: self = .other
        case .update(let key, let nested): self.init(nested, under: path + [.key(key)])
        case .remove(let key, _): self = .removes(path + [.key(key)])
        }
    }

    private init(_ edit: ReplicatedValue.Operation, under path: [ReplacedPlace.Step]) {
        func element(_ value: JSONValue) -> Self {
            .replaces(ReplacedPlace(path: path, kind: .element(edit.type, value)))
        }
        switch edit {
        case .register(.set): self = .replaces(ReplacedPlace(path: path, kind: .register))
        case .set(.add(let value)), .set(.remove(let value)), .addOnlySet(.add(let value)): self = element(value)
        case .dictionary(let nested): self.init(nested, under: path)
        case .list(.edit(let place, let nested)): self.init(nested, under: path + [.element(place)])
        case .set(.create), .addOnlySet(.create), .constant, .counter, .list, .orderedSet, .text: self = .other
        }
    }
}
