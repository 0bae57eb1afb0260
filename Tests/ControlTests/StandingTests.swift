import ControlAPI
import LanyardClient
import Testing

/// What people read of devices that lack something: `status` and `wait`.
@Suite(.timeLimit(.minutes(2))) struct StandingTests {
    private static let day: Int64 = 86_400_000

    private func standing(
        _ name: String, _ state: DeviceStanding.State, connected: Bool, unsent: Int? = nil, met: Bool = true
    ) -> DeviceStanding {
        let since = connected ? nil : Timestamp(millisecondsSinceEpoch: 100 * Self.day + Self.day / 2)
        return DeviceStanding(
            id: "\(name)-X", shortID: "BBBBBBB", name: name, state: state, connected: connected, unsent: unsent,
            awaySince: since, lastSeen: met ? since : nil)
    }

    /// The first line of `status`.
    private func sentence(_ standings: DeviceStanding...) async throws -> String? {
        try await LiveServer.with(MemoryAgent(standings: standings)) { server async throws in
            try await CommandRun.lanyard(["status"], socket: server.socketPath).lines.first
        }
    }

    @Test func `status begins with how many devices are in step, and what the others lack`() async throws {
        let (desk, tablet) = (
            standing("desk", .inStep, connected: true, unsent: 0),
            standing("tablet", .inStep, connected: true, unsent: 0)
        )
        #expect(try await sentence(desk) == "In step with desk.")
        #expect(try await sentence(desk, tablet) == "In step with all 2 devices.")
        #expect(
            try await sentence(standing("phone", .inStep, connected: false, unsent: 0), desk)
                == "In step with all 2 devices; phone away since 1970-04-11.")
        #expect(
            try await sentence(standing("phone", .behind, connected: false, unsent: 12), desk, tablet)
                == "In step with 2 of 3 devices; phone away since 1970-04-11, 12 changes unsent.")
        #expect(
            try await sentence(standing("phone", .behind, connected: true, unsent: 1))
                == "Not in step with any device; 1 change not yet sent to phone.")
        #expect(
            try await sentence(standing("phone", .unknown, connected: false, met: false), desk)
                == "In step with 1 of 2 devices; phone was never met, what it holds is not known.")
    }

    @Test func `of many devices that lack something the first are named`() async throws {
        let many = ["e", "d", "c", "b", "a"].map { standing($0, .behind, connected: true, unsent: 2) }
        let line = try await LiveServer.with(MemoryAgent(standings: many)) { server async throws in
            try await CommandRun.lanyard(["status"], socket: server.socketPath).lines.first
        }
        #expect(
            line == "Not in step with any device; 2 changes not yet sent to a; 2 changes not yet sent to b; "
                + "2 changes not yet sent to c; and 2 more devices.")
    }

    @Test func `wait names who is away and lacks something, unless only connected devices count`() async throws {
        let standings = [
            standing("desk", .inStep, connected: true, unsent: 0),
            standing("phone", .behind, connected: false, unsent: 12),
        ]
        try await LiveServer.with(MemoryAgent(standings: standings)) { server async throws in
            let run = try await CommandRun.lanyard(["wait", "--timeout", "1s"], socket: server.socketPath)
            #expect(run.exitCode == 6)
            #expect(run.errors.contains("Not in step after 0.1 s: phone away since 1970-04-11, 12 changes unsent."))
            let connected = try await CommandRun.lanyard(["wait", "--connected"], socket: server.socketPath)
            #expect(connected.exitCode == 0)
            let answer = try await server.client.wait()
            #expect(!answer.inStep && answer.waitingFor.map(\.name) == ["phone"])
            #expect(answer.waitingFor.first?.unsent == 12)
        }
    }
}
