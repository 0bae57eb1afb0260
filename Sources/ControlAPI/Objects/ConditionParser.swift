extension ObjectCondition {
    /// Reads a condition:
    ///
    ///     condition  = group *("or" group)
    ///     group      = term *("and" term)
    ///     term       = "not" term / "(" condition ")" / comparison
    ///     comparison = FIELD ("=" / "!=" / "<" / "<=" / ">" / ">=" / "contains" / "prefix") VALUE
    ///                / FIELD "in" "[" VALUE *("," VALUE) "]"
    ///                / FIELD (".contains=" / ".prefix=") VALUE
    ///
    /// FIELD is a path, in double quotes if it holds blanks, operators, brackets or commas. VALUE is JSON, or a text without
    /// quotes that ends at a closing parenthesis of a group, or before `and` or `or` with another comparison behind it:
    /// `title=salt and pepper` compares with all of `salt and pepper`.
    ///
    /// - Parameter valuesAsText: true if values are texts even if they are JSON.
    /// - Throws: `invalid_argument` with the place of the fault, `too_deep`, `too_large`, and what `ValueRule` throws.
    public init(parsing text: String, valuesAsText: Bool = false) throws(ControlError) {
        try Self.check(byteCount: text.utf8.count)
        var parser = ConditionParser(text, valuesAsText: valuesAsText)
        self = try parser.whole()
        try check()
    }
}

/// Reads the text of one condition from left to right.
struct ConditionParser {
    private let bytes: [UInt8]
    private let valuesAsText: Bool
    private var index = 0
    /// The number of open parentheses.
    private var openGroups = 0

    init(_ text: String, valuesAsText: Bool) {
        bytes = Array(text.utf8)
        self.valuesAsText = valuesAsText
    }

    /// True if a field needs no quotes.
    static func isPlain(field: String) -> Bool {
        let reserved = Array(" \t\r\n\"()[],=!<>".utf8)
        return !field.isEmpty && !field.utf8.contains(where: reserved.contains)
            && !["not", "and", "or"].contains(field)
            && !suffixes.contains { field.hasSuffix($0.text) }
    }

    private static let suffixes: [(text: String, comparison: ObjectCondition.Comparison)] = [
        (".contains", .contains), (".prefix", .prefix),
    ]

    /// In the order in which they are tried: a longer one before its beginning.
    private static let operators: [(text: String, comparison: ObjectCondition.Comparison)] = [
        ("==", .equal), ("!=", .notEqual), ("<=", .lessOrEqual), (">=", .greaterOrEqual), ("=", .equal), ("<", .less),
        (">", .greater),
    ]

    mutating func whole() throws(ControlError) -> ObjectCondition {
        let condition = try condition(depth: 0)
        skipBlanks()
        guard index == bytes.count else { throw fault("\"and\", \"or\" or the end") }
        return condition
    }

    private mutating func condition(depth: Int) throws(ControlError) -> ObjectCondition {
        var alternatives = [try group(depth: depth)]
        while takeWord("or") { alternatives.append(try group(depth: depth)) }
        return alternatives.count == 1 ? alternatives[0] : .any(alternatives)
    }

    private mutating func group(depth: Int) throws(ControlError) -> ObjectCondition {
        var terms = [try term(depth: depth)]
        while takeWord("and") { terms.append(try term(depth: depth)) }
        return terms.count == 1 ? terms[0] : .all(terms)
    }

    private mutating func term(depth: Int) throws(ControlError) -> ObjectCondition {
        guard depth <= ObjectCondition.maximumDepth else { throw .conditionTooDeep }
        if takeWord("not") { return .not(try term(depth: depth + 1)) }
        skipBlanks()
        guard take("(") else { return try comparison() }
        openGroups += 1
        let inner = try condition(depth: depth + 1)
        skipBlanks()
        guard take(")") else { throw fault("a closing parenthesis") }
        openGroups -= 1
        return inner
    }

    // MARK: Comparisons

    private mutating func comparison() throws(ControlError) -> ObjectCondition {
        let isQuoted = peek() == UInt8(ascii: "\"")
        guard var field = takeField() else { throw fault("a field") }
        if takeIn() { return .isIn(try FieldPath(parsing: field), try list()) }
        guard var comparison = takeOperator() else { throw fault("an operator such as = or >=") }
        if comparison == .equal, !isQuoted,
            let suffix = Self.suffixes.first(where: {
                field.hasSuffix($0.text) && field.utf8.count > $0.text.utf8.count
            })
        {
            field.removeLast(suffix.text.count)
            comparison = suffix.comparison
        }
        var value = try value()
        if comparison == .prefix, !value.isString { value = JSONText(string: value.description) }
        return .compare(try FieldPath(parsing: field), comparison, value)
    }

    private mutating func takeField() -> String? {
        if peek() == UInt8(ascii: "\"") {
            let start = index
            guard let end = endOfJSON(),
                let name = try? JSONDecoding.value(
                    String.self, from: Array(bytes[start..<end]), unknownKeys: .refuse)
            else { return nil }
            index = end
            return name
        }
        let start = index
        while index < bytes.count, !isBlank(index), !isOperator(index) { index += 1 }
        return start == index ? nil : String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func takeOperator() -> ObjectCondition.Comparison? {
        skipBlanks()
        if let found = Self.operators.first(where: { take($0.text) }) { return found.comparison }
        if takeWord("contains") { return .contains }
        if takeWord("prefix") { return .prefix }
        return nil
    }

    private mutating func takeIn() -> Bool {
        let start = index
        skipBlanks()
        if start < index, take("in") {
            skipBlanks()
            if peek() == UInt8(ascii: "[") { return true }
        }
        index = start
        return false
    }

    private mutating func list() throws(ControlError) -> [JSONText] {
        _ = take("[")
        var values: [JSONText] = []
        skipBlanks()
        if take("]") { return values }
        while true {
            skipBlanks()
            values.append(try element())
            if take("]") { return values }
            guard take(",") else { throw fault("a comma or a closing bracket") }
        }
    }

    private mutating func element() throws(ControlError) -> JSONText {
        if let value = takeJSON(before: \.isAtEndOfElement) { return value }
        let start = index
        while index < bytes.count, !isAtEndOfElement { advance() }
        defer { skipBlanks() }
        return try typed(start..<index)
    }

    private mutating func value() throws(ControlError) -> JSONText {
        skipBlanks()
        if isConnective(index) { throw fault("a value") }
        if let value = takeJSON(before: \.isAtEndOfValue) { return value }
        let start = index
        while !isAtEndOfValue { advance() }
        return try typed(start..<index)
    }

    /// A value without quotes: JSON if it is, else the text itself.
    private func typed(_ range: Range<Int>) throws(ControlError) -> JSONText {
        var end = range.upperBound
        while end > range.lowerBound, isBlank(end - 1) { end -= 1 }
        return try JSONText(
            typed: String(decoding: bytes[range.lowerBound..<end], as: UTF8.self), asText: valuesAsText)
    }

    /// Takes a JSON value, if one stands here and ends where a value may end.
    private mutating func takeJSON(before isAtEnd: KeyPath<ConditionParser, Bool>) -> JSONText? {
        guard !valuesAsText, let end = endOfJSON() else { return nil }
        var next = self
        next.index = end
        guard next[keyPath: isAtEnd], let value = try? JSONText(Array(bytes[index..<end])) else { return nil }
        index = end
        skipBlanks()
        return value
    }

    private func endOfJSON() -> Int? { try? JSONScanner.endOfValue(bytes.span, from: index, depth: 0) }

    /// True before the end, before the parenthesis that closes a group, and before `and` or `or` with a comparison behind it.
    private var isAtEndOfValue: Bool {
        var next = self
        next.skipBlanks()
        guard let byte = next.peek() else { return true }
        return openGroups > 0 && byte == UInt8(ascii: ")") || next.index > index && isConnective(next.index)
    }

    /// True before a comma and a closing bracket.
    private var isAtEndOfElement: Bool {
        var next = self
        next.skipBlanks()
        return next.peek() == UInt8(ascii: ",") || next.peek() == UInt8(ascii: "]")
    }

    /// True if `and` or `or` follows, with the beginning of a comparison behind it.
    private func isConnective(_ start: Int) -> Bool {
        var parser = self
        parser.index = start
        guard parser.takeWord("and") || parser.takeWord("or") else { return false }
        var depth = 0
        while depth <= ObjectCondition.maximumDepth, parser.takeWord("not") || parser.takeParenthesis() { depth += 1 }
        parser.skipBlanks()
        return parser.takeField() != nil && (parser.takeIn() || parser.takeOperator() != nil)
    }

    /// Goes on by one byte, or by all blanks that stand here.
    private mutating func advance() {
        if isBlank(index) { skipBlanks() } else { index += 1 }
    }

    // MARK: Words

    private mutating func takeParenthesis() -> Bool {
        skipBlanks()
        return take("(")
    }

    /// Takes a word that ends here: at a blank, a parenthesis or the end.
    private mutating func takeWord(_ word: String) -> Bool {
        let start = index
        skipBlanks()
        if take(word), index >= bytes.count || isBlank(index) || bytes[index] == UInt8(ascii: "(") { return true }
        index = start
        return false
    }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[index...].starts(with: text.utf8) else { return false }
        index += text.utf8.count
        return true
    }

    private mutating func skipBlanks() {
        while index < bytes.count, isBlank(index) { index += 1 }
    }

    private func peek() -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private func isBlank(_ index: Int) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) }

    private func isOperator(_ index: Int) -> Bool {
        switch bytes[index] {
        case UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"): true
        case UInt8(ascii: "!"): index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "=")
        case _: false
        }
    }

    private func fault(_ expected: String) -> ControlError {
        ControlError(
            .invalidArgument, "The condition cannot be read at byte \(index): \(expected) is expected.",
            hint: #"Write for example done=true, or: prio >= 2 and not (tags contains "home" or status in [open, new])"#
        )
    }
}
