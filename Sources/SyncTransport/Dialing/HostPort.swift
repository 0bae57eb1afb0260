import Glibc
package import NIOCore

/// Where somebody listens: an address (IPv4, IPv6, link-local with `%scope`) or a host name, and a port.
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

    private init(uncheckedHost: String, port: Int) {
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

    /// `sin6_scope_id` is the last field of `sockaddr_in6` (RFC 3493 §3.3): bytes 24 to 27, in host order.
    private static func scope(of address: SocketAddress) -> UInt32? {
        address.withSockAddr { pointer, size in
            size >= 28 ? UnsafeRawPointer(pointer).loadUnaligned(fromByteOffset: 24, as: UInt32.self) : nil
        }
    }

    /// The address of a socket. An IPv4 address that a dual-stack socket shows inside an IPv6 one comes out as IPv4.
    package init(_ address: SocketAddress) {
        port = address.port ?? 0
        guard case .v6 = address else {
            host = address.ipAddress ?? "unknown"
            return
        }
        let text = address.ipAddress ?? "unknown"
        if text.hasPrefix("::ffff:"), text.contains(".") {
            host = String(text.dropFirst("::ffff:".count))
        } else if let scope = Self.scope(of: address), scope != 0 {
            host = text + "%" + Self.interfaceName(scope)
        } else {
            host = text
        }
    }

    /// Whether the address means something only on this machine or link, and is useless to put in a ticket.
    package var hasScope: Bool { host.utf8.contains(UInt8(ascii: "%")) }

    /// The four bytes of an IPv4 address; nil for other addresses and names.
    package var ipv4Bytes: [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4)
        return inet_pton(AF_INET, host, &bytes) == 1 ? bytes : nil
    }

    /// Exactly four bytes.
    init(ipv4Bytes bytes: some Collection<UInt8>, port: Int) {
        self.init(uncheckedHost: bytes.map(String.init).joined(separator: "."), port: port)
    }

    private static func interfaceName(_ index: UInt32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { name in
            guard if_indextoname(index, name.baseAddress!) != nil else { return String(index) }
            return String(cString: name.baseAddress!)
        }
    }
}

extension HostPort: CustomStringConvertible {
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// What a dial makes of a `HostPort`.
enum DialTarget {
    case address(SocketAddress)
    case name(String, Int)
    /// A link-local address whose interface is not here (now).
    case noSuchInterface
}

extension HostPort {
    /// Addresses are taken as they are, without a resolver; everything else is a name.
    var dialTarget: DialTarget {
        if hasScope { return scopedTarget }
        if let address = try? SocketAddress(ipAddress: host, port: port) { return .address(address) }
        return .name(host, port)
    }

    /// The resolver reads `address%interface` without asking anybody (RFC 4007 §11.7); it fails for an interface that is
    /// not here.
    private var scopedTarget: DialTarget {
        guard let address = try? SocketAddress.makeAddressResolvingHost(host, port: port) else {
            return .noSuchInterface
        }
        return .address(address)
    }
}
