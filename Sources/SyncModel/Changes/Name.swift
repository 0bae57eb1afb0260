/// Names of collections, streams and spaces: 1 to 128 bytes of UTF-8 without `/` and control characters.
package enum Name {
    package static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && isText(bytes) && !bytes.contains(UInt8(ascii: "/"))
    }

    package static func isValid(_ name: String) -> Bool { isValid(name.utf8) }

    /// Event types and labels: at most 128 bytes of UTF-8 without control characters (C0, DEL, C1).
    package static func isText(_ bytes: some Collection<UInt8>) -> Bool {
        guard bytes.count <= Limits.nameBytes else { return false }
        if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return true }
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return !text.unicodeScalars.contains { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) }
    }
}
