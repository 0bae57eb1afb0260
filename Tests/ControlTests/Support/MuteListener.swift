import Foundation
import Synchronization

/// Listens on a port of the loopback interface, reads what comes once, hangs up, and counts the connections on which nothing came.
final class MuteListener: Sendable {
    private let descriptor: CInt
    private let empty = Mutex(0)

    /// The number of connections that their other side closed without a byte.
    var emptyConnections: Int { empty.withLock(\.self) }

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var reuses: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0, listen(descriptor, 64) == 0 else { throw POSIXError(.EADDRINUSE) }
        let listener = descriptor
        Thread.detachNewThread { [self] in
            while case let peer = accept(listener, nil, nil), peer >= 0 {
                var byte: UInt8 = 0
                if read(peer, &byte, 1) == 0 { empty.withLock { $0 += 1 } }
                Glibc.close(peer)
            }
        }
    }

    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
    }
}
