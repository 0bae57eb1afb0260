extension ObjectState {
    /// The writers of the values that are written apart in a register or constant, in the order in which
    /// `ObjectReading.Conflict` holds the values. Empty for other types, and where nothing is shown.
    ///
    /// - Parameter path: the field, then keys and indices.
    package func writers(at path: [ExactString], _ schema: CollectionSchema?) -> [ValueWriter] {
        let (values, preferred) = values(at: path, schema)
        switch MergedValue(values).shown(preferring: preferred)?.type {
        case .register:
            return MergedValue.united(values.filter { $0.types.contains(.register) }.map(\.register)).writers
        case .constant:
            return MergedValue.united(values.filter { $0.types.contains(.constant) }.map(\.constant)).writers
        case nil, .counter, .set, .addOnlySet, .list, .orderedSet, .text, .dictionary: return []
        }
    }

    /// Returns what the lives that are shown hold at a path, and the type that is preferred there.
    func values(
        at path: [ExactString], _ schema: CollectionSchema?
    ) -> (values: [ReplicatedValue], preferred: FieldType?) {
        guard let field = path.first, case .live(let births) = judgement else { return ([], nil) }
        var values = births.compactMap { fields(of: $0)?[field] }
        var preferred = schema?[field]?.kind.type
        for key in path.dropFirst() {
            values = Self.values(below: values, preferred, at: key)
            preferred = nil
        }
        return (values, preferred)
    }

    private static func values(
        below values: [ReplicatedValue], _ preferred: FieldType?, at key: ExactString
    ) -> [ReplicatedValue] {
        switch MergedValue(values).shown(preferring: preferred)?.type {
        case .dictionary: return values.compactMap { $0.dictionary[key] }
        case .list:
            let elements = values.flatMap { Array($0.list) }
            return Int(key.string).flatMap { elements.indices.contains($0) ? [elements[$0]] : nil } ?? []
        case nil, .register, .constant, .counter, .set, .addOnlySet, .orderedSet, .text: return []
        }
    }
}

extension ObjectLives {
    /// The deletions that met an edit and that no decision knows. Sorted.
    package var undecidedDeletions: [DeletionRecord] {
        deletions.filter { deletion in
            lives.contains { !$0.dissent(from: deletion.dot).isEmpty && !isDecided(deletion, on: $0) }
        }
    }

    /// The last operation per replica among those concurrent with the undecided deletions. Sorted by replica.
    package var undecidedEdits: [LifeRecord.Touch] {
        var last: [ReplicaID: LifeRecord.Touch] = [:]
        for deletion in undecidedDeletions {
            for touch in lives.flatMap({ $0.dissent(from: deletion.dot) }) {
                let known = last[touch.replica]
                if known.map({ $0.counter < touch.counter }) ?? true { last[touch.replica] = touch }
            }
        }
        return last.values.sorted { $0.replica < $1.replica }
    }
}
