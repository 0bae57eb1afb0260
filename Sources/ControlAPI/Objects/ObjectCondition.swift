/// A condition on the fields of an object, as in `lanyard list --where 'done = false and prio >= 2'`.
///
/// A field that an object does not have compares like `null`. Numbers are compared by value (`1` and `1.0` are equal), texts
/// by their Unicode scalars. `<`, `<=`, `>` and `>=` hold only between two numbers, two texts, or two booleans.
public indirect enum ObjectCondition: Hashable, Sendable {
    /// A comparison of a field with one value.
    public enum Comparison: String, Hashable, Sendable, CaseIterable {
        /// The values are equal. The order of an object's keys does not matter.
        case equal = "="
        /// The values are not equal.
        case notEqual = "!="
        /// The field is less than the value.
        case less = "<"
        /// The field is less than the value, or equal to it.
        case lessOrEqual = "<="
        /// The field is greater than the value.
        case greater = ">"
        /// The field is greater than the value, or equal to it.
        case greaterOrEqual = ">="
        /// The field is a text that begins with the value, a text.
        case prefix
        /// The field is a set or a list with the value as an element, or a text that the value, a text, is part of.
        case contains
    }

    /// A field, or a key below it, compared with a value.
    case compare(FieldPath, Comparison, JSONText)
    /// A field, or a key below it, equals one of these values.
    case isIn(FieldPath, [JSONText])
    /// All of these hold; at least one.
    case all([ObjectCondition])
    /// One of these holds; at least one.
    case any([ObjectCondition])
    /// This does not hold.
    case not(ObjectCondition)

    /// The deepest nesting of groups and negations.
    static let maximumDepth = 32

    /// Returns the condition that all of these hold; nil for none.
    package static func joining(_ conditions: [ObjectCondition]) -> ObjectCondition? {
        conditions.count > 1 ? .all(conditions) : conditions.first
    }

    /// The text form that `init(parsing:)` reads.
    public var text: String {
        switch self {
        case .compare(let path, let comparison, let value): "\(Self.text(path)) \(comparison.rawValue) \(value)"
        case .isIn(let path, let values): "\(Self.text(path)) in [\(values.map(\.description).joined(separator: ","))]"
        case .all(let conditions): conditions.map { $0.text(inGroup: true) }.joined(separator: " and ")
        case .any(let conditions): conditions.map { $0.text(inGroup: false) }.joined(separator: " or ")
        case .not(let condition): "not \(condition.text(inGroup: true))"
        }
    }

    /// - Parameter inGroup: true below `and` and `not`, which bind closer than `or`.
    private func text(inGroup: Bool) -> String {
        switch self {
        case .any: "(\(text))"
        case .all: inGroup ? "(\(text))" : text
        case .compare, .isIn, .not: text
        }
    }

    private static func text(_ path: FieldPath) -> String {
        let text = path.description
        return ConditionParser.isPlain(field: text) ? text : JSONText(string: text).description
    }

    /// Throws `too_large` for more than `ControlLimits.conditionBytes` of text, `too_deep`, `invalid_argument` for an empty
    /// group or a prefix that is no text, and what `ValueRule` does.
    package func check() throws(ControlError) {
        try Self.check(byteCount: text.utf8.count)
        try check(depth: 0)
    }

    package static func check(byteCount: Int) throws(ControlError) {
        guard byteCount > ControlLimits.conditionBytes else { return }
        throw ControlError(
            .tooLarge,
            "The condition has \(byteCount) bytes; at most \(ControlLimits.conditionBytes) are compared at once.",
            hint: "Compare with shorter values, or look through the whole list.")
    }

    private func check(depth: Int) throws(ControlError) {
        guard depth <= Self.maximumDepth else { throw .conditionTooDeep }
        switch self {
        case .compare(let path, let comparison, let value):
            try ValueRule.check(value, level: path.keys.count)
            guard comparison != .prefix || value.isString else {
                throw ControlError(.invalidArgument, "A prefix is a text.", hint: #"For example name prefix "Mi"."#)
            }
        case .isIn(let path, let values):
            for value in values { try ValueRule.check(value, level: path.keys.count) }
        case .all(let conditions), .any(let conditions):
            guard !conditions.isEmpty else {
                throw ControlError(.invalidArgument, "A group of conditions is empty.", hint: "Leave the group out.")
            }
            for condition in conditions { try condition.check(depth: depth + 1) }
        case .not(let condition): try condition.check(depth: depth + 1)
        }
    }
}

extension JSONText {
    var isString: Bool { bytes.first == UInt8(ascii: "\"") }
}

extension ControlError {
    static let conditionTooDeep = ControlError(
        .tooDeep, "The condition has more than \(ObjectCondition.maximumDepth) groups inside each other.",
        hint: "Write it with fewer parentheses.")
}
