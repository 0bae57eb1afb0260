import ControlAPI
import ControlServer
import LanyardClient
import Testing

/// What people read of devices that lack something: `status` and `wait`.
@Suite(.timeLimit(.minutes(20))) struct StandingTests {
    /// The first line of `status`, without times. Expects that the agent made it, and that `why` begins with it, too.
    private func sentence(
        _ server: LiveServer, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String? {
        func first(_ command: String) async throws -> String? {
            try await CommandRun.lanyard([command], socket: server.socketPath).lines.first
        }
        while true {
            let line = try await first("status")
            let (why, answer) = (try await first("why"), try await server.client.why().sentence)
            let made = try await server.client.status().spaces.map(\.sentence)
            // What changed meanwhile would make the answers differ.
            guard try await first("status") == line else { continue }
            #expect(why == line && answer == line && made == [line], sourceLocation: sourceLocation)
            return line.map { timeless($0) }
        }
    }

    private func timeless(_ text: String) -> String {
        text.replacing(/since \d\d:\d\d/, with: "since T").replacing(/after \d+\.\d s/, with: "after T")
    }

    @Test func `status begins with how many devices are in step, and what the others lack`() async throws {
        try await LiveServer.with { server async throws in
            #expect(try await sentence(server) == "No other device is paired with this one.")
            try await server.live.withPeer(named: "desktop") { desktop async throws in
                #expect(try await sentence(server) == "In step with desktop.")
                try await server.live.withPeer(named: "phone") { _ async throws in
                    try await server.live.converge(with: desktop)
                    try await server.live.untilInStep()
                    #expect(try await sentence(server) == "In step with all 2 devices.")
                }
                #expect(try await sentence(server) == "In step with all 2 devices; phone away since T.")
                for number in 0..<12 { try await server.live.put("note/\(number)", "{}") }
                try await server.live.converge(with: desktop)
                #expect(
                    try await sentence(server)
                        == "In step with 1 of 2 devices; phone away since T, 12 changes unsent.")
            }
        }
    }

    @Test func `why names the objects that a device lacks, and the devices that lack an object`() async throws {
        try await LiveServer.with { server async throws in
            func why(_ words: String...) async throws -> WhyResponse {
                let run = try await CommandRun.lanyard(["why", "--json"] + words, socket: server.socketPath)
                return try JSONDecoding.value(WhyResponse.self, from: Array(run.output.utf8), unknownKeys: .refuse)
            }
            try await server.live.withPeer(named: "desktop") { desktop async throws in
                try await server.live.withPeer(named: "phone") { phone async throws in
                    try await server.live.put("note/old", "{}")
                    try await server.live.put("note/gone", "{}")
                    try await server.live.converge(with: desktop)
                    try await server.live.converge(with: phone)
                    try await server.live.untilInStep()
                }
                try await server.live.put("note/first", "{}")
                try await server.live.delete("note/gone")
                try await server.live.put("note/last", "{}")
                try await server.live.converge(with: desktop)
                let phone = try #require(try await why("phone").lacking)
                #expect(phone.changes == 3)
                #expect(phone.objects == ["note/last", "note/gone", "note/first"])
                #expect(try await why("desktop").lacking == WhyResponse.Lacking(changes: 0, objects: []))
                #expect(try await why("note/first").lackedBy == ["phone"])
                #expect(try await why("note/gone").lackedBy == ["phone"])
                #expect(try await why("note/old").lackedBy == [])
                let own = try await why()
                #expect(own.lacking == nil && own.lackedBy == nil)
                #expect(try await why("phone").sentence == nil, "the sentence is about all devices")
                let text = try await CommandRun.lanyard(["why", "phone"], socket: server.socketPath)
                #expect(
                    text.output.replacing("\n", with: " ").contains(
                        "It lacks 3 changes of what is here, to: note/last, note/gone, note/first"),
                    "\(text.output)")
                let object = try await CommandRun.lanyard(["why", "note/first"], socket: server.socketPath)
                #expect(object.output.contains("Its newest version has not arrived on phone"), "\(object.output)")
            }
        }
    }

    @Test func `a device that was never met is said to be that`() async throws {
        try await LiveAgent.with(named: "desktop") { desktop async throws in
            _ = try await desktop.addAwayMember(named: "phone")
            try await LiveServer.with(named: "tablet") { server async throws in
                try await desktop.pair(with: server.live)
                #expect(
                    try await sentence(server)
                        == "In step with 1 of 2 devices; phone was never met, what it holds is not known.")
            }
        }
    }

    @Test func `a device that was revoked says that it gets and sends nothing`() async throws {
        try await LiveAgent.with(named: "desktop") { desktop async throws in
            try await LiveServer.with(named: "tablet") { server async throws in
                try await desktop.pair(with: server.live)
                #expect(try await sentence(server) == "In step with desktop.")
                _ = try await desktop.agent.revoke(
                    space: "home", device: server.live.device, RevocationRequest(wipe: false))
                try await server.live.until { agent async throws in
                    try await agent.status(space: nil).warnings.contains { $0.code == "revoked" }
                }
                #expect(try await sentence(server) == "This device was revoked: it gets and sends nothing.")
            }
        }
    }

    @Test func `where all others are blocked that is said, and where one is it does not count`() async throws {
        try await LiveServer.with { server async throws in
            let phone = try await server.live.addAwayMember(named: "phone")
            try await server.live.withPeer(named: "desktop") { desktop async throws in
                _ = try await server.live.agent.block(space: "home", device: phone.device)
                try await server.live.converge(with: desktop)
                try await server.live.untilInStep()
                #expect(try await sentence(server) == "In step with desktop.")
            }
            let desktop = try #require(try await server.client.devices().first { $0.name == "desktop" })
            _ = try await server.live.agent.block(space: "home", device: desktop.id)
            #expect(try await sentence(server) == "In step with no device: the others are blocked here.")
        }
    }

    @Test func `of many devices that lack something the first are named`() async throws {
        try await LiveServer.with { server async throws in
            for name in ["e", "d", "c", "b", "a"] { _ = try await server.live.addAwayMember(named: name) }
            for number in 0..<2 { try await server.live.put("note/\(number)", "{}") }
            let line = try #require(try await sentence(server))
            // What each lacks besides: the admission of those that came after it.
            #expect(
                line.wholeMatch(
                    of:
                        /Not in step with any device; a away since T, 2 changes unsent; b away since T, \d+ changes unsent; c away since T, \d+ changes unsent; and 2 more devices\./
                ) != nil, "\(line)")
        }
    }

    @Test func `wait names what is away and lacks something, unless only connected devices count`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await server.live.addAwayMember(named: "phone")
            for number in 0..<12 { try await server.live.put("note/\(number)", "{}") }
            let run = try await CommandRun.lanyard(["wait", "--timeout", "1s"], socket: server.socketPath)
            #expect(run.exitCode == 6)
            #expect(
                timeless(run.errors).contains("Not in step after T: phone away since T, 12 changes unsent."),
                "\(run.errors)")
            let connected = try await CommandRun.lanyard(["wait", "--connected"], socket: server.socketPath)
            #expect(connected.exitCode == 0)
            let answer = try await server.client.wait(timeoutMilliseconds: 100)
            #expect(!answer.inStep && answer.waitingFor.map(\.name) == ["phone"])
            #expect(answer.waitingFor.first?.unsent == 12)
        }
    }
}
