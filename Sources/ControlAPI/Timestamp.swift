/// A moment of the wall clock in UTC, to the millisecond; in JSON an RFC 3339 text such as `2025-11-21T04:28:31.123Z`.
///
/// For people's eyes only: order is never derived from it.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let millisecondsSinceEpoch: Int64

    /// The moment so many milliseconds after the epoch; clamped to the years 0 to 9999, which the text form can hold.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = min(max(millisecondsSinceEpoch, -62_167_219_200_000), 253_402_300_799_999)
    }

    /// Earlier is less.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.millisecondsSinceEpoch < right.millisecondsSinceEpoch
    }
}

extension Timestamp: CustomStringConvertible {
    /// The RFC 3339 text.
    public var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the 24 characters of the text form. Civil dates from day numbers after Howard Hinnant,
    /// "chrono-Compatible Low-Level Date Algorithms" (`civil_from_days`).
    package func write(to bytes: inout [UInt8]) {
        let (days, milliseconds) = Self.floorDivide(millisecondsSinceEpoch, 86_400_000)
        let shifted = days + 719_468
        let (era, dayOfEra) = Self.floorDivide(shifted, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        Self.append(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), digits: 4, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        Self.append(month, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        Self.append(dayOfYear - (153 * monthIndex + 2) / 5 + 1, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "T"))
        Self.append(milliseconds / 3_600_000, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        Self.append(milliseconds / 60_000 % 60, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        Self.append(milliseconds / 1_000 % 60, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        Self.append(milliseconds % 1_000, digits: 3, to: &bytes)
        bytes.append(UInt8(ascii: "Z"))
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func append(_ value: Int64, digits: Int, to bytes: inout [UInt8]) {
        var divisor: Int64 = digits == 4 ? 1_000 : digits == 3 ? 100 : 10
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }

    /// Reads exactly the form that `description` writes; nil for any other.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 24 else { return nil }
        func number(_ range: Range<Int>) -> Int64? { Int64(String(decoding: bytes[range], as: UTF8.self)) }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let millisecond = number(20..<23), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = Self.floorDivide(shiftedYear, 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
        self.init(millisecondsSinceEpoch: seconds * 1_000 + millisecond)
        guard description == text else { return nil }
    }
}

extension Timestamp {
    /// Reads what a person or a program gives: an RFC 3339 text in any zone (`2025-11-21T05:28:31+01:00`), also without seconds.
    /// What lies behind the milliseconds is left out.
    package init?(given text: String) {
        let bytes = Array(text.utf8)
        guard (17...40).contains(bytes.count), let zone = Self.zone(bytes) else { return nil }
        let clock = bytes[..<zone.start]
        let (seconds, fraction): (ArraySlice<UInt8>, ArraySlice<UInt8>)
        switch clock.count {
        case 16: (seconds, fraction) = (clock + Array(":00".utf8), [])
        case 19: (seconds, fraction) = (clock, [])
        case 21...29:
            guard clock[19] == UInt8(ascii: "."), clock[20...].allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            (seconds, fraction) = (clock[..<19], clock[20...].prefix(3))
        case _: return nil
        }
        let milliseconds = Array(fraction) + Array(repeating: UInt8(ascii: "0"), count: 3 - fraction.count)
        let whole = String(decoding: seconds, as: UTF8.self) + "." + String(decoding: milliseconds, as: UTF8.self)
        guard let time = Timestamp(whole + "Z") else { return nil }
        self.init(millisecondsSinceEpoch: time.millisecondsSinceEpoch - Int64(zone.minutes) * 60_000)
    }

    /// Returns where the zone of an RFC 3339 text begins, and how far it is ahead of UTC.
    private static func zone(_ bytes: [UInt8]) -> (start: Int, minutes: Int)? {
        if bytes.last == UInt8(ascii: "Z") { return (bytes.count - 1, 0) }
        let start = bytes.count - 6
        let digits = [1, 2, 4, 5].map { Int(bytes[start + $0]) - 0x30 }
        guard [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[start]), bytes[start + 3] == UInt8(ascii: ":"),
            digits.allSatisfy({ (0...9).contains($0) })
        else { return nil }
        let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        guard hours < 24, minutes < 60 else { return nil }
        return (start, (bytes[start] == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes))
    }
}

extension Timestamp: Codable {
    /// Reads an RFC 3339 text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let timestamp = Timestamp(given: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a time such as 2025-11-21T04:28:31.123Z")
        }
        self = timestamp
    }

    /// Writes the RFC 3339 text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
