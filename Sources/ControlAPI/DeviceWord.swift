/// A device as people name it: by its name, by a prefix of its id that no other id has, or by the id.
///
/// A whole id means that device whatever others call themselves: a name is chosen by its device.
package enum DeviceWord {
    /// The shortest beginning of an id that is looked for: shorter ones are meant as names.
    private static let leastPrefix = 4

    /// A word that is the name of one device and begins the id of another is refused: a device could call itself like another's
    /// id.
    package static func find(_ word: String, in devices: [DeviceEntry]) throws(ControlError) -> DeviceEntry {
        if let exact = devices.first(where: { $0.id == word }) { return exact }
        let digits = word.uppercased().filter { $0 != "-" }
        let beginsID = { (id: String) in digits.count >= leastPrefix && plain(id).hasPrefix(digits) }
        let found = devices.filter { $0.name == word || beginsID($0.id) }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            // The short id may be the very word.
            let isShortEnough = !found.contains { beginsID($0.id) }
            let ids = found.map { isShortEnough ? String($0.id.prefix(7)) : $0.id }
            throw ControlError(
                .ambiguousDevice, "\"\(word)\" may be any of \(found.count) devices.",
                hint: "Say which by its id: " + ids.joined(separator: ", "))
        }
        throw unknown(word)
    }

    /// Returns a name that can be pasted into a shell as it is, else the short id. A long name could be another's whole id.
    package static func typed(_ name: String, shortID: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2E, 0x5F: true
            case 0x2D: !name.hasPrefix("-")
            case _: false
            }
        }
        return isPlain && (1...32).contains(name.utf8.count) ? name : shortID
    }

    package static func unknown(_ word: String) -> ControlError {
        ControlError(
            .unknownDevice, "There is no device \"\(word)\" in this space.", hint: "`lanyard devices` lists them.")
    }

    private static func plain(_ id: String) -> String { id.filter { $0 != "-" } }
}
