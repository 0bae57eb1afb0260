import ControlAPI

/// A condition on the fields of an object.
///
/// ```swift
/// home.query(Todo.self).where(\.done == false && \.opened > 3)
/// home.query(Todo.self).where(.contains(\.tags, "home") || .hasPrefix(\.title, "Mi"))
/// ```
///
/// It is decided by the agent, with an index where there is one. A fault in it, such as a key path to a computed property, is
/// thrown when the query is run.
public struct Where<Object: LanyardObject>: Sendable {
    let condition: Result<ObjectCondition, ControlError>

    init(_ make: () throws(ControlError) -> ObjectCondition) {
        do throws(ControlError) { condition = .success(try make()) } catch { condition = .failure(error) }
    }

    /// A condition in words, as `lanyard list --where` reads it: `done = false and opened > 3`.
    public init(_ text: String) { self.init { () throws(ControlError) in try ObjectCondition(parsing: text) } }

    /// A comparison of a field with a value. An object that lacks the field, or has `null` in it, is read with the property's
    /// default, so the condition holds for it if it holds for the default.
    ///
    /// - Parameter holds: the comparison for the default.
    fileprivate static func compare<Value>(
        _ path: KeyPath<Object, Value>, _ comparison: ObjectCondition.Comparison, _ value: some Encodable,
        holds: (Value) -> Bool
    ) -> Where {
        Where { () throws(ControlError) in
            let field = try FieldNames.path(path)
            let condition = ObjectCondition.compare(field, comparison, try FieldCoding.json(value))
            if Value.self is any OptionalField.Type { return condition }
            let absent = ObjectCondition.compare(field, comparison == .notEqual ? .notEqual : .equal, .null)
            return switch (holds(Object()[keyPath: path]), comparison) {
            case (true, .notEqual): condition
            case (true, .equal): .isIn(field, [try FieldCoding.json(value), .null])
            case (true, _): .any([condition, absent])
            case (false, .notEqual): .all([condition, absent])
            case (false, _): condition
            }
        }
    }

    /// The same where the default is compared as it is written.
    fileprivate static func compare<Value: Encodable>(
        _ path: KeyPath<Object, Value>, isEqual: Bool, _ value: Value
    ) -> Where {
        compare(path, isEqual ? .equal : .notEqual, value) { standard in
            guard let left = try? FieldCoding.json(standard), let right = try? FieldCoding.json(value) else {
                return false
            }
            return (left == right) == isEqual
        }
    }

    // MARK: Conditions with names

    /// The field equals one of `values`.
    public static func isIn<Value: Encodable>(_ path: KeyPath<Object, Value>, _ values: [Value]) -> Where {
        Where { () throws(ControlError) in
            var texts: [JSONText] = []
            for value in values { texts.append(try FieldCoding.json(value)) }
            let standard = try FieldCoding.json(Object()[keyPath: path])
            return .isIn(try FieldNames.path(path), texts.contains(standard) ? texts + [.null] : texts)
        }
    }

    /// The set or list has this element.
    public static func contains<Elements: Collection>(
        _ path: KeyPath<Object, Elements>, _ element: Elements.Element
    ) -> Where where Elements.Element: Encodable & Equatable {
        compare(path, .contains, element) { $0.contains(element) }
    }

    /// The text has `part` in it.
    public static func contains(_ path: KeyPath<Object, String>, _ part: String) -> Where {
        compare(path, .contains, part) { $0.contains(part) }
    }

    /// The text begins with `prefix`.
    public static func hasPrefix(_ path: KeyPath<Object, String>, _ prefix: String) -> Where {
        compare(path, .prefix, prefix) { $0.hasPrefix(prefix) }
    }

    // MARK: Joining

    /// Both hold.
    public static func && (left: Where, right: Where) -> Where {
        Where { () throws(ControlError) in .all([try left.condition.get(), try right.condition.get()]) }
    }

    /// One of them holds, or both.
    public static func || (left: Where, right: Where) -> Where {
        Where { () throws(ControlError) in .any([try left.condition.get(), try right.condition.get()]) }
    }

    /// The condition does not hold.
    public static prefix func ! (condition: Where) -> Where {
        Where { () throws(ControlError) in .not(try condition.condition.get()) }
    }
}

extension JSONText {
    fileprivate static let null = JSONText(checked: Array("null".utf8))
}

/// The field equals the value; `nil` stands for an absent field and for `null`.
public func == <Object, Value: Encodable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, isEqual: true, value)
}

/// The field does not equal the value.
public func != <Object, Value: Encodable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, isEqual: false, value)
}

/// The field is less than the value.
public func < <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .less, value) { $0 < value }
}

/// The field is there, and less than the value.
public func < <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value?>, value: Value) -> Where<Object> {
    .compare(path, .less, value) { $0.map { $0 < value } ?? false }
}

/// The field is less than the value or equal to it.
public func <= <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .lessOrEqual, value) { $0 <= value }
}

/// The field is there, and less than the value or equal to it.
public func <= <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value?>, value: Value) -> Where<Object> {
    .compare(path, .lessOrEqual, value) { $0.map { $0 <= value } ?? false }
}

/// The field is greater than the value.
public func > <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .greater, value) { $0 > value }
}

/// The field is there, and greater than the value.
public func > <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value?>, value: Value) -> Where<Object> {
    .compare(path, .greater, value) { $0.map { $0 > value } ?? false }
}

/// The field is greater than the value or equal to it.
public func >= <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .greaterOrEqual, value) { $0 >= value }
}

/// The field is there, and greater than the value or equal to it.
public func >= <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value?>, value: Value) -> Where<Object> {
    .compare(path, .greaterOrEqual, value) { $0.map { $0 >= value } ?? false }
}
