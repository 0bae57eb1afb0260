/// A limit of bytes per second on the wire.
package struct TransferRate: Sendable, Hashable, CustomStringConvertible {
    /// The rate; at least 1.
    package let bytesPerSecond: UInt64

    /// The result of `parse`.
    package enum Setting: Sendable, Hashable {
        case unlimited
        case limited(TransferRate)
    }

    private static let units: [(suffix: String, bytes: UInt64)] = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)]

    /// Nil for 0, which is no rate.
    package init?(bytesPerSecond: UInt64) {
        guard bytesPerSecond > 0 else { return nil }
        self.bytesPerSecond = bytesPerSecond
    }

    /// Reads a whole number of bytes, or of powers of 1,024 with `K`, `M` or `G` behind it, in letters of either case; 0 is
    /// no limit. Nil for anything else, and for more than 64 bits hold.
    package static func parse(_ text: String) -> Setting? {
        let unit = units.first { text.uppercased().hasSuffix($0.suffix) }
        let digits = text.dropLast(unit == nil ? 0 : 1)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = UInt64(digits) else {
            return nil
        }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: unit?.bytes ?? 1)
        if overflows { return nil }
        return TransferRate(bytesPerSecond: bytes).map { .limited($0) } ?? .unlimited
    }

    /// The text form as it is read, with the greatest unit that loses nothing.
    package var description: String {
        guard let unit = Self.units.first(where: { bytesPerSecond.isMultiple(of: $0.bytes) }) else {
            return "\(bytesPerSecond)"
        }
        return "\(bytesPerSecond / unit.bytes)\(unit.suffix)"
    }
}
