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

    fileprivate static func compare(
        _ path: PartialKeyPath<Object>, _ comparison: ObjectCondition.Comparison, _ value: some Encodable
    ) -> Where {
        Where { () throws(ControlError) in
            .compare(try FieldNames.path(path), comparison, try FieldCoding.json(value))
        }
    }

    // MARK: Conditions with names

    /// The field equals one of `values`.
    public static func isIn<Value: Encodable>(_ path: KeyPath<Object, Value>, _ values: [Value]) -> Where {
        Where { () throws(ControlError) in
            var texts: [JSONText] = []
            for value in values { texts.append(try FieldCoding.json(value)) }
            return .isIn(try FieldNames.path(path), texts)
        }
    }

    /// The set or list has this element.
    public static func contains<Elements: Collection>(
        _ path: KeyPath<Object, Elements>, _ element: Elements.Element
    ) -> Where where Elements.Element: Encodable { compare(path, .contains, element) }

    /// The text has `part` in it.
    public static func contains(_ path: KeyPath<Object, String>, _ part: String) -> Where {
        compare(path, .contains, part)
    }

    /// The text begins with `prefix`.
    public static func hasPrefix(_ path: KeyPath<Object, String>, _ prefix: String) -> Where {
        compare(path, .prefix, prefix)
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

/// The field equals the value; `nil` stands for an absent field and for `null`.
public func == <Object, Value: Encodable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .equal, value)
}

/// The field does not equal the value.
public func != <Object, Value: Encodable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .notEqual, value)
}

/// The field is less than the value. It does not hold for an absent field.
public func < <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .less, value)
}

/// The field is less than the value or equal to it.
public func <= <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .lessOrEqual, value)
}

/// The field is greater than the value.
public func > <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .greater, value)
}

/// The field is greater than the value or equal to it.
public func >= <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value>, value: Value) -> Where<Object> {
    .compare(path, .greaterOrEqual, value)
}

/// The field is there and less than the value.
public func < <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value?>, value: Value) -> Where<Object> {
    .compare(path, .less, value)
}

/// The field is there, and less than the value or equal to it.
public func <= <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value?>, value: Value) -> Where<Object> {
    .compare(path, .lessOrEqual, value)
}

/// The field is there and greater than the value.
public func > <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value?>, value: Value) -> Where<Object> {
    .compare(path, .greater, value)
}

/// The field is there, and greater than the value or equal to it.
public func >= <Object, Value: Encodable & Comparable>(path: KeyPath<Object, Value?>, value: Value) -> Where<Object> {
    .compare(path, .greaterOrEqual, value)
}
