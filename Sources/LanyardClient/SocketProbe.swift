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
        let result = UnixAddress.connect(descriptor, to: path)
        return result == 0 || errno != ENOENT && errno != ENOTDIR && errno != ECONNREFUSED
    }
}
