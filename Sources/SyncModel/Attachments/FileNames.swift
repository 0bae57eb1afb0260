/// Local file names for names that other devices gave: inside the folder, valid on any file system, each once.
///
/// A name that another system would take for a path, a device or a twin is changed, never refused: a picture named `CON.png`
/// is not lost. The caller that opens the file checks where a name leads on this disk (a link, an existing file).
package struct FileNames: Sendable {
    /// The maximum length on most file systems, in bytes of UTF-8.
    private static let longest = 255
    /// The bytes reserved for a number in brackets.
    private static let room = 8

    /// Folded: as a file system that ignores case or composition sees them.
    private var taken: Set<String> = []

    package init() {}

    /// A name like `name` that was not given before.
    package mutating func name(for name: String) -> String {
        let safe = Self.safe(name)
        var candidate = safe
        var number = 2
        while !taken.insert(Self.folded(candidate)).inserted {
            let (stem, suffix) = Self.parted(safe)
            candidate = "\(stem) (\(number))\(suffix)"
            number += 1
        }
        return candidate
    }

    /// Two names with the same folded form may be one file somewhere. Swift compares strings by canonical equivalence.
    private static func folded(_ name: String) -> String { name.lowercased().uppercased().lowercased() }

    /// The same name without what leads elsewhere.
    static func safe(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            let isUnsafe =
                switch scalar.properties.generalCategory {
                // Directions and joiners too: a name must read as what it is.
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
                case _: "/\\:*?\"<>|".unicodeScalars.contains(scalar)
                }
            scalars.append(isUnsafe ? "_" : scalar)
        }
        var safe = String(scalars)
        while let last = safe.unicodeScalars.last, last == "." || last == " " { safe.unicodeScalars.removeLast() }
        while safe.unicodeScalars.first == " " { safe.unicodeScalars.removeFirst() }
        // Hidden, or a switch of some command.
        if let first = safe.unicodeScalars.first, first == "." || first == "-" || first == "~" { safe = "_" + safe }
        if safe.isEmpty { safe = "attachment" }
        if isDevice(safe) { safe = "_" + safe }
        return shortened(safe)
    }

    /// CON, COM1 and their like, with any suffix (the names of Windows).
    private static func isDevice(_ name: String) -> Bool {
        let stem = name.prefix { $0 != "." }.uppercased()
        if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(stem) { return true }
        guard stem.count == 4, stem.hasPrefix("COM") || stem.hasPrefix("LPT"), let digit = stem.last else {
            return false
        }
        return "0123456789¹²³".contains(digit)
    }

    /// The suffix stays: it says what opens the file.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest - room else { return name }
        let (stem, suffix) = parted(name)
        let limit = longest - room - suffix.utf8.count
        var short = ""
        var count = 0
        for character in stem {
            count += character.utf8.count
            if count > limit { break }
            short.append(character)
        }
        return (short.isEmpty ? "attachment" : short) + suffix
    }

    private static func parted(_ name: String) -> (stem: String, suffix: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 32 else {
            return (name, "")
        }
        return (String(name[..<dot]), String(name[dot...]))
    }
}
