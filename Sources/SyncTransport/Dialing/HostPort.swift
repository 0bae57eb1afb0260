import Glibc

/// The address of a listener: an address (IPv4, IPv6, link-local with `%scope`) or a host name, and a port.
///
/// Text form `host:port`, `[address]:port` for IPv6.
package struct HostPort: Hashable, Sendable {
    /// A DNS name has at most 253 characters, an address with its scope fewer.
    package static let hostByteLimit = 253

    package let host: String
    package let port: Int

    /// Nil when the host is empty, too long or holds white space or control characters, or the port is not 0...65535.
    package init?(host: String, port: Int) {
        guard (1...Self.hostByteLimit).contains(host.utf8.count), (0...65535).contains(port),
            host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") })
        else { return nil }
        self.host = host
        self.port = port
    }

    /// A socket that does not know its address any more.
    static let unknown = HostPort(uncheckedHost: "unknown", port: 0)

    init(uncheckedHost: String, port: Int) {
        host = uncheckedHost
        self.port = port
    }

    /// Reads the text form.
    package init?(text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        self.init(host: String(host), port: port)
    }

    /// True if the address has a meaning only on this machine or link, and is useless in a ticket.
    package var hasScope: Bool { host.utf8.contains(UInt8(ascii: "%")) }

    /// The four bytes of an IPv4 address; nil for other addresses and names.
    package var ipv4Bytes: [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4)
        return inet_pton(AF_INET, host, &bytes) == 1 ? bytes : nil
    }

    /// Builds an IPv4 address from exactly four bytes.
    init(ipv4Bytes bytes: some Collection<UInt8>, port: Int) {
        self.init(uncheckedHost: bytes.map(String.init).joined(separator: "."), port: port)
    }
}

extension HostPort: CustomStringConvertible {
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
