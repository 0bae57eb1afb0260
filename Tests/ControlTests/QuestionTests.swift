import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

/// A question to all devices: one stream, a command on each, and a stream of answers.
@Suite(.timeLimit(.minutes(20))) struct QuestionTests {
    /// The command that the guide has each device run.
    private func recipe() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let guide = try String(contentsOf: root.appending(path: "deploy/GUIDE.md"), encoding: .utf8)
        let line = try #require(guide.split(separator: "\n").first { $0.hasPrefix("lanyard run questions -- ") })
        #expect(line.hasSuffix(" &"), "it runs beside what is typed next")
        return String(line.dropLast(2))
    }

    @Test func `each device answers a question once, by the command of the guide`() async throws {
        let recipe = try recipe().replacing("lanyard run questions", with: "lanyard run questions --drain")
        let kernel = try await CommandRun.program("/bin/uname", ["-r"]).lines
        try await LiveServer.with(named: "attic") { attic async throws in
            let ticket = try await attic.client.invite().ticket
            try await LiveServer.with { desk async throws in
                _ = try await desk.client.join(ticket: ticket)
                try await desk.live.converge(with: attic.live)
                let home = try TemporaryDirectory()
                let programs = URL(filePath: CommandRun.lanyardPath).deletingLastPathComponent().path
                var questions: [String] = []
                for text in ["\"kernel\"", "\"kernel, again\""] {
                    let asked = try await CommandRun.lanyard(["emit", "questions", text], socket: desk.socketPath)
                    questions += asked.lines
                    try await desk.live.converge(with: attic.live)
                    for server in [attic, desk] {
                        let run = try await CommandRun.program(
                            "/bin/sh", ["-c", recipe],
                            environment: [
                                "LANYARD_SOCKET": server.socketPath, "HOME": "\(home.path)/\(server.live.shortID)",
                                "PATH": "\(programs):/usr/bin:/bin",
                            ])
                        #expect(run.exitCode == 0, "\(run.errors)")
                    }
                    try await desk.live.converge(with: attic.live)
                }
                try #require(questions.count == 2)
                for question in questions {
                    let read = try await CommandRun.lanyard(
                        ["events", "answers", "--type", question], socket: desk.socketPath)
                    let answers = try read.lines.map { line in
                        try JSONDecoding.value(EventLine.self, from: Array(line.utf8), unknownKeys: .ignore)
                    }
                    #expect(Set(answers.map(\.device)) == [attic.live.device, desk.live.device] && answers.count == 2)
                    #expect(answers.allSatisfy { "\($0.payload)" == "\"\(kernel[0])\"" }, "\(read.output)")
                }
            }
        }
    }

    @Test func `a text becomes a JSON string, as it stands`() async throws {
        try await LiveServer.with { server async throws in
            func emit(_ words: String..., input: String = "") async throws -> CommandRun {
                try await CommandRun.lanyard(["emit", "s"] + words, socket: server.socketPath, input: input)
            }
            #expect(try await emit("--text", "a \"b\" {").exitCode == 0)
            #expect(try await emit("t", "--text", "-", input: "1\n\u{1B}[31m\u{0}é\r\n\n").exitCode == 0)
            #expect(try await emit("--text", "-").exitCode == 0)
            let most = String(repeating: "x", count: ControlLimits.payloadBytes - 2)
            #expect(try await emit("--text", "-", input: most).exitCode == 0)
            for larger in [most + "x", String(repeating: "\"", count: ControlLimits.payloadBytes), most + most] {
                let run = try await emit("--text", "-", input: larger)
                #expect(run.exitCode != 0 && run.errors.contains("1 MiB"), "\(run.errors.prefix(200))")
            }
            var events: [EventLine] = []
            try await server.client.readEvents(EventReadRequest(stream: "s")) { events += $0 }
            let payloads = try events.map { try JSONDecoder().decode(String.self, from: Data("\($0.payload)".utf8)) }
            #expect(payloads == ["a \"b\" {", "1\n\u{1B}[31m\u{0}é", "", most])
            #expect(events.map(\.type) == [nil, "t", nil, nil])
        }
    }

    @Test func `what is no UTF-8 is no text`() async throws {
        try await LiveServer.with { server async throws in
            let run = try await CommandRun.program(
                "/bin/sh", ["-c", #"printf '\377' | "$0" emit s --text -"#, CommandRun.lanyardPath],
                environment: ["LANYARD_SOCKET": server.socketPath, "PATH": "/usr/bin:/bin"])
            #expect(run.exitCode == 1 && run.errors.contains("The text is not UTF-8."), "\(run.errors)")
            #expect(try await server.client.streams().isEmpty)
        }
    }
}
