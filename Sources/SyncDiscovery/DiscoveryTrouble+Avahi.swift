import CAvahi
import Glibc

extension DiscoveryTrouble {
    init(avahiError error: Int32) {
        switch Int(error) {
        case Int(AVAHI_ERR_DISCONNECTED), Int(AVAHI_ERR_NO_DAEMON):
            self = SystemBus.answers ? .daemonMissing : .busMissing
        case Int(AVAHI_ERR_ACCESS_DENIED): self = .accessDenied
        case Int(AVAHI_ERR_NOT_PERMITTED): self = .announcingRefused
        case Int(AVAHI_ERR_TOO_MANY_CLIENTS), Int(AVAHI_ERR_TOO_MANY_OBJECTS), Int(AVAHI_ERR_TOO_MANY_ENTRIES):
            self = .tooManyClients
        case Int(AVAHI_ERR_DBUS_ERROR): self = SystemBus.answers ? .accessDenied : .busMissing
        case _: self = .failed
        }
    }
}

/// Avahi reports a bus that is away with the numbers of a missing daemon or of a bus that forbids; knocking at its socket
/// tells them apart.
private enum SystemBus {
    static var answers: Bool {
        let path = Array(socketPath.utf8)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let knock = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard knock >= 0 else { return false }
        defer { close(knock) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(knock, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private static var socketPath: String {
        guard let raw = getenv("DBUS_SYSTEM_BUS_ADDRESS") else { return "/run/dbus/system_bus_socket" }
        let address = String(cString: raw)
        let prefix = "unix:path="
        guard address.hasPrefix(prefix) else { return "" }
        return String(address.dropFirst(prefix.count).prefix { $0 != "," && $0 != ";" })
    }
}
