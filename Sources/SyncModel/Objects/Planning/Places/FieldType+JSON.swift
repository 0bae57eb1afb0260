extension FieldType {
    /// True if a value of this type can read as `value`.
    package func takes(_ value: JSONValue) -> Bool {
        switch (self, value) {
        case (.register, _), (.constant, _): true
        case (.counter, .integer): true
        case (.set, .array), (.addOnlySet, .array), (.list, .array), (.orderedSet, .array): true
        case (.text, .string): true
        case (.dictionary, .object): true
        case (.counter, _), (.set, _), (.addOnlySet, _), (.list, _), (.orderedSet, _), (.text, _), (.dictionary, _):
            false
        }
    }

    /// True if a value of this type that is shown as `shown` continues in it as `value`, where no schema says anything. A
    /// register that holds a scalar does not take a list or an object: their parts could not be edited apart.
    func continues(_ shown: JSONValue?, as value: JSONValue) -> Bool {
        switch (self, value, shown) {
        case (.register, .array, .array?), (.register, .object, .object?): true
        case (.register, .array, _), (.register, .object, _): false
        case (_, _, _): takes(value)
        }
    }

    /// Creates the type that a value gets where no schema says anything and no value is present.
    init(natural value: JSONValue) {
        switch value {
        case .null, .bool, .integer, .double, .string: self = .register
        case .array: self = .list
        case .object: self = .dictionary
        }
    }
}

extension [ExactString] {
    /// The path as people write it: keys separated by `/`, with the escapes of JSON Pointer.
    var pathText: String { map(\.pointerEscaped).joined(separator: "/") }
}

extension ExactString {
    /// The number of a list's element; nil for anything but digits without leading zeros, so that each has one name.
    var elementIndex: Int? {
        let digits = string.utf8
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.count == 1 || digits.first != 0x30
        else { return nil }
        return Int(string)
    }
}
