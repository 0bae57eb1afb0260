package import SyncModel

extension ObjectQuery {
    /// A condition on what readers see of an object. A field that it does not have compares like null.
    package indirect enum Condition: Sendable, Hashable {
        package enum Comparison: Sendable, Hashable {
            case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
            /// Both are texts, and the first begins with the second.
            case prefix
            /// An array has the value as an element, or a text has the value, a text, as a part.
            case contains
        }

        /// A field, or a key below it, compared with a value. The path is not empty.
        case compare([ExactString], Comparison, JSONValue)
        case isIn([ExactString], [JSONValue])
        case all([Condition])
        case any([Condition])
        case not(Condition)

        /// Returns true if the condition holds for an object with these values.
        func holds(_ value: ([ExactString]) -> JSONValue?) -> Bool {
            switch self {
            case .compare(let path, let comparison, let operand):
                comparison.holds(value(path) ?? .null, operand)
            case .isIn(let path, let operands):
                operands.contains { [found = value(path) ?? .null] in found.equals($0) }
            case .all(let conditions): conditions.allSatisfy { $0.holds(value) }
            case .any(let conditions): conditions.contains { $0.holds(value) }
            case .not(let condition): !condition.holds(value)
            }
        }

        /// The conditions that must all hold for this one to hold.
        var conjuncts: [Condition] {
            if case .all(let conditions) = self { conditions.flatMap(\.conjuncts) } else { [self] }
        }
    }
}

extension ObjectQuery.Condition.Comparison {
    fileprivate func holds(_ value: JSONValue, _ operand: JSONValue) -> Bool {
        switch self {
        case .equal: value.equals(operand)
        case .notEqual: !value.equals(operand)
        case .less: value.isOrdered(operand) { $0 < $1 }
        case .lessOrEqual: value.isOrdered(operand) { $0 <= $1 }
        case .greater: value.isOrdered(operand) { $0 > $1 }
        case .greaterOrEqual: value.isOrdered(operand) { $0 >= $1 }
        case .prefix:
            if case (.string(let text), .string(let prefix)) = (value, operand) {
                text.string.utf8.starts(with: prefix.string.utf8)
            } else {
                false
            }
        case .contains:
            switch (value, operand) {
            case (.array(let elements), _): elements.contains { $0.equals(operand) }
            case (.string(let text), .string(let part)): text.string.utf8.contains(part.string.utf8)
            case _: false
            }
        }
    }
}

extension JSONValue {
    /// True if the values are equal; an integer equals another number of its value, also inside arrays and objects.
    func equals(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.integer, .double), (.double, .integer): compared(to: other) == 0
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.equals($1) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && zip(left, right).allSatisfy { $0.key == $1.key && $0.value.equals($1.value) }
        case _: self == other
        }
    }

    /// False where the values have no order: of other kinds, or neither numbers, texts nor booleans.
    fileprivate func isOrdered(_ other: JSONValue, _ holds: (Int, Int) -> Bool) -> Bool {
        compared(to: other).map { holds($0, 0) } ?? false
    }

    /// Returns a number below, equal to or above 0, as this value is less than, equal to or greater than the other.
    private func compared(to other: JSONValue) -> Int? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.double(let left), .double(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.integer(let left), .double(let right)): Self.compared(left, right)
        case (.double(let left), .integer(let right)): -Self.compared(right, left)
        case (.string(let left), .string(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.bool(let left), .bool(let right)): left == right ? 0 : left ? 1 : -1
        case _: nil
        }
    }

    /// Compares exactly: not every 64-bit integer is a double.
    private static func compared(_ left: Int64, _ right: Double) -> Int {
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = Int64(right.rounded(.towardZero))
        if left != whole { return left < whole ? -1 : 1 }
        let rest = right - Double(whole)
        return rest > 0 ? -1 : rest < 0 ? 1 : 0
    }
}
