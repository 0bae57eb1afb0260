/// The time for which changes stay in the log that every member has: so far back goes `lanyard history`.
package enum HistoryRetention: Sendable, Hashable, CustomStringConvertible {
    case forever
    case seconds(Int64)

    /// Nil for ever.
    package var milliseconds: UInt64? {
        switch self {
        case .forever: nil
        case .seconds(let seconds): UInt64(max(0, seconds)) * 1_000
        }
    }

    package static let usual = HistoryRetention.seconds(30 * 86_400)
    static let allowed = "a time such as 30d, 12h, 90m or 0s, or forever"

    private static let units: [(suffix: Character, seconds: Int64)] = [
        ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]

    /// Reads a whole number with a unit, or `forever`; nil for anything else.
    package init?(text: String) {
        if text == "forever" {
            self = .forever
            return
        }
        guard let unit = Self.units.first(where: { $0.suffix == text.last }), text.utf8.count <= 12,
            text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(text.dropLast())
        else { return nil }
        let (seconds, overflows) = count.multipliedReportingOverflow(by: unit.seconds)
        guard !overflows, seconds <= 1_000_000 * 86_400 else { return nil }
        self = .seconds(seconds)
    }

    /// The text form as it is read, with the greatest unit that loses nothing.
    package var description: String {
        switch self {
        case .forever: return "forever"
        case .seconds(0): return "0s"
        case .seconds(let seconds):
            let unit = Self.units.first { seconds.isMultiple(of: $0.seconds) } ?? ("s", 1)
            return "\(seconds / unit.seconds)\(unit.suffix)"
        }
    }
}
