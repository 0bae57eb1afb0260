import DiscoveryProbe
import Testing

/// Real avahi-daemons on a real wire. Each test makes its own two machines; nothing of them outlives it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct WireTests {
    private let machines: TwoMachines

    init() async throws {
        machines = try await TwoMachines()
    }

    @Test func `two machines find each other over both protocols and see a clean departure`() async throws {
        try await machines.startEverything()
        for (node, other) in [(1, 2), (2, 1)] {
            let v4 = try await found(other, by: node, family: "ipv4")
            #expect(v4.addresses == ["10.77.0.\(other)"])
            #expect(v4.host == "machine\(other).local")
            #expect(v4.text == ["v=1", "t=00112233445566\(other)0"])
            let v6 = try await found(other, by: node, family: "ipv6")
            #expect(v6.interface == "lan0")
            let address = try #require(v6.addresses?.first)
            #expect(address.hasPrefix("fe80::") && address.hasSuffix("%lan0"))
        }
        let position = try await machines.command("2 tell stop")
        let stopped = try await machines.expect("stop", from: 2, after: position) { $0.event == "stopped" }
        #expect(stopped.ended == true)
        #expect((stopped.milliseconds ?? .max) < 500)
        for family in ["ipv4", "ipv6"] { try await lost(by: 1, family: family, after: position) }
        let own = try await machines.expect("its name", from: 1) { $0.event == "announced" }.instance
        #expect(!machines.lines(from: 1).contains { $0.event == "found" && $0.instance == own })
    }

    @Test func `an agent starts without avahi and without a bus, and says which is missing`() async throws {
        try await machines.command("1 probe start")
        try await machines.command("1 tell publish 5001")
        try await machines.expectState("unavailable", code: "mdns_bus_missing", from: 1)
        try await machines.command("1 bus start")
        try await machines.expectState("unavailable", code: "mdns_daemon_missing", from: 1)
        let position = try await machines.command("1 avahi start")
        try await machines.expectState("running", from: 1, after: position)
        try await machines.expect("announcement", from: 1, after: position) { $0.event == "announced" }
    }

    @Test func `avahi dies and comes back five times, and everybody is found again`() async throws {
        try await machines.startEverything()
        try await foundEachOther(after: 0)
        for _ in 1...5 {
            let death = try await machines.command("1 avahi kill")
            try await machines.expectState("unavailable", code: "mdns_daemon_missing", from: 1, after: death)
            try await lost(by: 1, family: "ipv4", after: death)
            let return_ = try await machines.command("1 avahi start")
            try await machines.expectState("running", from: 1, after: return_)
            try await found(2, by: 1, family: "ipv4", after: return_)
        }
    }

    @Test func `the bus dies and takes avahi along, and both come back`() async throws {
        try await machines.startEverything()
        try await foundEachOther(after: 0)
        let death = try await machines.command("1 bus kill")
        try await machines.expectState("unavailable", code: "mdns_bus_missing", from: 1, after: death)
        try await machines.command("1 avahi kill")
        try await machines.command("1 bus start")
        try await machines.expectState("unavailable", code: "mdns_daemon_missing", from: 1, after: death)
        let return_ = try await machines.command("1 avahi start")
        try await machines.expectState("running", from: 1, after: return_)
        try await found(2, by: 1, family: "ipv4", after: return_)
    }

    @Test func `a changed tag and port reach the other after a refresh`() async throws {
        try await machines.startEverything()
        try await foundEachOther(after: 0)
        let position = try await machines.command("2 tell publish 5002 ffffffffffffffff")
        // The text travels in an announcement of its own; the look-up says when it is there.
        try await repeating("1 tell refresh") {
            try await machines.expect("new tag", from: 1, after: position, within: .seconds(3)) {
                $0.event == "found" && $0.text == ["v=1", "t=ffffffffffffffff"]
            }
        }
        let move = try await machines.command("2 tell publish 6002 ffffffffffffffff")
        try await repeating("1 tell refresh") {
            try await machines.expect("new port", from: 1, after: move, within: .seconds(3)) { $0.port == 6002 }
        }
    }

    @Test func `whoever finds its name taken takes another`() async throws {
        try await machines.startEverything()
        try await foundEachOther(after: 0)
        // The other may find it before it has heard itself that its name is established.
        let name = try #require(try await machines.expect("its name", from: 1) { $0.event == "announced" }.instance)
        // Nobody defends the name while its daemon is away, so the forger gets it.
        try await machines.command("1 avahi kill")
        let forged = try await machines.command("2 forge \(name)")
        try await repeating("2 tell refresh") {
            try await machines.expect("a forged record", from: 2, after: forged, within: .seconds(3)) { $0.port == 9 }
        }
        let return_ = try await machines.command("1 avahi start")
        let renamed = try await machines.expect("a new name", from: 1, after: return_) { $0.event == "announced" }
        #expect(renamed.instance != name)
        try await machines.expect("the new name", from: 2, after: return_) {
            $0.event == "found" && $0.instance == renamed.instance
        }
    }

    @Test func `a link that goes and comes is told, and a chosen address is the only one announced`() async throws {
        for node in 1...2 {
            try await machines.command("\(node) bus start")
            try await machines.command("\(node) avahi start")
        }
        try await machines.command("1 probe start --announce 10.99.0.7")
        try await machines.command("1 tell publish 5001")
        try await machines.command("2 probe start")
        let record = try await machines.expect("record", from: 2) { $0.event == "found" }
        #expect(record.addresses == ["10.99.0.7"])
        for link in ["down", "up"] {
            let position = try await machines.command("2 link \(link)")
            try await machines.expect("sign of life", from: 2, after: position) { $0.event == "interfacesChanged" }
        }
        #expect(machines.lines(from: 2).filter { $0.event == "found" }.allSatisfy { $0.family == "ipv4" })
    }

    @Test func `without mDNS nothing is asked of Avahi and links are still watched`() async throws {
        try await machines.command("1 bus start")
        try await machines.command("1 avahi start")
        try await machines.command("1 probe start --no-mdns")
        try await machines.command("1 tell publish 5001")
        try await machines.expectState("off", from: 1)
        let position = try await machines.command("1 link down")
        try await machines.expect("sign of life", from: 1, after: position) { $0.event == "interfacesChanged" }
        #expect(!machines.lines(from: 1).contains { $0.event == "announced" || $0.state == "running" })
    }

    @Test func `a daemon that hangs does not hold up the stop`() async throws {
        try await machines.startEverything()
        try await foundEachOther(after: 0)
        try await machines.command("1 avahi freeze")
        try await machines.command("1 tell refresh")
        let position = try await machines.command("1 tell stop")
        let stopped = try await machines.expect("stop", from: 1, after: position) { $0.event == "stopped" }
        #expect((stopped.milliseconds ?? .max) < 1000)
        try await machines.command("1 avahi thaw")
    }

    // MARK: What the tests say

    @discardableResult
    private func found(
        _ other: Int, by node: Int, family: String, after position: Int = 0
    ) async throws -> TwoMachines.Line {
        try await machines.expect("machine \(other) over \(family)", from: node, after: position) {
            $0.event == "found" && $0.port == UInt16(5000 + other) && $0.family == family
        }
    }

    private func lost(by node: Int, family: String, after position: Int) async throws {
        try await machines.expect("loss over \(family)", from: node, after: position) {
            $0.event == "lost" && $0.family == family
        }
    }

    private func foundEachOther(after position: Int) async throws {
        try await found(2, by: 1, family: "ipv4", after: position)
        try await found(1, by: 2, family: "ipv4", after: position)
    }

    /// Sends the command again until what is expected comes, five times at most.
    private func repeating(_ command: String, _ expectation: () async throws -> some Any) async throws {
        for _ in 1...4 {
            try await machines.command(command)
            if (try? await expectation()) != nil { return }
        }
        try await machines.command(command)
        _ = try await expectation()
    }
}
