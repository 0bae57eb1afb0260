import Glibc
package import NIOCore

// Addresses of sockets.
extension HostPort {
    /// `sin6_scope_id` is the last field of `sockaddr_in6` (RFC 3493 §3.3): bytes 24 to 27, in host order.
    private static func scope(of address: SocketAddress) -> UInt32? {
        address.withSockAddr { pointer, size in
            size >= 28 ? UnsafeRawPointer(pointer).loadUnaligned(fromByteOffset: 24, as: UInt32.self) : nil
        }
    }

    /// The address of a socket. An IPv4 address that a dual-stack socket shows inside an IPv6 one comes out as IPv4.
    package init(_ address: SocketAddress) {
        let (text, port) = (address.ipAddress ?? "unknown", address.port ?? 0)
        guard case .v6 = address else {
            self.init(uncheckedHost: text, port: port)
            return
        }
        if text.hasPrefix("::ffff:"), text.contains(".") {
            self.init(uncheckedHost: String(text.dropFirst("::ffff:".count)), port: port)
        } else if let scope = Self.scope(of: address), scope != 0 {
            self.init(uncheckedHost: text + "%" + Self.interfaceName(scope), port: port)
        } else {
            self.init(uncheckedHost: text, port: port)
        }
    }

    private static func interfaceName(_ index: UInt32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { name in
            guard if_indextoname(index, name.baseAddress!) != nil else { return String(index) }
            return String(cString: name.baseAddress!)
        }
    }
}

/// The target of a dial, made from a `HostPort`.
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
