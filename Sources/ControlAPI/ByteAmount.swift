/// Bytes as people read and write them: powers of 1,024, with the units that say so.
package enum ByteAmount {
    /// `1.5 GiB`: two digits at least, and no more places than mean something.
    package static func text(_ count: UInt64) -> String {
        if count < 1_024 { return "\(count) B" }
        var (value, unit) = (Double(count) / 1_024, "KiB")
        for next in ["MiB", "GiB", "TiB"] where value >= 1_023.5 { (value, unit) = (value / 1_024, next) }
        return "\(decimal(value)) \(unit)"
    }

    /// Writes the number with one decimal place below ten, and none above.
    package static func decimal(_ value: Double) -> String {
        if value >= 9.95 { return String(Int(value.rounded())) }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Reads a number with a unit, in letters of either case: `500`, `64k`, `10MiB`, `1.5 GB`. K, M, G and T alone are powers
    /// of 1,024, as everywhere here; with B alone they are powers of 1,000, as makers of disks count. Nil for any other text,
    /// and for more than 64 bits hold.
    package static func parse(_ text: String) -> UInt64? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
        guard let factor = factors[unit] else { return nil }
        if let whole = UInt64(digits) {
            let (product, overflows) = whole.multipliedReportingOverflow(by: factor)
            return overflows ? nil : product
        }
        guard factor > 1, let value = Double(digits), value.isFinite else { return nil }
        return UInt64(exactly: (value * Double(factor)).rounded())
    }

    private static let factors: [String: UInt64] = [
        "": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "kb": 1_000, "m": 1 << 20, "mib": 1 << 20, "mb": 1_000_000,
        "g": 1 << 30, "gib": 1 << 30, "gb": 1_000_000_000, "t": 1 << 40, "tib": 1 << 40, "tb": 1_000_000_000_000,
    ]
}
