import Glibc
import NIOCore

/// The reason why the agent cannot listen.
/// Each case carries the address in text form.
package enum ListenError: Error, Sendable, Equatable {
    case portInUse(String)
    case addressNotHere(String)
    case permissionDenied(String)
    /// The host is no address.
    case notAnAddress(String)
    case failed(String, errno: Int32)

    package var code: String {
        switch self {
        case .portInUse: "port_in_use"
        case .addressNotHere: "address_not_here"
        case .permissionDenied: "listen_permission"
        case .notAnAddress: "listen_address"
        case .failed: "listen_failed"
        }
    }

    package var message: String {
        switch self {
        case .portInUse(let address): "Another program listens on \(address)."
        case .addressNotHere(let address): "No interface of this machine has the address of \(address)."
        case .permissionDenied(let address): "This user may not listen on \(address)."
        case .notAnAddress(let address): "\(address) is no IPv4 or IPv6 address to listen on."
        case .failed(let address, let errno): "Listening on \(address) failed: \(String(cString: strerror(errno)))."
        }
    }

    package var hint: String {
        switch self {
        case .portInUse: "Stop that program, or choose another port with --listen HOST:PORT."
        case .addressNotHere, .notAnAddress: "Give --listen an address of this machine; `ip address` shows them."
        case .permissionDenied: "Choose a port from 1024 up with --listen HOST:PORT."
        case .failed: "Choose another address or port with --listen HOST:PORT."
        }
    }

    init(_ error: any Error, _ address: String) {
        guard let error = error as? IOError else {
            self = .failed(address, errno: EIO)
            return
        }
        switch error.errnoCode {
        case EADDRINUSE: self = .portInUse(address)
        case EADDRNOTAVAIL, ENODEV: self = .addressNotHere(address)
        case EACCES, EPERM: self = .permissionDenied(address)
        default: self = .failed(address, errno: error.errnoCode)
        }
    }
}

/// The reason why the agent cannot listen at another address, and where it listens instead.
package struct ListenMoveError: Error, Sendable, Equatable {
    package let reason: ListenError
    /// The address until now, where the agent still accepts; nil: it could not be opened again, and the agent listens nowhere.
    package let goesOn: HostPort?

    init(_ error: any Error, goesOn: HostPort?) {
        reason = error as? ListenError ?? ListenError(error, "\(goesOn ?? .unknown)")
        self.goesOn = goesOn
    }
}
