package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

/// Goes through an object's operations in the order in which they were applied here, doing them again.
struct ObjectHistory {
    struct Step {
        let touch: ObjectTouch
        /// The object behind the operation.
        let state: ObjectState
    }

    private var touches: ArraySlice<ObjectTouch>
    private let members: MemberFacts
    private var state = ObjectState()

    init(_ touches: [ObjectTouch], members: MemberFacts) {
        self.touches = touches[...]
        self.members = members
    }

    mutating func next() -> Step? {
        while let touch = touches.popFirst() {
            let outcome = state.apply(
                touch.action, at: touch.origin, wallMilliseconds: touch.wallMilliseconds, members: members,
                earlier: { [] })
            switch outcome {
            case .applied: return Step(touch: touch, state: state)
            case .droppedWhileDeleted, .unknownLife, .void, .repeated: continue
            }
        }
        return nil
    }
}

extension Agent {
    func history(of name: ObjectName) throws(ControlError) -> ObjectHistory {
        try stored { () throws(StoreError) in
            ObjectHistory(
                try store.touches(of: ObjectKey(name), space: .home), members: try store.members())
        }
    }

    package func history(_ query: HistoryQuery) async throws(ControlError) -> EntryPage<HistoryEntry> {
        try checkSpace(query.space)
        let key = ObjectKey(query.name)
        let schema = try stored { () throws(StoreError) in
            try store.schema(of: key.collection, space: .home)
        }
        var history = try history(of: query.name)
        var entries: [HistoryEntry] = []
        var before: JSONValue = .object([])
        var existed = false
        while let step = history.next() {
            existed = true
            let after = step.state.reading(schema)
            entries += Self.entries(of: step, from: before, to: after, field: query.field)
            before = after
        }
        guard existed else { throw .noObject }
        if let field = query.field, entries.isEmpty { throw .unknownField(field.description) }
        return try page(entries, query)
    }

    private static func entries(
        of step: ObjectHistory.Step, from before: JSONValue, to after: JSONValue, field: FieldPath?
    ) -> [HistoryEntry] {
        func entry(_ kind: HistoryEntry.Kind, _ path: FieldPath?, _ old: JSONValue?, _ new: JSONValue?) -> HistoryEntry
        {
            HistoryEntry(
                version: DotText(step.touch.origin.dot),
                time: Timestamp(millisecondsSinceEpoch: step.touch.wallMilliseconds),
                device: "\(step.touch.origin.dot.replica.device)", kind: kind, field: path,
                old: old.map { JSONText($0) }, new: new.map { JSONText($0) })
        }
        let kind: HistoryEntry.Kind
        switch step.touch.action {
        case .edit(.birth, _): kind = .created
        case .edit: kind = .edited
        case .delete: return field == nil ? [entry(.deleted, nil, nil, nil)] : []
        case .keep: return field == nil ? [entry(.kept, nil, nil, nil)] : []
        }
        if let field {
            let (old, new) = (before.value(at: field.exactKeys), after.value(at: field.exactKeys))
            return old == new ? [] : [entry(kind, field, old, new)]
        }
        let names = Set(before.keys + after.keys).sorted()
        let changed = names.compactMap { name -> HistoryEntry? in
            let (old, new) = (before[name], after[name])
            return old == new ? nil : entry(kind, FieldPath(field: name.string), old, new)
        }
        // A creation without fields, or an edit of what another type hides.
        return changed.isEmpty ? [entry(kind, nil, nil, nil)] : changed
    }

    private func page(_ entries: [HistoryEntry], _ query: HistoryQuery) throws(ControlError) -> EntryPage<HistoryEntry>
    {
        var start = 0
        if let cursor = query.after {
            guard let number = Int(cursor), entries.indices.contains(number) else { throw .badCursor }
            start = number
        }
        let end = min(start + query.limit, entries.count)
        return EntryPage(entries: Array(entries[start..<end]), next: end < entries.count ? String(end) : nil)
    }
}

extension ObjectState {
    /// The fields as readers see them, references included whether they are live or not.
    fileprivate func reading(_ schema: CollectionSchema?) -> JSONValue {
        ObjectReading(self, schema: schema, isLive: { _ in true }).json
    }
}

extension JSONValue {
    fileprivate var keys: [ExactString] {
        if case .object(let members) = self { members.map { $0.key } } else { [] }
    }

    /// What is under keys and indices, one below the other.
    fileprivate func value(at path: [ExactString]) -> JSONValue? {
        var value: JSONValue? = self
        for key in path {
            if case .array(let elements) = value {
                guard let index = Int(key.string), elements.indices.contains(index) else { return Optional.none }
                value = elements[index]
            } else {
                value = value?[key]
            }
        }
        return value
    }
}
