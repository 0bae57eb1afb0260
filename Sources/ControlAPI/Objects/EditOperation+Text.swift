extension EditOperation {
    /// Reads the form of the command line: `PATH=VALUE`, `PATH+=N`, `PATH-=N`, `PATH.unset`, `PATH.add=VALUE`,
    /// `PATH.remove=VALUE`, `PATH.insert@N=VALUE`, `PATH.delete@N:COUNT`, `PATH.move@FROM:TO`; also `PATH.set=VALUE`, for a
    /// field with a dot in its name.
    ///
    /// The part before the first `=` is the path and the operation, which follows the last `.`; VALUE is the part behind it,
    /// read as `JSONText(typed:asText:level:)` does. Throws `unknown_operation`, `invalid_argument`, and the errors of values.
    public init(parsing text: String, valuesAsText: Bool = false) throws(ControlError) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            try self.init(withoutValue: text[...])
            return
        }
        let value = String(text[text.utf8.index(after: equals)...])
        let head = text[..<equals]
        switch head.utf8.last {
        case UInt8(ascii: "+"):
            try self.init(
                try Self.path(head.utf8.dropLast()), .increment(by: try Self.amount(value, isNegative: false)))
        case UInt8(ascii: "-"):
            try self.init(try Self.path(head.utf8.dropLast()), .increment(by: try Self.amount(value, isNegative: true)))
        case _: try self.init(head, value, valuesAsText)
        }
    }

    // MARK: With a value

    private init(_ head: Substring, _ value: String, _ asText: Bool) throws(ControlError) {
        guard let dot = head.utf8.lastIndex(of: UInt8(ascii: ".")) else {
            let path = try Self.path(head.utf8)
            try self.init(path, .set(try JSONText(typed: value, asText: asText, level: path.keys.count)))
            return
        }
        let path = try Self.path(head[..<dot].utf8)
        let (word, number) = Self.parts(head[head.utf8.index(after: dot)...])
        switch (word, number) {
        case ("set", nil): try self.init(path, .set(try JSONText(typed: value, asText: asText)))
        case ("add", nil): try self.init(path, .add(try JSONText(typed: value, asText: asText)))
        case ("remove", nil): try self.init(path, .remove(try JSONText(typed: value, asText: asText)))
        case ("insert", let number?):
            try self.init(path, .insert(at: try Self.index(number), try JSONText(typed: value, asText: asText)))
        case ("insert", nil):
            throw ControlError(.invalidArgument, "insert does not say where.", hint: "Write PATH.insert@N=VALUE.")
        case ("unset", _), ("delete", _), ("move", _):
            throw ControlError(.invalidArgument, "\(word) takes no value.", hint: Self.hint)
        case _: throw Self.unknown
        }
    }

    // MARK: Without a value

    private init(withoutValue text: Substring) throws(ControlError) {
        guard let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")) else { throw Self.unknown }
        let path = try Self.path(text[..<dot].utf8)
        let (word, numbers) = Self.parts(text[text.utf8.index(after: dot)...])
        switch (word, numbers) {
        case ("unset", nil): try self.init(path, .unset)
        case ("delete", let numbers?):
            let (index, count) = try Self.pair(numbers, "PATH.delete@N:COUNT")
            try self.init(path, .delete(at: index, count: count))
        case ("move", let numbers?):
            let (origin, target) = try Self.pair(numbers, "PATH.move@FROM:TO")
            try self.init(path, .move(from: origin, to: target))
        case ("delete", nil), ("move", nil):
            throw ControlError(.invalidArgument, "\(word) does not say which elements.", hint: Self.hint)
        case ("set", _), ("add", _), ("remove", _), ("insert", _):
            throw ControlError(.invalidArgument, "\(word) needs a value.", hint: Self.hint)
        case _: throw Self.unknown
        }
    }

    // MARK: Parts

    private static func path(_ text: Substring.UTF8View) throws(ControlError) -> FieldPath {
        guard !text.isEmpty else {
            throw ControlError(.invalidArgument, "The operation names no field.", hint: hint)
        }
        return try FieldPath(parsing: String(Substring(text)))
    }

    /// `insert@3` is `insert` and `3`.
    private static func parts(_ operation: Substring) -> (word: String, numbers: Substring?) {
        guard let at = operation.utf8.firstIndex(of: UInt8(ascii: "@")) else { return (String(operation), nil) }
        return (String(operation[..<at]), operation[operation.utf8.index(after: at)...])
    }

    private static func pair(_ text: Substring, _ form: String) throws(ControlError) -> (Int, Int) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            throw ControlError(.invalidArgument, "The second number is missing.", hint: "Write \(form).")
        }
        return (try index(text[..<colon]), try index(text[text.utf8.index(after: colon)...]))
    }

    private static func index(_ text: Substring) throws(ControlError) -> Int {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw ControlError(
                .invalidArgument, "A place is a whole number from 0.", hint: "The first element or scalar is 0.")
        }
        guard let number = Int(text) else {
            throw ControlError(.indexOutOfRange, "There is no such place: the number is too large.")
        }
        return number
    }

    private static func amount(_ text: String, isNegative: Bool) throws(ControlError) -> Int64 {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw ControlError(
                .typeMismatch, "A counter goes up and down by whole numbers.",
                hint: "Write PATH+=1 or PATH-=1; PATH=VALUE sets a number of any kind.")
        }
        guard let number = Int64(text), let amount = isNegative ? number.negated : number else {
            throw ControlError(
                .numberOutOfRange, "A counter counts in 64 bits with a sign; this number does not fit.",
                hint: "Count by less at once.")
        }
        return amount
    }

    private static let hint = """
        Operations are PATH=VALUE, PATH+=N, PATH-=N, PATH.unset, PATH.add=VALUE, PATH.remove=VALUE, \
        PATH.insert@N=VALUE, PATH.delete@N:COUNT, PATH.move@FROM:TO.
        """

    private static var unknown: ControlError {
        ControlError(
            .unknownOperation, "There is no such edit operation.",
            hint: "\(hint) A field with a dot in its name is set by PATH.set=VALUE.")
    }
}

extension Int64 {
    /// Nil where there is no such number.
    fileprivate var negated: Int64? {
        let (result, overflows) = Int64(0).subtractingReportingOverflow(self)
        return overflows ? nil : result
    }
}
