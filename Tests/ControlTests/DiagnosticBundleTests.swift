import ControlAPI
import Foundation
import Testing

/// The log by level, the running configuration and the bundle of `doctor`: for a person who looks for a fault, or helps.
@Suite(.timeLimit(.minutes(20))) struct DiagnosticBundleTests {
    private static let log = """
        2026-11-26T10:00:00.000Z info A bulk connection is up. peer.id=ABCDEFG
        {"time":"2026-11-26T10:00:01.000Z","level":"warning","message":"Discovery is unavailable."}
        2026-11-26T10:00:02.000Z debug A blob arrived.
        no line of the agent
        2026-11-26T10:00:03.000Z error The store refuses writes. code=disk_full

        """

    private func written(_ text: String, in directory: String, as name: String = "agent.log") {
        _ = FileManager.default.createFile(atPath: "\(directory)/\(name)", contents: Data(text.utf8))
    }

    @Test func `the log is shown from a level on, in both of its formats`() async throws {
        let temporary = try TemporaryDirectory()
        written(Self.log, in: temporary.path)
        func lines(_ words: String...) async throws -> [String] {
            let run = try await CommandRun.lanyard(["logs", "--data-dir", temporary.path] + words)
            #expect(run.exitCode == 0, "\(run.errors)")
            return run.lines
        }
        let all = Self.log.split(separator: "\n").map(String.init)
        #expect(try await lines() == all)
        #expect(try await lines("--level", "trace") == all)
        // A line without a level counts as info.
        #expect(try await lines("--level", "info") == [all[0], all[1], all[3], all[4]])
        #expect(try await lines("--level", "warning") == [all[1], all[4]])
        #expect(try await lines("--level", "critical").isEmpty)
        // The newest of those that are shown.
        #expect(try await lines("--level", "warning", "--lines", "1") == [all[4]])
        #expect(try await lines("--level", "info", "--lines", "3") == [all[1], all[3], all[4]])
        let json = try await lines("--level", "error", "--json")
        #expect(json.count == 1 && json[0].contains(#""level":"error""#), "\(json)")
    }

    @Test func `the log is shown of one component, in both of its formats`() async throws {
        let temporary = try TemporaryDirectory()
        let log = """
            2026-11-26T10:00:00.000Z notice The agent runs. device.id=abc
            2026-11-26T10:00:01.000Z notice A peer connected. component=sync peer.name=x component=store
            2026-11-26T10:00:02.000Z debug Changes are durable. component=store changes=1
            {"time":"2026-11-26T10:00:03.000Z","level":"debug","message":"Changes are durable.","component":"store"}
            {"time":"2026-11-26T10:00:04.000Z","level":"notice","message":"The agent stopped."}

            """
        written(log, in: temporary.path)
        func lines(_ words: String...) async throws -> [String] {
            let run = try await CommandRun.lanyard(["logs", "--data-dir", temporary.path] + words)
            #expect(run.exitCode == 0, "\(run.errors)")
            return run.lines
        }
        let all = log.split(separator: "\n").map(String.init)
        #expect(try await lines("--component", "sync") == [all[1]])
        #expect(try await lines("--component", "store") == [all[2], all[3]])
        #expect(try await lines("--component", "store", "--lines", "1") == [all[3]])
        #expect(try await lines("--component", "store", "--level", "info").isEmpty)
        #expect(try await lines("--component", "discovery").isEmpty)
    }

    @Test func `a component that there is not is refused, with those that there are`() async throws {
        let run = try await CommandRun.lanyard(["logs", "--component", "disk"])
        #expect(run.exitCode == 2 && run.errors.contains("discovery, transport, pairing, sync"), "\(run.errors)")
    }

    @Test func `a level that there is not is refused, with those that there are`() async throws {
        let run = try await CommandRun.lanyard(["logs", "--level", "loud"])
        #expect(run.exitCode == 2 && run.errors.contains("trace, debug, info, notice, warning"), "\(run.errors)")
    }

    @Test func `a bundle holds what a helper asks for, and no contents`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "attic") { peer async throws in
                try await server.live.put("note/secret", #"{"title":"hidden words"}"#)
                try await server.live.converge(with: peer)
                let temporary = try TemporaryDirectory()
                written(Self.log, in: temporary.path)
                written("2026-11-25T10:00:00.000Z notice earlier\n", in: temporary.path, as: "agent.log.1")
                let file = "\(temporary.path)/bundle.tar"
                let words = ["doctor", "--bundle", file, "--json", "--data-dir", temporary.path]
                let run = try await CommandRun.lanyard(words, socket: server.socketPath)
                #expect(run.exitCode == 0, "\(run.errors)")
                let answer = try #require(try run.json() as? [String: Any])
                #expect(answer["file"] as? String == file && (answer["leftOut"] as? [Any])?.isEmpty == true)
                let files = try unpacked(file)
                #expect(
                    files.keys.sorted() == [
                        "SHA256SUMS", "agent.log", "agent.log.1", "configuration.toml", "devices.json", "doctor.json",
                        "left-out.json", "machine.txt", "metrics.txt", "peers.json", "status.json", "why.json",
                    ])
                #expect(files["agent.log"] == Self.log)
                #expect(files["agent.log.1"]?.contains("earlier") == true)
                #expect(files["peers.json"]?.contains(peer.shortID) == true)
                #expect(files["metrics.txt"]?.contains("lanyard_build_info") == true)
                #expect(files["machine.txt"]?.contains("lanyard \(LanyardVersion.current)") == true)
                for (name, text) in files {
                    for word in ["secret", "hidden words", "PRIVATE KEY"] {
                        #expect(!text.contains(word), "\(name) holds \(word)")
                    }
                }
                // A file that is there stays, unless it is to go.
                let again = try await CommandRun.lanyard(words, socket: server.socketPath)
                #expect(again.exitCode == 4 && again.errors.contains("already_exists"), "\(again.errors)")
                let replaced = try await CommandRun.lanyard(words + ["--force"], socket: server.socketPath)
                #expect(replaced.exitCode == 0)
            }
        }
    }

    @Test func `status shows the configuration that the agent runs with`() async throws {
        try await LiveServer.with(named: "desk") { server async throws in
            let text = try await CommandRun.lanyard(["status", "--configuration"], socket: server.socketPath)
            #expect(text.exitCode == 0 && text.lines.contains(#"name = "desk""#), "\(text.output)\(text.errors)")
            let json = try await CommandRun.lanyard(["status", "--configuration", "--json"], socket: server.socketPath)
            let toml = try #require((try json.json() as? [String: Any])?["toml"] as? String)
            #expect(toml == text.output)
            let both = try await CommandRun.lanyard(
                ["status", "--configuration", "--watch"], socket: server.socketPath)
            #expect(both.exitCode == 2)
        }
    }

    @Test func `without an agent a bundle holds the rest, and names what it lacks`() async throws {
        let temporary = try TemporaryDirectory()
        written(Self.log, in: temporary.path)
        let file = "\(temporary.path)/bundle.tar"
        let run = try await CommandRun.lanyard(["doctor", "--bundle", file, "--data-dir", temporary.path])
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.lines.first?.hasPrefix("\(file)  ") == true)
        #expect(run.errors.contains("Without status.json: "), "\(run.errors)")
        let files = try unpacked(file)
        #expect(files["agent.log"] == Self.log && files["status.json"] == nil)
        #expect(files["left-out.json"]?.contains("metrics.txt") == true)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test(arguments: [["--force"], ["--bundle", "-"]]) func `options of a bundle that make no sense are refused`(
        words: [String]
    ) async throws {
        #expect(try await CommandRun.lanyard(["doctor"] + words).exitCode == 2)
    }

    /// The files of an archive as texts, by name.
    private func unpacked(_ path: String) throws -> [String: String] {
        var (reader, files, name) = (TarReader(), [String: [UInt8]](), "")
        reader.append(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        while let piece = try reader.next() {
            switch piece {
            case .entry(let entry, _):
                name = entry.name
                files[name] = []
            case .bytes(let bytes): files[name, default: []] += bytes
            case .filler: break
            case .end: return files.mapValues { String(decoding: $0, as: UTF8.self) }
            }
        }
        Issue.record("The archive has no end.")
        return [:]
    }
}
