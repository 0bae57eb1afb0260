/// Several lives that are shown as one object, from the side of the one that is being written.
///
/// A write is planned life by life, each time against what all of them held before it.
struct MergedLives {
    /// The lives' dictionaries in the order in which they are shown.
    let dictionaries: [ObjectFields]
    /// The one that is being written; nil when it has nothing here.
    let mine: Int?

    /// True if a value under `key` is to be written in this life: it alone holds the key, or no life does and this one is
    /// first.
    func isMine(_ key: ExactString) -> Bool {
        let holders = holders(of: key)
        return holders.isEmpty ? mine == 0 : holders == [mine]
    }

    private func holders(of key: ExactString) -> [Int?] {
        dictionaries.indices.filter { dictionaries[$0][key] != nil }
    }

    /// Returns what two or more lives hold under `key`; nil otherwise.
    func shared(_ key: ExactString, declared: FieldType?) -> Shared? {
        let holders = holders(of: key)
        guard holders.count > 1 else { return nil }
        let values = dictionaries.compactMap { $0[key] }
        return Shared(values: values, mine: holders.firstIndex(of: mine), declared: declared)
    }

    /// A value of which several lives hold a part.
    struct Shared {
        /// The lives' values in the order in which they are shown, all live.
        let values: [ReplicatedValue]
        let mine: Int?
        /// The value as a reader sees it.
        let shown: MergedValue.Part

        init?(values: [ReplicatedValue], mine: Int?, declared: FieldType?) {
            guard let shown = MergedValue(values).shown(preferring: declared) else { return nil }
            self.values = values
            self.mine = mine
            self.shown = shown
        }

        var type: FieldType { shown.type }
        var json: JSONValue { shown.content.json }
        var isFirst: Bool { mine == 0 }
    }
}

extension MergedLives.Shared {
    /// The lives below, when all of them show a dictionary.
    var dictionaries: MergedLives? {
        guard type == .dictionary, values.allSatisfy({ $0.shownType(preferring: type) == type }) else { return nil }
        return MergedLives(dictionaries: values.map(\.dictionary), mine: mine)
    }

    /// True if nothing is to be written: the value shows the target, and nothing contradicts it.
    func shows(_ target: JSONValue) -> Bool {
        switch shown.content {
        case .values(let values): values.allSatisfy { $0 == target }
        case .number, .elements, .list, .text, .members: json == whole(target)
        }
    }

    /// Returns the value to show in the end: elements once; for an add-only set, together with the elements it holds already.
    func whole(_ target: JSONValue) -> JSONValue {
        guard case .elements(let present) = shown.content, case .array(let wanted) = target else { return target }
        switch type {
        case .set: return .array(Set(wanted).sorted())
        case .addOnlySet: return .array(Set(present + wanted).sorted())
        case .orderedSet: return .array(wanted.withoutRepetitions)
        case .register, .constant, .counter, .list, .text, .dictionary: return target
        }
    }
}

extension [JSONValue] {
    /// Each where it stands first.
    var withoutRepetitions: [JSONValue] {
        var seen: Set<JSONValue> = []
        return filter { seen.insert($0).inserted }
    }
}
