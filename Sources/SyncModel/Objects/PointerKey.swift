extension ExactString {
    /// The key as one part of a path: `~` and `/` written `~0` and `~1` (RFC 6901, section 3).
    package var pointerEscaped: String {
        var bytes: [UInt8] = []
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "~"): bytes += "~0".utf8
            case UInt8(ascii: "/"): bytes += "~1".utf8
            case _: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The key that a part of a path names. An escape that is none stands for itself.
    package init(pointerEscaped part: String) {
        var bytes: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "~"), let code = rest.first else {
                bytes.append(byte)
                continue
            }
            switch code {
            case UInt8(ascii: "0"): bytes.append(byte)
            case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
            case _:
                bytes.append(byte)
                continue
            }
            rest.removeFirst()
        }
        self.init(String(decoding: bytes, as: UTF8.self))
    }
}
