import ControlAPI
import Glibc

/// A probe for a listener on a Unix socket.
package enum SocketProbe {
    /// Connects and hangs up, without waiting. Returns false only if the socket is missing, or has no listener: other errors
    /// are worth showing.
    package static func answers(_ path: String) -> Bool {
        guard path.utf8.count <= ControlLimits.socketPathBytes else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        return result == 0 || errno != ENOENT && errno != ENOTDIR && errno != ECONNREFUSED
    }
}
