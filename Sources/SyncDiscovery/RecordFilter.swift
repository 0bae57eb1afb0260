import Glibc

/// The bounds that a stranger's record must keep to be stored. Names end up on terminals and addresses get dialled, so neither
/// may do more than name a neighbour.
package enum RecordFilter {
    private static let maximumInstanceBytes = 63
    private static let maximumHostBytes = 255

    /// Returns true for an acceptable instance name. Ours are 16 hex digits; other programs' may be any short text without
    /// control characters.
    package static func accepts(instance: String) -> Bool {
        (1...maximumInstanceBytes).contains(instance.utf8.count)
            && instance.unicodeScalars.allSatisfy { scalar in
                scalar.value >= 0x20 && scalar.properties.generalCategory != .control
                    && scalar.properties.generalCategory != .format && scalar != "\u{FFFD}"
            }
    }

    /// Letters, digits, hyphen, underscore and dots (RFC 1123, and what Avahi makes of host names).
    package static func accepts(hostName: String) -> Bool {
        (1...maximumHostBytes).contains(hostName.utf8.count)
            && hostName.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            }
    }

    /// Network byte order, 4 or 16 bytes. Refused: nothing, everybody, many, and ourselves: a forged record must not
    /// make the agent knock at services that only listen on this machine.
    package static func accepts(address: [UInt8]) -> Bool {
        switch address.count {
        case 4:
            return address[0] != 0 && address[0] != 127 && address[0] < 224
        case 16:
            let isMapped = address.prefix(10).allSatisfy { $0 == 0 }
            return address[0] != 0xFF && !isMapped
        case _:
            return false
        }
    }

    /// Host text for dialling, or nil. Link-local IPv6 means nothing without its interface (RFC 4007 §11).
    package static func hostText(address: [UInt8], interfaceName: String) -> String? {
        guard accepts(address: address) else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 1)
        let family = address.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let isLinkLocal = address.count == 16 && address[0] == 0xFE && address[1] & 0xC0 == 0x80
        guard isLinkLocal else { return text }
        return interfaceName.isEmpty ? nil : "\(text)%\(interfaceName)"
    }
}

extension RecordFilter {
    /// Numeric host text as bytes in network order; a scope is left out. Nil if it is not an address.
    package static func bytes(ofAddress text: String) -> [UInt8]? {
        let host = String(text.prefix { $0 != "%" })
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, host, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
