import ControlAPI

/// Numbers as people read them.
enum Amounts {
    static func bytes(_ count: Int64) -> String { ByteAmount.text(UInt64(clamping: count)) }

    static func milliseconds(_ value: Double?) -> String { value.map { "\(ByteAmount.decimal($0)) ms" } ?? "-" }

    /// The first few of many names.
    static func some(_ names: [String]) -> String {
        let first = names.prefix(3).map { shown($0) }.joined(separator: ", ")
        return names.count > 3 ? "\(first) and \(names.count - 3) more" : first
    }

    static func count(_ number: Int, _ word: String) -> String { number == 1 ? "1 \(word)" : "\(number) \(word)s" }
}
