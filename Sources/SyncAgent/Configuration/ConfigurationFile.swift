/// The settings in a configuration file: of TOML 1.0 the lines `KEY = VALUE` with strings on one line, whole numbers, true and
/// false. No setting needs more, and what is more is refused with its line: tables, arrays, dates, dotted keys.
///
/// It takes any text, also a hostile one, and never stops the process.
struct ConfigurationFile {
    enum Value: Hashable {
        case text(String)
        case number(Int)
        case flag(Bool)
    }

    struct Setting: Hashable {
        let key: String
        let value: Value
        /// The line, counted from 1.
        let line: Int
    }

    /// A fault of a line, and how to correct it.
    struct Fault: Error, Hashable {
        let line: Int
        let detail: String
    }

    /// The settings in the order of their lines; no key is there twice.
    private(set) var settings: [Setting] = []

    init(_ text: String) throws(Fault) {
        var keys: Set<String> = []
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            var reader = LineReader(rest: line, number: index + 1)
            guard let (key, value) = try reader.setting() else { continue }
            guard keys.insert(key).inserted else { throw reader.fault("\(key) is set twice; leave one of them") }
            settings.append(Setting(key: key, value: value, line: index + 1))
        }
    }
}

/// A line, read from its start.
private struct LineReader {
    var rest: Substring.UnicodeScalarView
    let number: Int

    func fault(_ detail: String) -> ConfigurationFile.Fault { ConfigurationFile.Fault(line: number, detail: detail) }

    /// Nil for an empty line and a comment.
    mutating func setting() throws(ConfigurationFile.Fault) -> (String, ConfigurationFile.Value)? {
        // A byte order mark may begin a file, and a carriage return end a line.
        if number == 1, rest.first == "\u{FEFF}" { rest.removeFirst() }
        if rest.last == "\r" { rest.removeLast() }
        skipBlanks()
        if isAtEnd { return nil }
        if rest.first == "[" { throw fault("sections are not known here; write KEY = VALUE") }
        let key = try key()
        skipBlanks()
        guard rest.popFirst() == "=" else { throw fault("write an = behind \(key)") }
        skipBlanks()
        let value = try value(of: key)
        skipBlanks()
        guard isAtEnd else { throw fault("leave out what follows the value of \(key)") }
        return (key, value)
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\t" } }

    private var isAtEnd: Bool { rest.isEmpty || rest.first == "#" }

    private mutating func take(while isWanted: (Unicode.Scalar) -> Bool) -> String {
        let taken = rest.prefix(while: isWanted)
        rest = rest[taken.endIndex...]
        return String(Substring(taken))
    }

    private mutating func key() throws(ConfigurationFile.Fault) -> String {
        if rest.first == "\"" || rest.first == "'" { return try string(of: "the key") }
        let key = take {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "-" || $0 == "_"
        }
        guard !key.isEmpty else { throw fault("begin with a key, like name = \"kitchen\"") }
        return key
    }

    private mutating func value(of key: String) throws(ConfigurationFile.Fault) -> ConfigurationFile.Value {
        if rest.first == "\"" || rest.first == "'" { return .text(try string(of: "the value of \(key)")) }
        let word = take { $0 != " " && $0 != "\t" && $0 != "#" }
        switch word {
        case "true": return .flag(true)
        case "false": return .flag(false)
        case "": throw fault("give \(key) a value")
        case _:
            guard let number = Self.number(word) else { throw fault("put the value of \(key) in quotes") }
            return .number(number)
        }
    }

    /// Underscores may stand between digits.
    private static func number(_ word: String) -> Int? {
        let digits = word.drop { $0 == "+" || $0 == "-" }
        guard word.utf8.count - digits.utf8.count <= 1, let first = digits.first, let last = digits.last,
            first != "_", last != "_", !digits.contains("__")
        else { return nil }
        return Int(word.filter { $0 != "_" })
    }

    /// Reads a string in double quotes with escapes, or in single quotes without.
    private mutating func string(of what: String) throws(ConfigurationFile.Fault) -> String {
        let quote = rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == quote {
                guard !text.isEmpty || rest.first != quote else {
                    throw fault("write \(what) on one line, in one quote")
                }
                return String(text)
            }
            guard scalar.value >= 0x20 && scalar.value != 0x7F || scalar == "\t" else {
                throw fault("leave the control character out of \(what)")
            }
            text.append(scalar == "\\" && quote == "\"" ? try escape(in: what) : scalar)
        }
        throw fault("close the quotes of \(what)")
    }

    private mutating func escape(in what: String) throws(ConfigurationFile.Fault) -> Unicode.Scalar {
        let plain: [Unicode.Scalar: Unicode.Scalar] = [
            "b": "\u{8}", "t": "\t", "n": "\n", "f": "\u{C}", "r": "\r", "\"": "\"", "\\": "\\",
        ]
        let lengths: [Unicode.Scalar: Int] = ["u": 4, "U": 8]
        guard let letter = rest.popFirst() else { throw fault("close the quotes of \(what)") }
        if let scalar = plain[letter] { return scalar }
        guard let length = lengths[letter] else {
            throw fault("write a backslash in \(what) twice, or the whole in single quotes")
        }
        let digits = rest.prefix(length)
        rest = rest[digits.endIndex...]
        guard digits.count == length, digits.allSatisfy(\.properties.isASCIIHexDigit),
            let value = UInt32(String(Substring(digits)), radix: 16), let scalar = Unicode.Scalar(value)
        else { throw fault("\\\(letter) in \(what) needs \(length) hexadecimal digits") }
        return scalar
    }
}
