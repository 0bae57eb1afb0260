import SyncModel

/// A stretch of the values of an indexed field, in the order of their canonical bytes (`JSONValue.append(to:)`).
struct IndexRange: Hashable {
    let lower: [UInt8]
    /// The end of the range, itself not part of it.
    let upper: [UInt8]

    /// The one value of a range that holds no other; nil otherwise.
    var point: [UInt8]? { upper == lower + [0] ? lower : nil }

    /// Nil if it would hold nothing.
    init?(_ lower: [UInt8], _ upper: [UInt8]) {
        guard lower.lexicographicallyPrecedes(upper) else { return nil }
        self.lower = lower
        self.upper = upper
    }

    func intersection(_ other: IndexRange) -> IndexRange? {
        IndexRange(
            lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower,
            upper.lexicographicallyPrecedes(other.upper) ? upper : other.upper)
    }
}

extension IndexRange {
    /// Returns the ranges that hold every value for which the comparison holds; nil if an index cannot tell.
    ///
    /// Of a comparison with `=` they hold no other value.
    static func ranges(_ comparison: ObjectQuery.Condition.Comparison, _ operand: JSONValue) -> [IndexRange]? {
        switch (comparison, operand) {
        case (.equal, _): points(operand)
        case (.prefix, .string): prefix(operand)
        case (.less, .string): range(from: emptyText, to: operand.canonicalBytes)
        case (.lessOrEqual, .string): range(from: emptyText, to: after(operand))
        case (.greater, .string): range(from: after(operand), to: afterTag(emptyText))
        case (.greaterOrEqual, .string): range(from: operand.canonicalBytes, to: afterTag(emptyText))
        case (.less, _), (.lessOrEqual, _): numbers(operand).map { numbers(below: $0) }
        case (.greater, _), (.greaterOrEqual, _): numbers(operand).map { numbers(above: $0) }
        case (.notEqual, _), (.contains, _), (.prefix, _): nil
        }
    }

    /// The forms in which a value that is equal may be stored. Values with other values inside have too many; an object
    /// without the field is equal to null, and not in the index.
    static func points(_ value: JSONValue) -> [IndexRange]? {
        let forms: [JSONValue]
        switch value {
        case .null, .array, .object: return nil
        case .bool, .string: forms = [value]
        case .integer(let integer):
            forms = Double(exactly: integer).map { [value, .double($0)] } ?? [value]
        case .double(let double):
            forms = Int64(exactly: double).map { [value, .integer($0)] } ?? [value]
        }
        return forms.compactMap { IndexRange($0.canonicalBytes, after($0)) }
    }

    private static func prefix(_ text: JSONValue) -> [IndexRange] {
        // Without the byte that ends a text.
        let start = Array(text.canonicalBytes.dropLast())
        return range(from: start, to: afterTag(start))
    }

    /// The integer and the double next to a number, on either side or equal to it.
    private typealias Neighbours = (integer: ClosedRange<Int64>, double: ClosedRange<Double>)

    private static func numbers(_ value: JSONValue) -> Neighbours? {
        switch value {
        case .integer(let integer):
            let near = Double(integer)
            return (integer...integer, near.nextDown...near.nextUp)
        case .double(let double):
            let clamped = { (number: Double) in
                number >= 0x1p63 ? Int64.max : number < -0x1p63 ? Int64.min : Int64(number)
            }
            return (clamped(double.rounded(.down))...clamped(double.rounded(.up)), double...double)
        case .null, .bool, .string, .array, .object: return nil
        }
    }

    private static func numbers(below bounds: Neighbours) -> [IndexRange] {
        range(from: JSONValue.integer(.min).canonicalBytes, to: after(.integer(bounds.integer.upperBound)))
            + range(from: lowestDouble, to: after(.double(min(bounds.double.upperBound, .greatestFiniteMagnitude))))
    }

    private static func numbers(above bounds: Neighbours) -> [IndexRange] {
        range(from: JSONValue.integer(bounds.integer.lowerBound).canonicalBytes, to: after(.integer(.max)))
            + range(
                from: JSONValue.double(max(bounds.double.lowerBound, -.greatestFiniteMagnitude)).canonicalBytes,
                to: afterTag([lowestDouble[0]]))
    }

    private static let emptyText: [UInt8] = [JSONValue.string("").canonicalBytes[0]]
    private static let lowestDouble: [UInt8] = JSONValue.double(-.greatestFiniteMagnitude).canonicalBytes

    private static func range(from lower: [UInt8], to upper: [UInt8]) -> [IndexRange] {
        IndexRange(lower, upper).map { [$0] } ?? []
    }

    /// Canonical bytes end by themselves: no other value begins with them.
    private static func after(_ value: JSONValue) -> [UInt8] { value.canonicalBytes + [0] }

    /// Behind everything that begins with these bytes. The last one is a tag or a byte of UTF-8: it is never 255.
    private static func afterTag(_ bytes: [UInt8]) -> [UInt8] { bytes.dropLast() + [bytes[bytes.count - 1] + 1] }
}
