/// A device as people name it: by its name, by a prefix of its id that no other id has, or by the id.
///
/// A whole id means that device whatever others call themselves: a name is chosen by its device.
package enum DeviceWord {
    /// The shortest beginning of an id that is looked for: shorter ones are meant as names.
    private static let leastPrefix = 4

    /// A name that fits goes before an id that begins so.
    package static func find(_ word: String, in devices: [DeviceEntry]) throws(ControlError) -> DeviceEntry {
        if let exact = devices.first(where: { $0.id == word }) { return exact }
        let named = devices.filter { $0.name == word }
        if named.count == 1 { return named[0] }
        let digits = word.uppercased().filter { $0 != "-" }
        let identified = digits.count < leastPrefix ? [] : devices.filter { plain($0.id).hasPrefix(digits) }
        if identified.count == 1 { return identified[0] }
        let found = named.isEmpty ? identified : named
        guard found.isEmpty else {
            throw ControlError(
                .ambiguousDevice, "There are \(found.count) devices called \"\(word)\".",
                hint: "Say which by its id: " + found.map { String($0.id.prefix(7)) }.joined(separator: ", "))
        }
        throw unknown(word)
    }

    /// Returns a name that can be pasted into a shell as it is, else the short id.
    package static func typed(_ name: String, shortID: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2E, 0x5F: true
            case 0x2D: !name.hasPrefix("-")
            case _: false
            }
        }
        return isPlain && !name.isEmpty ? name : shortID
    }

    package static func unknown(_ word: String) -> ControlError {
        ControlError(
            .unknownDevice, "There is no device \"\(word)\" in this space.", hint: "`lanyard devices` lists them.")
    }

    private static func plain(_ id: String) -> String { id.filter { $0 != "-" } }
}
