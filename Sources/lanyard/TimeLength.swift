import ArgumentParser

/// A length of time as people type it: `30s`, `10m`, `2h`, `1d`, `500ms`; a bare number is seconds.
struct TimeLength: ExpressibleByArgument {
    let milliseconds: Int

    init(milliseconds: Int) { self.milliseconds = milliseconds }

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), let unit = Self.units[String(argument.dropFirst(digits.count))] else {
            return nil
        }
        let (product, overflows) = number.multipliedReportingOverflow(by: unit)
        guard !overflows else { return nil }
        milliseconds = product
    }

    private static let units = ["": 1_000, "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]

    var defaultValueDescription: String { "\(milliseconds / 1_000)s" }
}
