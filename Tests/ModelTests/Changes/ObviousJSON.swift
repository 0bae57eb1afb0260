import SyncModel

/// RFC 8259 as its grammar reads, by recursive descent over scalars: slow and plain, to check the fast scanner against.
struct ObviousJSON {
    private var rest: Substring.UnicodeScalarView
    private var depth = 0

    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        var reader = ObviousJSON(rest: text.unicodeScalars[...])
        return reader.value() && reader.rest.isEmpty
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func space() {
        while let first = rest.first, " \t\n\r".unicodeScalars.contains(first) { rest.removeFirst() }
    }

    private mutating func value() -> Bool {
        space()
        defer { space() }
        for word in ["true", "false", "null"] where rest.starts(with: word.unicodeScalars) {
            rest.removeFirst(word.count)
            return true
        }
        switch rest.first {
        case "\"": return string()
        case "[": return container("]") { $0.value() }
        case "{":
            return container("}") { reader in
                reader.space()
                guard reader.string() else { return false }
                reader.space()
                return reader.take(":") && reader.value()
            }
        default: return number()
        }
    }

    private mutating func container(_ close: Unicode.Scalar, _ item: (inout ObviousJSON) -> Bool) -> Bool {
        rest.removeFirst()
        depth += 1
        defer { depth -= 1 }
        guard depth <= Limits.jsonDepth else { return false }
        space()
        if take(close) { return true }
        while item(&self) {
            space()
            if take(close) { return true }
            guard take(",") else { return false }
        }
        return false
    }

    private mutating func digits() -> Bool {
        let count = rest.prefix { ("0"..."9").contains($0) }.count
        rest.removeFirst(count)
        return count > 0
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0"), !digits() { return false }
        if take("."), !digits() { return false }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            return digits()
        }
        return true
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return true }
            if scalar.value < 0x20 { return false }
            guard scalar == "\\" else { continue }
            guard let escaped = rest.popFirst() else { return false }
            if escaped == "u" {
                guard let unit = unit() else { return false }
                guard (0xd800...0xdfff).contains(unit) else { continue }
                guard unit < 0xdc00, take("\\"), take("u"), let low = self.unit(), (0xdc00...0xdfff).contains(low)
                else { return false }
            } else if !"\"\\/bfnrt".unicodeScalars.contains(escaped) {
                return false
            }
        }
        return false
    }

    private mutating func unit() -> Int? {
        let text = String(rest.prefix(4))
        guard text.unicodeScalars.count == 4, text.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit) else {
            return nil
        }
        rest.removeFirst(4)
        return Int(text, radix: 16)
    }
}
