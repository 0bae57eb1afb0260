extension MergedValue {
    /// - Parameter values: of one field, one per life that has it, in order of birth.
    init(_ values: [ReplicatedValue]) {
        if values.count == 1 {
            parts = values[0].types.map { Part(type: $0, content: Self.content(of: values, as: $0)) }
            return
        }
        parts = FieldType.allCases.compactMap { type in
            let live = values.filter { $0.types.contains(type) }
            return live.isEmpty ? nil : Part(type: type, content: Self.content(of: live, as: type))
        }
    }

    /// - Parameter values: at least one, all live in this type.
    private static func content(of values: [ReplicatedValue], as type: FieldType) -> Content {
        switch type {
        case .register: .values(values.count == 1 ? values[0].registerValues : united(values.map(\.register)).values)
        case .constant: .values(united(values.map(\.constant)).values)
        // Not united: one replica may have counted in several lives.
        case .counter: .number(Int64(clamping: values.reduce(Int128(0)) { $0 + Int128($1.counter.value) }))
        case .set: .elements(united(values.map(\.set)).elements)
        case .addOnlySet: .elements(united(values.map(\.addOnlySet)).elements)
        case .list: .list(values.flatMap { $0.list.map { MergedValue([$0]) } })
        case .orderedSet: .elements(distinct(values.flatMap { Array($0.orderedSet) }))
        case .text: .text(values.map(\.text.string).joined())
        case .dictionary: .members(members(values.map(\.dictionary)))
        }
    }

    /// Dots of different lives are different, so a join that claims to have seen nothing unites.
    static func united<Value: Replicated>(_ values: [Value]) -> Value {
        values.dropFirst().reduce(into: values[0]) { united, value in
            united.merge(value, held: VersionVector(), theirs: VersionVector())
        }
    }

    /// Each at the first of its places.
    private static func distinct(_ elements: [JSONValue]) -> [JSONValue] {
        var seen: Set<JSONValue> = []
        return elements.filter { seen.insert($0).inserted }
    }

    static func members(_ dictionaries: [ObjectFields]) -> [Member] {
        if dictionaries.count == 1 {
            return dictionaries[0].map { Member(key: $0.key, value: MergedValue([$0.value])) }
        }
        return Set(dictionaries.flatMap(\.keys)).sorted().map { key in
            Member(key: key, value: MergedValue(dictionaries.compactMap { $0[key] }))
        }
    }
}
