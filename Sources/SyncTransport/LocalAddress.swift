import Glibc
package import NIOCore

/// This machine's end of a connection.
package struct LocalAddress: Sendable, Hashable {
    /// Network byte order: 4 bytes, also of an IPv4 address that a socket of both families shows as IPv6, or 16.
    package let bytes: [UInt8]

    package init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress else { return nil }
        let isLong = text.utf8.contains(UInt8(ascii: ":"))
        var all = [UInt8](repeating: 0, count: isLong ? 16 : 4)
        guard inet_pton(isLong ? AF_INET6 : AF_INET, text, &all) == 1 else { return nil }
        bytes = isLong && all.starts(with: Self.mappedPrefix) ? Array(all.suffix(4)) : all
    }

    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// Addresses of the machine itself need no cable, and not all of them stand on an interface.
    private var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// - Parameter running: the addresses of interfaces that are running.
    package func isGone(from running: Set<[UInt8]>) -> Bool { !isLoopback && !running.contains(bytes) }
}
