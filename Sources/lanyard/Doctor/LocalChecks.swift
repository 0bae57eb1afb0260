import ControlAPI
import Glibc
import LanyardClient

/// The checks this machine can make without asking the agent.
struct LocalChecks {
    let location: SocketLocation
    private var directory: String { location.dataDirectory }

    init(location: SocketLocation) { self.location = location }

    var all: [DoctorCheck] {
        [dataDirectory, keyFiles, freeSpace, durableWrite, lock, avahi]
    }

    private var dataDirectory: DoctorCheck {
        privacy(
            "data_directory", of: directory,
            whenAbsent: (.warning, "It is made at the agent's first start: \(location.startCommand)"),
            whenOpen: ("is open to other users", "Close it: chmod 700 \(directory)"))
    }

    private var keyFiles: DoctorCheck {
        let path = "\(directory)/identity.pem"
        return privacy(
            "key_files", of: path, whenAbsent: (.skipped, "The agent makes its key at its first start."),
            whenOpen: (
                "is open to other users, so the agent refuses it",
                "Close it: chmod 600 \(path). If another user may have read it, retire this device."
            ))
    }

    /// Checks that a path is there and closed to all but the agent's user.
    private func privacy(
        _ name: String, of path: String, whenAbsent: (state: DoctorCheck.State, hint: String),
        whenOpen: (detail: String, hint: String)
    ) -> DoctorCheck {
        guard let status = FileStatus(path) else {
            return DoctorCheck(
                check: name, state: whenAbsent.state, detail: "\(path) \(Self.absence("be looked at"))",
                hint: whenAbsent.hint)
        }
        if status.othersMayLook {
            return DoctorCheck(
                check: name, state: .failed, detail: "\(path) \(whenOpen.detail)", hint: whenOpen.hint)
        }
        return DoctorCheck(check: name, state: .ok, detail: "\(path), closed to other users")
    }

    private var freeSpace: DoctorCheck {
        let name = "free_space"
        var status = statvfs()
        guard statvfs(existingDirectory, &status) == 0 else {
            return DoctorCheck(
                check: name, state: .skipped, detail: "the file system cannot be asked: \(errorText())",
                hint: "Check the path given with --data-dir.")
        }
        let free = Int64(status.f_bavail) * Int64(status.f_frsize)
        let detail = "\(Amounts.bytes(free)) free"
        let hint = "Make room on the file system of \(directory): without it the agent refuses writes."
        switch free {
        case ..<67_108_864: return DoctorCheck(check: name, state: .failed, detail: detail, hint: hint)
        case ..<1_073_741_824: return DoctorCheck(check: name, state: .warning, detail: detail, hint: hint)
        case _: return DoctorCheck(check: name, state: .ok, detail: detail)
        }
    }

    private var durableWrite: DoctorCheck {
        let name = "durable_write"
        guard access(directory, W_OK) == 0 else {
            return DoctorCheck(
                check: name, state: .skipped, detail: "\(directory) \(Self.absence("be written by this user"))",
                hint: "Run the command as the agent's user, once the agent has made it.")
        }
        guard let milliseconds = FsyncProbe(directory: directory).milliseconds() else {
            return DoctorCheck(
                check: name, state: .failed,
                detail: "a file in \(directory) cannot be written and synced: \(errorText())",
                hint: "Check the disk (dmesg) and the file system's free space and quota.")
        }
        let tenths = Int(milliseconds * 10)
        let detail = "written and synced in \(tenths / 10).\(tenths % 10) ms"
        return milliseconds < 100
            ? DoctorCheck(check: name, state: .ok, detail: detail)
            : DoctorCheck(
                check: name, state: .warning, detail: detail,
                hint: "Every write waits this long. Use a faster disk for --data-dir.")
    }

    private var lock: DoctorCheck {
        let name = "lock"
        let answers = SocketProbe.answers(location.socketPath)
        switch (LockProbe(path: "\(directory)/agent.lock").holder(), answers) {
        case (.nobody, false): return DoctorCheck(check: name, state: .ok, detail: "no agent holds \(directory)")
        case (.nobody, true):
            return DoctorCheck(
                check: name, state: .warning, detail: "the agent that answers does not hold \(directory)",
                hint: "Say which agent is meant with --data-dir or --socket.")
        case (.process(let id), true):
            return DoctorCheck(check: name, state: .ok, detail: "held by the agent, process \(id)")
        case (.process(let id), false):
            return DoctorCheck(
                check: name, state: .failed, detail: "held by process \(id), which does not answer",
                hint: "If it was started with --socket, give that path. Else stop it: kill \(id)")
        case (.unknown, _):
            return DoctorCheck(
                check: name, state: .skipped, detail: "the lock in \(directory) cannot be looked at",
                hint: "Run the command as the agent's user.")
        }
    }

    private var avahi: DoctorCheck {
        let name = "avahi"
        guard SocketProbe.answers("/run/dbus/system_bus_socket") else {
            return DoctorCheck(
                check: name, state: .warning, detail: "the D-Bus system bus does not answer",
                hint:
                    "Start it: systemctl start dbus. Without it, devices are found only with: lanyard peers add HOST:PORT"
            )
        }
        guard SocketProbe.answers("/run/avahi-daemon/socket") else {
            return DoctorCheck(
                check: name, state: .warning, detail: "avahi-daemon does not answer",
                hint:
                    "Start it: systemctl start avahi-daemon. Without it, devices are found only with: lanyard peers add HOST:PORT"
            )
        }
        return DoctorCheck(check: name, state: .ok, detail: "avahi-daemon and D-Bus answer")
    }

    /// The data directory or, before the first start, the nearest directory above it.
    private var existingDirectory: String {
        var path = directory
        while access(path, F_OK) != 0, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            path = String(path[..<slash])
        }
        return path
    }

    private func errorText() -> String { String(cString: strerror(errno)) }

    /// Returns the reason why an action on a path failed just now.
    private static func absence(_ action: String) -> String {
        errno == ENOENT ? "does not exist yet" : "cannot \(action): \(String(cString: strerror(errno)))"
    }
}
