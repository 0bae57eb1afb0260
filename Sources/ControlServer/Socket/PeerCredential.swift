import Glibc
import NIOCore
import SyncAgent

/// The user at the other end of a Unix socket, as the kernel reports it (`SO_PEERCRED`, `SO_PEERGROUPS`; unix(7)).
struct PeerCredential: Sendable {
    let userID: uid_t
    let groupIDs: [gid_t]

    /// Nil when the kernel does not say, for instance because the peer is gone.
    init?(descriptor: CInt) {
        // The layout of `struct ucred`, which Glibc shows only to GNU sources.
        var credential: (processID: pid_t, userID: uid_t, groupID: gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credential))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credential, &length) == 0 else { return nil }
        var groups = [gid_t](repeating: 0, count: 256)
        var groupsLength = socklen_t(groups.count * MemoryLayout<gid_t>.size)
        let result = groups.withUnsafeMutableBytes {
            getsockopt(descriptor, SOL_SOCKET, Self.peerGroupsOption, $0.baseAddress, &groupsLength)
        }
        userID = credential.userID
        let supplementary = result == 0 ? groups.prefix(Int(groupsLength) / MemoryLayout<gid_t>.size) : []
        groupIDs = [credential.groupID] + supplementary
    }

    /// `SO_PEERGROUPS` of asm-generic/socket.h, which the headers Swift imports leave out.
    private static let peerGroupsOption: CInt = 59
}

/// The rule for access to the agent: its own user, root, and the socket's group if its mode says so.
struct AdmissionRule: Sendable {
    let socket: ControlSocket

    enum Admission: Sendable {
        /// The agent's user, or root: what concerns its keys, too.
        case owner
        case group
        case refused
        /// The limit of connections is reached.
        case turnedAway
    }

    func admission(of credential: PeerCredential) -> Admission {
        if credential.userID == 0 || credential.userID == geteuid() { return .owner }
        switch socket.audience {
        case .owner: return .refused
        case .group:
            let group = FileStatus(at: socket.path, followsLinks: true)?.groupID
            let isMember = group.map(credential.groupIDs.contains) ?? false
            return isMember ? .group : .refused
        }
    }

    /// Returns the admission of a channel; must be called on its event loop.
    func admission(of channel: any Channel) -> Admission {
        let credential = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
            (descriptor: CInt) in PeerCredential(descriptor: descriptor)
        }
        guard let known = credential ?? nil else { return .refused }
        return admission(of: known)
    }
}
