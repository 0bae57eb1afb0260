/// The bounds of a value beyond being JSON: limited in size, and free of anything that replication would lose.
///
/// The rule is held to before anything is sent to an agent, and again by the agent.
package enum ValueRule {
    /// The value as a document that keeps the rule. `level` is how deep the place is that the value goes to.
    /// Throws `too_large`, `too_deep`, `number_out_of_range`, `malformed_json` (a key that stands twice).
    @discardableResult
    package static func check(_ value: JSONText, level: Int = 0) throws(ControlError) -> JSONDocument {
        guard value.bytes.count <= ControlLimits.valueBytes else {
            throw tooLarge(byteCount: value.bytes.count)
        }
        let document: JSONDocument
        do throws(JSONSyntaxError) { document = try JSONDocument(value.bytes) } catch {
            throw ControlError(malformed: error)
        }
        var count = 0
        try check(document.root, in: document, level: level, &count)
        return document
    }

    /// The same for the fields of an object, which are a JSON object.
    @discardableResult
    package static func checkFields(_ fields: JSONText) throws(ControlError) -> JSONDocument {
        let document = try check(fields)
        guard case .object = document.root.kind else {
            throw ControlError(
                .typeMismatch, "An object is written as a JSON object with its fields.",
                hint: #"For example {"title":"Milk"}."#)
        }
        return document
    }

    /// The error for a value with more than 1 MiB.
    package static func tooLarge(byteCount: Int) -> ControlError {
        ControlError(
            .tooLarge,
            "The value has \(byteCount) bytes; at most \(ControlLimits.valueBytes) (1 MiB) are written at once.",
            hint: "Split it into several objects, or attach it as a file.")
    }

    /// The error for a value with more than `ControlLimits.valueParts` parts.
    private static let tooMany = ControlError(
        .tooLarge,
        "The value holds more than \(ControlLimits.valueParts) elements and members, which is too many for one write.",
        hint: "Write it in several parts, each an edit of its own, or as several objects.")

    private static func check(
        _ node: JSONNode, in document: JSONDocument, level: Int, _ count: inout Int
    ) throws(ControlError) {
        count += 1
        guard count <= ControlLimits.valueParts else { throw tooMany }
        switch node.kind {
        case .null, .bool, .string: return
        case .number: try checkNumber(document.source[node.range])
        case .array(let elements):
            try checkLevel(level + 1)
            for element in elements { try check(element, in: document, level: level + 1, &count) }
        case .object(let members):
            try checkLevel(level + 1)
            try checkKeys(members)
            for member in members { try check(member.value, in: document, level: level + 1, &count) }
        }
    }

    private static func checkLevel(_ level: Int) throws(ControlError) {
        guard level <= ControlLimits.valueDepth else {
            throw ControlError(
                .tooDeep, "The value nests more than \(ControlLimits.valueDepth) deep.",
                hint: "Make it flatter, or keep the inner part as an object of its own.")
        }
    }

    /// Keys are equal when their bytes are: "é" in one scalar and in two are two keys.
    private static func checkKeys(_ members: [(key: String, value: JSONNode)]) throws(ControlError) {
        guard members.count > 1 else { return }
        let keys = members.map { Array($0.key.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        for (key, next) in zip(keys, keys.dropFirst()) where key == next {
            throw ControlError(.malformedJSON, "A key stands twice in one JSON object.", hint: "Keep one of them.")
        }
    }

    /// Whole numbers are kept as Int64 and all others as Double. One that fits neither would come back changed.
    private static func checkNumber(_ digits: ArraySlice<UInt8>) throws(ControlError) {
        let text = String(decoding: digits, as: UTF8.self)
        let isWhole = !digits.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
        if isWhole ? Int64(text) != nil : Double(text)?.isFinite ?? false { return }
        throw ControlError(
            .numberOutOfRange,
            isWhole
                ? "A whole number is kept in 64 bits with a sign; this one does not fit."
                : "A number is kept as a finite double; this one is too large.",
            hint: "Write it as text, in quotes (on the command line: --string).")
    }
}

extension JSONText {
    /// A value as people type it: JSON if it parses, else the text itself; with `asText` always the text itself.
    ///
    /// Throws what `ValueRule` does, with `level` as there.
    public init(typed text: String, asText: Bool = false, level: Int = 0) throws(ControlError) {
        self = try Self.typed(text, asText: asText)
        try ValueRule.check(self, level: level)
    }

    private static func typed(_ text: String, asText: Bool) throws(ControlError) -> JSONText {
        if asText { return JSONText(string: text) }
        do throws(JSONSyntaxError) { return try JSONText(text) } catch {
            switch error.cause {
            case .syntax, .notUTF8: return JSONText(string: text)
            // It is JSON: kept as text it would surprise.
            case .tooDeep: throw ControlError(malformed: error)
            }
        }
    }

    /// The JSON string whose content is `text`.
    public init(string text: String) {
        var writer = JSONWriter(capacity: text.utf8.count + 2)
        writer.string(text)
        self.init(checked: writer.bytes)
    }
}
