/// The unit in which offsets and lengths in a text are counted.
public enum TextUnit: String, Codable, CaseIterable, Hashable, Sendable {
    /// Bytes of UTF-8, as in Go, Rust, Python's `bytes` and files.
    case utf8
    /// UTF-16 code units, as in JavaScript, Java, C# and `NSString`.
    case utf16
    /// Unicode scalars, as in Python's `str` and in `lanyard edit`.
    case scalars

    /// Returns the length of a text in this unit.
    public func count(_ text: String) -> Int {
        switch self {
        case .utf8: text.utf8.count
        case .utf16: text.utf16.count
        case .scalars: text.unicodeScalars.count
        }
    }
}

extension String {
    /// Returns the index at an offset in `unit`; nil outside of the text, and inside of a scalar.
    package func index(at offset: Int, in unit: TextUnit) -> Index? {
        guard offset >= 0 else { return nil }
        let found: Index? =
            switch unit {
            case .utf8: utf8.index(utf8.startIndex, offsetBy: offset, limitedBy: utf8.endIndex)
            case .utf16: utf16.index(utf16.startIndex, offsetBy: offset, limitedBy: utf16.endIndex)
            case .scalars:
                unicodeScalars.index(unicodeScalars.startIndex, offsetBy: offset, limitedBy: unicodeScalars.endIndex)
            }
        return found?.samePosition(in: unicodeScalars)
    }

    /// Returns the offset of an index in `unit`.
    package func offset(of index: Index, in unit: TextUnit) -> Int {
        switch unit {
        case .utf8: utf8.distance(from: utf8.startIndex, to: index)
        case .utf16: utf16.distance(from: utf16.startIndex, to: index)
        case .scalars: unicodeScalars.distance(from: unicodeScalars.startIndex, to: index)
        }
    }
}
