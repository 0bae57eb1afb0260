package import ControlAPI
import Glibc
import SyncDiscovery

/// The facts about the container that an agent runs in, and the check that `lanyard doctor` makes of them.
package struct ContainerFacts: Sendable {
    /// The engine's name; nil outside a container.
    package var engine: String?
    /// The drivers of the interfaces that are up and reach neighbours.
    package var drivers: [String] = []
    /// Other devices that were found by mDNS, paired or not.
    package var found = 0
    package var connected = 0
    package var port: UInt16 = 0
    /// False right after the agent's start, when devices may be there that are not found yet.
    package var hasHadTime = true

    package init(engine: String?) { self.engine = engine }

    /// Returns the facts that the system shows; the ones about other devices are left open.
    package static func current() -> ContainerFacts {
        let name = engine(
            files: markFiles.filter { access($0, F_OK) == 0 },
            variable: getenv("container").map { String(cString: $0) },
            controlGroups: beginning(of: "/proc/1/cgroup"))
        var facts = ContainerFacts(engine: name)
        if facts.engine != nil { facts.drivers = NetworkInterfaces.current().drivers }
        return facts
    }

    private static let podmanFile = "/run/.containerenv"
    private static let dockerFile = "/.dockerenv"
    /// The files that engines put into each container.
    private static let markFiles: Set = [podmanFile, dockerFile]

    /// Returns the name of the engine whose marks there are; nil for none. Each mark may be missing: a tmpfs on `/run` hides
    /// Podman's file, and a control group namespace shows `/` to all in it.
    ///
    /// - Parameters:
    ///   - files: the files of `markFiles` that exist.
    ///   - variable: `container` of the environment (systemd's Container Interface), which Podman sets.
    ///   - controlGroups: the contents of `/proc/1/cgroup`.
    package static func engine(files: Set<String>, variable: String?, controlGroups: String) -> String? {
        if files.contains(podmanFile) || variable == "podman" { return "Podman" }
        if files.contains(dockerFile) || variable == "docker" { return "Docker" }
        let marks = [("libpod", "Podman"), ("docker", "Docker"), ("kubepods", "Kubernetes")]
        // 8:pids:/libpod_parent/libpod-171a91c1…
        let folders = controlGroups.split(separator: "\n").flatMap { line in
            line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).last?.split(separator: "/") ?? []
        }
        return marks.first { mark in folders.contains { $0.hasPrefix(mark.0) } }?.1
    }

    /// True if all interfaces are inner ends of cables that the engine made: a veth, or a TAP of slirp4netns or pasta. A macvlan
    /// or ipvlan interface is on the network of its parent.
    private var isOnOwnNetwork: Bool { drivers.allSatisfy { ["veth", "tun"].contains($0) } }

    /// The check; nil outside a container, where there is nothing to say.
    package var check: DoctorCheck? {
        guard let engine else { return nil }
        func check(_ state: DoctorCheck.State, _ detail: String, hint: String = "") -> DoctorCheck {
            DoctorCheck(check: "container_network", state: state, detail: detail, hint: hint)
        }
        let place = "in a container of \(engine)"
        if drivers.isEmpty {
            return check(
                .warning, "\(place) without a network",
                hint: "Connect it to one, or start the container with --network host.")
        }
        guard isOnOwnNetwork else { return check(.ok, "\(place), on the network of its host or on a LAN") }
        let own = "\(place) on a network inside its host"
        if found > 0 { return check(.ok, "\(own), where \(Self.devices(found)) found by mDNS") }
        let lan = "mDNS of the LAN does not arrive there"
        if connected > 0 { return check(.ok, "\(own); \(lan), and \(Self.devices(connected)) connected by address") }
        guard hasHadTime else {
            return check(.skipped, "\(own); the agent has just started", hint: "Run it again in a few seconds.")
        }
        return check(
            .warning, "\(own); \(lan), and no device is found or connected",
            hint: "Start the container with --network host, or on a macvlan network. "
                + "Or publish the port (-p \(port):\(port)), start lanyardd with --announce and the host's address, "
                + "and type on the other device: lanyard peers add ADDRESS:\(port)")
    }

    private static func devices(_ count: Int) -> String {
        count == 1 ? "1 other device is" : "\(count) other devices are"
    }

    /// Returns at most the first 64 KiB of a file; empty where it cannot be read.
    private static func beginning(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : ""
    }
}
