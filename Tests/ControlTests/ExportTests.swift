import ControlAPI
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(20))) struct ExportTests {
    /// A command against one of two agents, in a directory of its own.
    private struct Shell {
        let from: LiveServer
        let to: LiveServer
        let directory: String

        var file: String { directory + "/export.tar" }

        func export(_ arguments: String...) async throws -> CommandRun {
            try await CommandRun.lanyard(["export", file, "--json"] + arguments, socket: from.socketPath)
        }

        func load(_ arguments: String...) async throws -> CommandRun {
            try await CommandRun.lanyard(["import", file, "--json"] + arguments, socket: to.socketPath)
        }

        func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: file)) }

        func bash(_ script: String) async throws -> CommandRun {
            try await CommandRun.program(
                "/bin/bash", ["-c", "set -eo pipefail; " + script],
                environment: [
                    "HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "TMPDIR": directory, "DIR": directory,
                    "FILE": file,
                    "LANYARD": CommandRun.lanyardPath, "FROM": from.socketPath, "TO": to.socketPath,
                ])
        }

        func tar(_ arguments: String...) async throws -> CommandRun {
            try await CommandRun.program("/bin/tar", arguments)
        }
    }

    /// Two agents of two spaces.
    private func withShell(_ body: (Shell) async throws -> Void) async throws {
        try await LiveServer.with { from async throws in
            try await LiveServer.with(named: "laptop") { to async throws in
                let files = try TemporaryDirectory()
                try await body(Shell(from: from, to: to, directory: files.path))
            }
        }
    }

    private func fill(_ server: LiveServer) async throws {
        let client = server.client
        for number in 0..<3 {
            let fields = try JSONText("{\"id\":\"field\",\"n\":\(number)}")
            _ = try await client.put(ObjectPut(collection: "task", id: "\(number)", fields: fields))
        }
        _ = try await client.put(ObjectPut(collection: "note", id: "größe", fields: try JSONText("{\"t\":\"ö\"}")))
        for number in 0..<5 { _ = try await client.emit(try JSONText("\(number)"), type: "t", to: "s") }
        _ = try await client.emit(try JSONText("true"), to: "other")
        try await server.live.attach([UInt8](repeating: 5, count: 300_000), named: "../large.bin", to: "note/größe")
        try await server.live.attach([], named: "empty", to: "note/größe")
    }

    /// The attachments of all objects, newest first.
    private func attached(_ server: LiveServer) async throws -> [AttachmentEntry] {
        var all: [AttachmentEntry] = []
        try await server.client.listAttachments { all += $0 }
        return all
    }

    private func changes(_ server: LiveServer) async throws -> Int {
        try await server.client.status().spaces.map(\.changes).reduce(0, +)
    }

    private func stream(_ name: String, _ server: LiveServer) async throws -> StreamEntry? {
        try await server.client.streams().first { $0.name == name }
    }

    private func code(_ run: CommandRun) -> String? {
        (try? JSONDecoding.value(ErrorResponse.self, from: Array(run.errors.utf8), unknownKeys: .ignore))?
            .controlError.code.rawValue
    }

    private func names(_ run: CommandRun, _ key: String) throws -> [String] {
        let answer = try #require(try run.json() as? [String: Any])
        return try #require(answer[key] as? [String], "\(key)")
    }

    private func payloads(_ server: LiveServer, _ stream: String) async throws -> [String] {
        var payloads: [String] = []
        try await server.client.readEvents(EventReadRequest(stream: stream)) { events in
            payloads += events.map { "\($0.type ?? "") \($0.payload)" }
        }
        return payloads
    }

    private func numbers(_ run: CommandRun) throws -> [String: Int] {
        try #require(!run.output.isEmpty, "\(run.errors)")
        let answer = try #require(try run.json() as? [String: Any])
        return answer.compactMapValues { $0 as? Int }
    }

    private func fields(_ server: LiveServer, _ name: String) async throws -> String {
        try await server.client.object(try ObjectName(parsing: name)).fields.description
    }

    @Test func `what is exported is imported: objects, events in their order, bytes`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            let exported = try numbers(try await shell.export())
            #expect(exported["objects"] == 4 && exported["events"] == 6 && exported["attachments"] == 2)
            let imported = try numbers(try await shell.load())
            #expect(imported["newObjects"] == 4 && imported["events"] == 6 && imported["attachments"] == 2)
            for name in ["task/0", "task/1", "task/2", "note/größe"] {
                #expect(try await fields(shell.from, name) == fields(shell.to, name))
            }
            #expect(try await payloads(shell.to, "s") == (0..<5).map { "t \($0)" })
            let here = try await attached(shell.to)
            #expect(
                Set(here.map(\.record.name)) == ["empty", "../large.bin"] && here.allSatisfy { $0.state == .present })
            let large = try #require(here.first { $0.record.size == 300_000 })
            var bytes: [UInt8] = []
            try await shell.to.client.readAttachment(large.record.id) { bytes += $0 }
            #expect(bytes == [UInt8](repeating: 5, count: 300_000))
        }
    }

    @Test func `doing it again writes nothing twice`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            #expect(try await shell.export().exitCode == 0)
            #expect(try await shell.load().exitCode == 0)
            let again = try numbers(try await shell.load())
            #expect(again["newObjects"] == 0 && again["sameObjects"] == 4)
            #expect(again["events"] == 0 && again["knownEvents"] == 6)
            #expect(again["attachments"] == 0 && again["knownAttachments"] == 2)
            #expect(try await attached(shell.to).count == 2)
            // Into where it came from nothing is written either.
            let back = try await CommandRun.lanyard(["import", shell.file, "--json"], socket: shell.from.socketPath)
            #expect(try numbers(back)["events"] == 0 && numbers(back)["attachments"] == 0)
            #expect(try numbers(back)["sameObjects"] == 4)
        }
    }

    @Test func `the archive is for people, with safe names`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            #expect(try await shell.export().exitCode == 0)
            let names = try await shell.tar("-tf", shell.file).lines
            #expect(
                names.prefix(6) == [
                    "export.json", "schemas.jsonl", "objects.jsonl", "streams.jsonl", "events.jsonl",
                    "attachments.jsonl",
                ])
            #expect(names.count == 9 && names.last == "SHA256SUMS")
            #expect(names.allSatisfy { !$0.hasPrefix("/") && !$0.split(separator: "/").contains("..") })
            #expect(names.contains { $0.hasSuffix("/_.._large.bin") })
            let checked = try await shell.bash(
                #"mkdir "$DIR/out"; cd "$DIR/out"; tar -xf "$FILE"; sha256sum -c --strict SHA256SUMS"#)
            #expect(checked.exitCode == 0 && checked.lines.count == 8, "\(checked.errors)")
            let lines = try await shell.tar("-xOf", shell.file, "objects.jsonl").lines
            #expect(lines.first == #"{"collection":"note","id":"größe","fields":{"t":"ö"}}"#)
            let refused = try await shell.export()
            #expect(refused.exitCode == 4 && refused.errors.contains("already_exists"))
            #expect(try await shell.export("--force").exitCode == 0)
        }
    }

    @Test func `what was packed again is read, and bytes that no device had are told`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            _ = try await shell.from.live.attachElsewhere([1, 2, 3], named: "far", to: "note/größe")
            let exported = try await shell.export()
            #expect(exported.exitCode == 0 && exported.output.contains(#""leftOut":["far"]"#), "\(exported.output)")
            let folder = shell.directory + "/unpacked"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            #expect(try await shell.tar("-xf", shell.file, "-C", folder).exitCode == 0)
            #expect(try await shell.tar("-cf", shell.file, "-C", folder, ".").exitCode == 0)
            let run = try await shell.load()
            #expect(try numbers(run)["newObjects"] == 4 && numbers(run)["attachments"] == 2)
            #expect(try names(run, "missingAttachments") == ["far"])
        }
    }

    @Test func `standard output goes into standard input, and leaves nothing behind`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            let run = try await shell.bash(
                #"""
                "$LANYARD" export - --socket "$FROM" | "$LANYARD" import - --socket "$TO" --json
                ls -A "$DIR" >&2
                """#)
            #expect(run.exitCode == 0 && run.errors.isEmpty, "\(run.errors)")
            #expect(try numbers(run)["newObjects"] == 4 && numbers(run)["attachments"] == 2)
        }
    }

    // MARK: What is there already

    @Test func `what is different here stays and is listed, until it is to be replaced`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            #expect(try await shell.export().exitCode == 0)
            let mine = try JSONText("{\"mine\":true,\"n\":7}")
            _ = try await shell.to.client.put(ObjectPut(collection: "task", id: "1", fields: mine))
            let run = try await shell.load()
            #expect(run.exitCode == 0 && run.errors.isEmpty)
            #expect(try numbers(run)["newObjects"] == 3 && names(run, "keptObjects") == ["task/1"])
            #expect(try await fields(shell.to, "task/1") == mine.description)
            let told = try await CommandRun.lanyard(["import", shell.file], socket: shell.to.socketPath)
            #expect(told.output.contains("task/1") && told.output.contains("--replace"), "\(told.output)")
            let replaced = try await shell.load("--replace")
            #expect(try numbers(replaced)["replacedObjects"] == 1 && numbers(replaced)["sameObjects"] == 3)
            #expect(try await fields(shell.to, "task/1") == fields(shell.from, "task/1"))
        }
    }

    @Test func `schemas and settings of streams that are different here stay, too`() async throws {
        try await withShell { shell in
            func schema(_ text: String) throws -> SchemaEntry {
                try SchemaEntry(setting: try JSONText(text), of: "album")
            }
            _ = try await shell.from.client.setSchema(schema(#"{"fields":{"plays":"counter"}}"#))
            _ = try await shell.from.client.setStream("log", StreamSettings(latestOnly: true, retention: .seconds(60)))
            #expect(try await shell.export().exitCode == 0)
            #expect(try numbers(try await shell.load())["schemas"] == 1)
            #expect(try numbers(try await shell.load())["schemas"] == 0)
            #expect(try await stream("log", shell.to)?.retainSeconds == 60)
            _ = try await shell.to.client.setSchema(schema(#"{"fields":{"tags":"set"}}"#))
            _ = try await shell.to.client.setStream("log", StreamSettings(retention: .forever))
            let run = try await shell.load()
            #expect(try names(run, "keptSchemas") == ["album"] && names(run, "keptStreams") == ["log"])
            #expect(try await stream("log", shell.to)?.retainSeconds == nil)
            #expect(try await shell.load("--replace").exitCode == 0)
            #expect(try await stream("log", shell.to)?.retainSeconds == 60)
        }
    }

    @Test func `what was deleted stays deleted and is listed, with what hangs on it`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            #expect(try await shell.export().exitCode == 0)
            let policy = try SchemaEntry(setting: try JSONText(#"{"deletePolicy":"updateWins"}"#), of: "note")
            _ = try await shell.to.client.setSchema(policy)
            for name in ["task/0", "note/größe"] {
                let name = try ObjectName(parsing: name)
                _ = try await shell.to.client.put(
                    ObjectPut(collection: name.collection, id: name.id, fields: try JSONText("{}")))
                _ = try await shell.to.client.delete(name)
            }
            for options in [[], ["--replace"]] {
                let run = try await CommandRun.lanyard(
                    ["import", shell.file, "--json"] + options, socket: shell.to.socketPath)
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(try names(run, "deletedObjects") == ["note/größe", "task/0"])
                #expect(try await attached(shell.to).isEmpty)
            }
        }
    }

    @Test func `names that look the same are two`() async throws {
        try await withShell { shell in
            let twins = ["gr\u{F6}\u{DF}e", "gro\u{308}\u{DF}e"]
            for (number, twin) in twins.enumerated() {
                let fields = try JSONText("{\"n\":\(number)}")
                _ = try await shell.from.client.put(ObjectPut(collection: "note", id: twin, fields: fields))
                _ = try await shell.from.client.put(ObjectPut(collection: twin, id: "one", fields: fields))
                try await shell.from.live.attach([UInt8(number)], named: twin, to: "note/\(twin)")
            }
            #expect(try await shell.export().exitCode == 0)
            #expect(try numbers(try await shell.load())["newObjects"] == 4)
            for (number, twin) in twins.enumerated() {
                #expect(try await fields(shell.to, "note/\(twin)") == "{\"n\":\(number)}")
                #expect(try await fields(shell.to, "\(twin)/one") == "{\"n\":\(number)}")
            }
            let attached = try await attached(shell.to)
            #expect(attached.count == 2)
            for (number, twin) in twins.enumerated() {
                let entry = try #require(attached.first { Array($0.owner.utf8) == Array("note/\(twin)".utf8) })
                var bytes: [UInt8] = []
                try await shell.to.client.readAttachment(entry.record.id) { bytes += $0 }
                #expect(bytes == [UInt8(number)])
            }
        }
    }

    @Test func `events that the space's own devices will send are left to them, unless they are lost`() async throws {
        try await withShell { shell in
            try await shell.from.live.pair(with: shell.to.live)
            _ = try await shell.to.client.block(device: shell.from.live.device)
            try await fill(shell.from)
            #expect(try await shell.export().exitCode == 0)
            let run = try await shell.load()
            #expect(try numbers(run)["events"] == 0 && numbers(run)["expectedEvents"] == 6)
            #expect(try await payloads(shell.to, "s").isEmpty)
            for wanted in [6, 0] {
                #expect(try numbers(try await shell.load("--lost-events"))["events"] == wanted)
                #expect(try await payloads(shell.to, "s").count == 5)
            }
        }
    }

    // MARK: What goes wrong

    @Test func `what cannot be written is listed, and the rest goes on`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            try await shell.from.live.put("odd/1", #"{"t":"x"}"#)
            #expect(try await shell.export().exitCode == 0)
            try await shell.to.live.setSchema("note", #"{"fields":{"t":"counter"}}"#)
            try await shell.to.live.setSchema("odd", #"{"fields":{"t":"set"}}"#)
            let run = try await shell.load()
            #expect(
                run.exitCode == 1 && code(run) == "type_mismatch" && run.errors.contains("2 things"), "\(run.errors)")
            #expect(run.errors.contains("note/größe"), "the first of them")
            #expect(try numbers(run)["newObjects"] == 3 && numbers(run)["events"] == 6)
            #expect(try numbers(run)["attachments"] == 0)
        }
    }

    @Test func `stopped by an error it says what was written, and goes on from there`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            #expect(try await shell.export().exitCode == 0)
            _ = try await shell.to.client.setSpace("home", SpaceSettings(quota: .bytes(1_000)))
            let run = try await shell.load()
            #expect(run.exitCode == 4 && code(run) == "quota_exceeded", "\(run.errors)")
            let before = try numbers(run)
            #expect(before["newObjects"] == 4 && before["events"] == 6)
            #expect(run.output.contains(#""complete":false"#))
            _ = try await shell.to.client.setSpace("home", SpaceSettings(quota: .unlimited))
            let again = try numbers(try await shell.load())
            #expect(again["sameObjects"] == 4 && again["events"] == 0 && again["knownEvents"] == 6)
            #expect(again["knownAttachments"] == before["attachments"])
            #expect((before["attachments"] ?? 0) + (again["attachments"] ?? 0) == 2)
        }
    }

    @Test func `what was changed on the way is refused as a whole`() async throws {
        try await withShell { shell in
            try await fill(shell.from)
            #expect(try await shell.export().exitCode == 0)
            var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: shell.file)))
            let place = try #require(bytes.firstIndex(of: 5), "of the large attachment")
            bytes[place] = 6
            try shell.write(bytes)
            let run = try await shell.load()
            #expect(code(run) == "damaged" && run.errors.contains("large.bin"), "\(run.errors)")
            #expect(try await changes(shell.to) == 0)
            for length in [1, 511, 512, bytes.count / 2, bytes.count - 1_024] {
                try shell.write(Array(bytes[..<length]))
                #expect(["truncated", "not_an_archive"].contains(code(try await shell.load())), "\(length)")
            }
            #expect(try await changes(shell.to) == 0)
        }
    }

    @Test func `what was changed on purpose is taken without its checksum, but not bytes under another hash`()
        async throws
    {
        try await withShell { shell in
            try await fill(shell.from)
            #expect(try await shell.export().exitCode == 0)
            let changed = try await shell.bash(
                #"""
                mkdir "$DIR/out"; cd "$DIR/out"; tar -xf "$FILE"
                sed -i 's/"n":1/"n":11/' objects.jsonl
                sed -i '/objects.jsonl/d; /large.bin/d' SHA256SUMS
                printf x | dd of="$(find . -name '*large.bin')" conv=notrunc status=none
                tar -cf "$FILE" .
                """#)
            #expect(changed.exitCode == 0, "\(changed.errors)")
            let run = try await shell.load()
            #expect(code(run) == "damaged" && run.errors.contains("large.bin"), "\(run.errors)")
            #expect(try numbers(run)["attachments"] == 1, "the other one")
            #expect(try await attached(shell.to).map(\.record.name) == ["empty"])
            #expect(try await fields(shell.to, "task/1").contains(#""n":11"#))
        }
    }

    @Test func `other files are refused before anything is written`() async throws {
        try await withShell { shell in
            func refusal() async throws -> String? {
                let run = try await shell.load()
                #expect(run.exitCode != 0 && run.output.isEmpty)
                return code(run)
            }
            func archive(_ name: String, _ text: String) -> [UInt8] {
                let entry = TarEntry(name, size: UInt64(text.utf8.count))
                return entry.header + Array(text.utf8) + entry.padding
            }
            func header(_ version: Int) -> [UInt8] {
                archive(
                    "export.json",
                    #"{"lanyardExport":\#(version),"version":"9","space":"home","time":"2025-11-21T04:28:31.123Z"}"#)
            }
            #expect(try await refusal() == "not_found")
            try shell.write([])
            #expect(try await refusal() == "not_an_archive")
            try shell.write(TarEntry.end)
            #expect(try await refusal() == "not_an_archive")
            try shell.write(header(2) + TarEntry.end)
            #expect(try await refusal() == "version_mismatch")
            try shell.write(header(1))
            #expect(try await refusal() == "truncated")
            let good = archive("objects.jsonl", #"{"collection":"c","id":"1","fields":{}}"# + "\n")
            let replica = "\(shell.from.live.device).0000000000000001"
            let event = #""stream":"s","payload":1,"time":"2025-11-21T04:28:31.123Z","device":"d"}"# + "\n"
            for (name, lines) in [
                ("objects.jsonl", #"{"collection":"c","id":"1","fields":{}}"# + "\n{\"collection\":1}\n"),
                ("objects.jsonl", #"{"collection":"c/d","id":"1","fields":{}}"#),
                ("objects.jsonl", #"{"collection":"lanyard.imports","id":"s","fields":{}}"#),
                ("schemas.jsonl", #"{"collection":"c","schema":{"fields":{"a":"what"}}}"#),
                ("streams.jsonl", #"{"name":"a/b","latestOnly":false}"#),
                ("events.jsonl", "{\"dot\":\"\(replica):2\",\(event){\"dot\":\"\(replica):1\",\(event)"),
                ("attachments.jsonl", #"{"owner":"c","name":"n","mediaType":"a/b","size":1,"hash":"0"}"#),
                (
                    "attachments.jsonl",
                    #"{"owner":"c/1","name":"n","mediaType":"a/b","size":1,"hash":"0","file":"export.json"}"#
                ),
            ] {
                try shell.write(header(1) + good + archive(name, lines) + TarEntry.end)
                #expect(try await refusal() == "malformed_json", "\(lines)")
            }
            // A link, wherever it leads.
            let linked = try await shell.bash(
                #"cd "$DIR"; echo '{}' > real; ln -s /etc/passwd export.json; tar -cf "$FILE" export.json"#)
            #expect(linked.exitCode == 0)
            #expect(try await refusal() == "not_an_archive")
            #expect(try await changes(shell.to) == 0)
        }
    }

    // MARK: Words

    @Test func `a blob whose hash begins like another's has a folder of its own`() {
        var folders = ExportFolders()
        let (first, second) = (String(repeating: "a", count: 64), String(repeating: "a", count: 63) + "b")
        #expect(folders.file(hash: first, fileName: "x") == "attachments/aaaaaaaaaaaaaaaa/x")
        #expect(folders.file(hash: second, fileName: "x") == "attachments/\(second)/x")
    }

    /// An attachment that says that it has the hash `ab…`, as the agent lists it.
    private func entry(_ name: String, size: UInt64) -> AttachmentEntry {
        let record = AttachmentRecord(
            id: name, name: name, mediaType: "text/plain", size: size, width: nil, height: nil,
            hash: String(repeating: "ab", count: 32))
        return AttachmentEntry(record: record, owner: "note/1", state: .missing, progress: 0, fileName: name)
    }

    @Test(arguments: [false, true])
    func `a record with a false size has no file, and takes none from the others`(isFalseFirst: Bool) {
        let (wrong, first, second) = (entry("wrong", size: 9), entry("first", size: 3), entry("second", size: 3))
        let entries = isFalseFirst ? [wrong, first, second] : [first, second, wrong]
        var files = ExportFiles()
        for entry in entries where !files.isKnown(entry) { files.add(entry, isHere: entry.record.size == 3) }
        let path = "attachments/abababababababab/first"
        #expect(files.path(of: wrong) == nil)
        #expect([first, second].map(files.path) == [path, path])
        // Each file is written once.
        #expect(entries.compactMap { files.remove($0) } == [path])
    }

    @Test func `values mean the same whatever their blanks, order and escapes`() throws {
        func same(_ left: String, _ right: String) throws -> Bool { try JSONText(left).means(try JSONText(right)) }
        #expect(try same(#"{"a":1,"b":[true,null,"x"]}"#, #"{ "b" : [true, null, "\u0078"], "a":1 }"#))
        #expect(try !same(#"{"a":1}"#, #"{"a":1,"b":1}"#))
        #expect(try !same("[1,2]", "[2,1]") && !same("1", "1.0") && !same("\"1\"", "1") && !same("true", "false"))
        #expect(try !same("\"\u{F6}\"", "\"o\u{308}\""))
    }
}
