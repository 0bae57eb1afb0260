import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(20))) struct AttachmentCommandTests {
    /// Commands against one agent that has the object note/n, and a directory for files.
    private struct Shell {
        let live: LiveAgent
        let socket: String
        let directory: String

        func callAsFunction(_ arguments: String..., input: String = "") async throws -> CommandRun {
            try await CommandRun.lanyard(arguments, socket: socket, input: input)
        }

        func path(_ name: String) -> String { "\(directory)/\(name)" }

        @discardableResult
        func write(_ text: String, to name: String) throws -> String {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
            return path(name)
        }

        func read(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(fileURLWithPath: path(name))), as: UTF8.self)
        }

        var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() } }
    }

    private func withShell(_ body: (Shell) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in
            let files = try TemporaryDirectory()
            _ = try await server.client.put(ObjectPut(collection: "note", id: "n", fields: try JSONText("{}")))
            try await body(Shell(live: server.live, socket: server.socketPath, directory: files.path))
        }
    }

    private func entry(_ run: CommandRun) throws -> AttachmentEntry {
        try JSONDecoding.value(AttachmentEntry.self, from: Array(run.output.utf8), unknownKeys: .refuse)
    }

    // MARK: Attaching

    @Test func `files and standard input are attached, listed and detached`() async throws {
        try await withShell { lanyard in
            let one = try lanyard.write("hello", to: "one.txt")
            let attached = try entry(try await lanyard("attach", "note/n", one, "--json"))
            #expect(attached.record.name == "one.txt" && attached.record.size == 5)
            let piped = try await lanyard(
                "attach", "note/n", "-", "--name", "two", "--type", "text/plain", "--json", input: "piped")
            #expect(try entry(piped).record.mediaType == "text/plain")
            let empty = try lanyard.write("", to: "empty")
            #expect(try entry(try await lanyard("attach", "note/n", empty, "--json")).record.size == 0)
            let table = try await lanyard("attachments", "note/n")
            #expect(table.lines.map { $0.split(separator: " ").prefix(2).last } == ["NAME", "empty", "two", "one.txt"])
            let rows = try #require(try await lanyard("attachments", "--json").json() as? [[String: Any]])
            #expect(rows.map { $0["state"] as? String } == ["present", "present", "present"])
            #expect(try await lanyard("get", "note/n").lines.last?.contains("one.txt") == true)
            let id = attached.record.id
            #expect(try await lanyard("detach", id, "--yes").output == "one.txt detached from note/n.\n")
            #expect(try await lanyard("detach", id).exitCode == 3)
        }
    }

    @Test func `the beginning of several ids detaches none of them`() async throws {
        try await withShell { lanyard in
            // More than there are letters that an id begins with.
            var begun: [String: Int] = [:]
            for number in 0..<33 {
                let entry = try await lanyard.live.attach([UInt8(number)], named: "\(number)", to: "note/n")
                begun[String(entry.record.id.prefix(1)), default: 0] += 1
            }
            let shared = try #require(begun.first { $0.value > 1 }).key
            let run = try await lanyard("detach", shared, "--yes")
            #expect(run.exitCode == 2 && run.errors.contains("Several attachments begin with that."), "\(run.errors)")
            let rows = try #require(try await lanyard("attachments", "--json").json() as? [[String: Any]])
            #expect(rows.count == 33)
        }
    }

    @Test func `several files are attached, each its own, up to the first that cannot be`() async throws {
        try await withShell { lanyard in
            let (one, two) = (try lanyard.write("1", to: "1"), try lanyard.write("2", to: "2"))
            let run = try await lanyard("attach", "note/n", one, lanyard.path("none"), two)
            #expect(run.exitCode == 3)
            #expect(run.errors.contains("There is no file \(lanyard.path("none"))."))
            #expect(run.lines.count == 1)
            let rows = try #require(try await lanyard("attachments", "--json").json() as? [[String: Any]])
            #expect(rows.map { $0["name"] as? String } == ["1"])
        }
    }

    @Test func `what cannot be read is refused with a sentence`() async throws {
        try await withShell { lanyard in
            let directory = try await lanyard("attach", "note/n", lanyard.directory, "--json")
            #expect(directory.exitCode == 1)
            #expect(directory.errors.contains(#""code":"file_unreadable""#) && directory.errors.contains("a directory"))
            let device = try await lanyard("attach", "note/n", "/dev/zero")
            #expect(device.exitCode == 1 && device.errors.contains("it is no file"))
            let type = try await lanyard("attach", "note/n", try lanyard.write("x", to: "x"), "--type", "png")
            #expect(type.exitCode == 2 && type.errors.contains("image/png"))
            let nowhere = try await lanyard("attach", "note/other", lanyard.path("x"))
            #expect(nowhere.exitCode == 3)
        }
    }

    @Test func `a sparse giant does not pass a quota, and a name that is no UTF-8 is made readable`() async throws {
        try await withShell { lanyard in
            #expect(try await lanyard("spaces", "set", "home", "--quota", "1GiB").exitCode == 0)
            let path = try lanyard.write("", to: "giant")
            #expect(truncate(path, 10 << 30) == 0)
            let refused = try await lanyard("attach", "note/n", path)
            #expect(refused.exitCode == 4)
            #expect(refused.errors.contains("10 GiB are needed, and 0 B of 1.0 GiB are used."))
            #expect(refused.errors.contains("lanyard compact"))
            // The shell passes the bytes on, as they are completed or globbed.
            let script = #"printf x > "$1/caf$(printf '\351')" && exec "$0" attach note/n "$1"/caf* --json"#
            let run = try await CommandRun.program(
                "/bin/sh", ["-c", script, CommandRun.lanyardPath, lanyard.directory],
                environment: ["HOME": "/nonexistent", "LANYARD_SOCKET": lanyard.socket, "PATH": "/usr/bin:/bin"])
            #expect(try entry(run).record.name == "caf\u{FFFD}", "\(run.errors)")
        }
    }

    // MARK: Fetching

    @Test func `what is fetched is written whole, under a safe name, and never over a file`() async throws {
        try await withShell { lanyard in
            _ = try await lanyard.live.agent.setSpace("home", SpaceSettings(fetch: .onDemand))
            let id = try await lanyard.live.withPeer { peer async throws in
                let there = try await peer.attach(Array("far away".utf8), named: "../etc/x", to: "note/n")
                try await lanyard.live.converge(with: peer)
                let fetched = try await lanyard("fetch", there.record.id.prefix(12).lowercased(), "--json")
                #expect(try entry(fetched).state == .present)
                return there.record.id
            }
            #expect(try await lanyard("fetch", id, "-o", lanyard.directory).exitCode == 0)
            #expect(try lanyard.names == ["_.._etc_x"])
            #expect(try lanyard.read("_.._etc_x") == "far away")
            let again = try await lanyard("fetch", id, "-o", lanyard.directory + "/")
            #expect(again.exitCode == 4)
            #expect(again.errors.contains("There is a file \(lanyard.path("_.._etc_x")) already"))
            try lanyard.write("old", to: "named")
            #expect(try await lanyard("fetch", id, "-o", lanyard.path("named"), "--force").exitCode == 0)
            #expect(try lanyard.read("named") == "far away")
            #expect(try await lanyard("fetch", id, "-o", "-").output == "far away")
            #expect(try await lanyard("fetch", id, "-o", lanyard.path("no/where")).exitCode == 3)
            #expect(try lanyard.names == ["_.._etc_x", "named"])
        }
    }

    @Test func `a link is neither followed nor replaced`() async throws {
        try await withShell { lanyard in
            let id = try await lanyard.live.attach([1], named: "link", to: "note/n").record.id
            try FileManager.default.createSymbolicLink(
                atPath: lanyard.path("link"), withDestinationPath: lanyard.path("target"))
            #expect(try await lanyard("fetch", id, "-o", lanyard.directory).exitCode == 4)
            #expect(try lanyard.names == ["link"])
            #expect(try await lanyard("fetch", id, "-o", lanyard.path("link"), "--force").exitCode == 0)
            #expect(try lanyard.names == ["link"], "the link is replaced, and what it leads to is not made")
        }
    }

    @Test func `what is damaged or nowhere leaves no file`() async throws {
        try await withShell { lanyard in
            let far = try await lanyard.live.attachElsewhere([2], named: "far", to: "note/n", on: "kitchen")
            let missing = try await lanyard("fetch", far.record.id, "-o", lanyard.directory, "--json")
            #expect(missing.exitCode == 1)
            #expect(missing.errors.contains(#""code":"nobody_has""#) && missing.errors.contains("kitchen"))
            // No other device has it: it is not fetched anew, and reads wrong in the middle.
            let bad = try await lanyard.live.attach([UInt8](repeating: 1, count: 600_000), named: "bad", to: "note/n")
            try lanyard.live.damage(bad, at: 400_000)
            let damaged = try await lanyard("fetch", bad.record.id, "-o", lanyard.directory)
            #expect(damaged.exitCode == 1 && damaged.errors.contains("are damaged"), "\(damaged.errors)")
            #expect(try lanyard.names.isEmpty)
        }
    }

    // MARK: Spaces

    @Test func `policies and quotas are set and shown`() async throws {
        try await withShell { lanyard in
            let set = try await lanyard("spaces", "set", "home", "--fetch", "up-to", "10MiB", "--quota", "20GiB")
            #expect(set.lines.last?.split(separator: " ").first == "home")
            #expect(set.output.contains("up to 10 MiB") && set.output.contains("20 GiB"))
            let none = try await lanyard("spaces", "set", "home", "--fetch", "on-demand", "--quota", "none", "--json")
            let space = try JSONDecoding.value(SpaceEntry.self, from: Array(none.output.utf8), unknownKeys: .refuse)
            #expect(space.fetch == .onDemand && space.quota == nil)
            #expect(try await lanyard("spaces", "--json").output.contains(#""policy":"on-demand""#))
            for bad in [["--fetch", "up-to"], ["--fetch", "some"], ["--quota", "much"], []] {
                let run = try await CommandRun.lanyard(["spaces", "set", "home"] + bad, socket: lanyard.socket)
                #expect(run.exitCode == 2, "\(bad)")
            }
            #expect(try await lanyard("compact").exitCode == 0)
        }
    }
}
