import ControlAPI
import ControlServer
import Testing

/// The check of `lanyard doctor` in a container.
@Suite struct ContainerFactsTests {
    private func engine(_ files: Set<String> = [], variable: String? = nil, groups: String = "") -> String? {
        ContainerFacts.engine(files: files, variable: variable, controlGroups: groups)
    }

    private func check(
        _ drivers: [String], engine: String? = "Docker", _ change: (inout ContainerFacts) -> Void = { _ in }
    ) -> DoctorCheck? {
        var facts = ContainerFacts(engine: engine)
        (facts.drivers, facts.port) = (drivers, 21_817)
        change(&facts)
        return facts.check
    }

    @Test func `each mark of an engine is recognised on its own`() {
        #expect(engine(["/run/.containerenv"]) == "Podman")
        #expect(engine(["/.dockerenv"]) == "Docker")
        #expect(engine(variable: "podman") == "Podman")
        #expect(engine(variable: "docker") == "Docker")
        #expect(engine(groups: "0::/\n1:cpu:/libpod_parent/libpod-171a91c175a9") == "Podman")
        #expect(engine(groups: "12:pids:/docker/8f3c\n0::/system.slice/containerd.service") == "Docker")
        #expect(engine(groups: "0::/system.slice/docker-8f3c.scope") == "Docker")
        #expect(engine(groups: "0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-8f3c.scope") == "Kubernetes")
    }

    @Test func `a plain machine has no mark, and nothing to say`() {
        #expect(engine() == nil)
        #expect(engine(groups: "0::/init.scope\n") == nil)
        #expect(engine(groups: "9:name=systemd:/\n8:pids:/\n0::/") == nil)
        #expect(engine(variable: "") == nil)
        // An engine that runs on the machine is not around its first process.
        #expect(engine(groups: "0::/user.slice/my-docker-notes.scope") == nil)
        #expect(engine(groups: "garbage\n:::\n::/") == nil)
        #expect(check(["veth"], engine: nil) == nil)
        #expect(check([], engine: nil) == nil)
    }

    @Test(arguments: [["veth"], ["tun"], ["veth", "veth"]])
    func `a lone container on a network inside its host is told what to do`(drivers: [String]) throws {
        let found = try #require(check(drivers))
        #expect(found.check == "container_network" && found.state == .warning)
        #expect(found.detail.contains("container of Docker on a network inside its host"))
        #expect(found.detail.contains("mDNS of the LAN does not arrive"))
        for step in ["--network host", "macvlan", "-p 21817:21817", "--announce", "lanyard peers add ADDRESS:21817"] {
            #expect(found.hint.contains(step), "\(step): \(found.hint)")
        }
    }

    @Test func `no alarm while other devices are found there or connected by address`() {
        let met = check(["veth"]) { $0.found = 2 }
        #expect(met?.state == .ok && met?.detail.contains("2 other devices are found by mDNS") == true)
        #expect(check(["veth"]) { $0.found = 1 }?.detail.contains("1 other device is found") == true)
        let typed = check(["veth"]) { $0.connected = 1 }
        #expect(typed?.state == .ok && typed?.detail.contains("connected by address") == true)
    }

    @Test(
        arguments: [["virtio_net", "bridge", "veth"], ["macvlan"], ["ipvlan"], ["e1000e"], ["veth", "macvlan"], [""]])
    func `no alarm on the host's network, on the LAN, or where the driver is unknown`(drivers: [String]) {
        #expect(check(drivers)?.state == .ok)
    }

    @Test func `no alarm in the first seconds`() {
        let early = check(["veth"]) { $0.hasHadTime = false }
        #expect(early?.state == .skipped && early?.hint.isEmpty == false)
        #expect(check(["veth"]) { ($0.hasHadTime, $0.found) = (false, 1) }?.state == .ok)
    }

    @Test func `a container without any network is told so`() {
        let none = check([])
        #expect(none?.state == .warning && none?.detail.contains("without a network") == true)
        #expect(none?.hint.isEmpty == false)
    }
}
