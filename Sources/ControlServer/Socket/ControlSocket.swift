package import ControlAPI
import Glibc
import SyncAgent

/// The file of the control socket: its audience, and the removal of one that a dead agent left behind.
package struct ControlSocket: Sendable {
    /// The users who may open the socket; the credentials of each connection are checked besides (`PeerCredential`).
    package enum Audience: Sendable {
        /// The agent's user only: mode 0600, for a directory of mode 0700.
        case owner
        /// The agent's user and the socket's group: mode 0660, for the service's directory.
        case group
    }

    package let path: String
    package let audience: Audience

    package init(path: String, audience: Audience = .owner) {
        self.path = path
        self.audience = audience
    }

    var mode: mode_t {
        switch audience {
        case .owner: 0o600
        case .group: 0o660
        }
    }

    /// Checks the path and removes a socket on which no agent answers. The agent holds the lock of its data directory before it
    /// calls this, so a socket that answers belongs to an agent with another data directory.
    package func prepare() throws(ControlError) {
        guard path.utf8.count <= ControlLimits.socketPathBytes else {
            throw .socketPathTooLong(
                path, hint: "Give a shorter one with --socket, for example --socket /tmp/lanyard/control.sock.")
        }
        guard let status = FileStatus(at: path, followsLinks: false) else {
            if errno == ENOENT { return }
            throw failure("cannot be looked at")
        }
        guard status.isSocket else {
            throw ControlError(
                .invalidArgument, "At \(path) there is something that is not a socket.",
                hint: "Move it away, or give another path with --socket.")
        }
        if somebodyAnswers() {
            throw ControlError(
                .alreadyRunning, "Another agent answers on \(path).",
                hint: "Stop it, or give this one its own --data-dir and --socket.")
        }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw failure("was left by a dead agent and cannot be removed")
        }
    }

    /// Sets the socket's mode; to be called once it is bound.
    func restrict() throws(ControlError) {
        guard chmod(path, mode) == 0 else { throw failure("cannot be given its mode") }
    }

    /// Removes the file at a clean stop, so that the next command says at once that no agent runs.
    func remove() { unlink(path) }

    private func failure(_ words: String) -> ControlError {
        ControlError(
            .invalidArgument, "The control socket \(path) \(words): \(String(cString: strerror(errno))).",
            hint: "Check the directory's owner and mode, or give another path with --socket.")
    }

    private func somebodyAnswers() -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        return result == 0
    }
}
