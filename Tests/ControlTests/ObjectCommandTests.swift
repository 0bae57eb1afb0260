import ControlAPI
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(20))) struct ObjectCommandTests {
    /// A short way to run several commands against one agent.
    private struct Shell {
        let socket: String

        func callAsFunction(
            _ arguments: String..., input: String = "", columns: Int? = nil
        ) async throws -> CommandRun {
            try await CommandRun.lanyard(
                arguments, socket: socket, input: input, environment: columns.map { ["COLUMNS": String($0)] } ?? [:])
        }
    }

    private func withShell(_ body: (Shell) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in try await body(Shell(socket: server.socketPath)) }
    }

    private func object(_ run: CommandRun) throws -> ObjectEntry {
        try JSONDecoding.value(ObjectEntry.self, from: Array(run.output.utf8), unknownKeys: .refuse)
    }

    @Test func `an object is put, read, edited and deleted`() async throws {
        try await withShell { lanyard in
            let put = try await lanyard("put", "note/n1", #"{"title":"Milk","n":1.0e2}"#, "--json")
            #expect(put.exitCode == 0)
            let first = try object(put)
            #expect(try await lanyard("get", "note/n1", "--json").output == put.output)
            let text = try await lanyard("get", "note/n1")
            #expect(
                text.output == """
                    note/n1  version \(first.version)
                    n      100.0
                    title  Milk

                    """)
            let edited = try await lanyard("edit", "note/n1", "title=Oat milk", "n.unset", "tags.add=5", "--json")
            #expect(try object(edited).fields.description == #"{"tags":[5],"title":"Oat milk"}"#)
            let forced = try await lanyard("edit", "note/n1", "tags.add=5", "--string", "--json")
            #expect(try object(forced).fields.description == #"{"tags":[5,"5"],"title":"Oat milk"}"#)
            let list = try await lanyard(
                "edit", "note/n1", "-", "--json", input: #"[{"op":"unset","path":"tags"},"plays+=2"]"#)
            #expect(try object(list).fields.description == #"{"plays":2,"title":"Oat milk"}"#)
            let past = try await lanyard("history", "note/n1", "--at", "\(first.version)", "--json")
            #expect(past.output == put.output)
            #expect(try await lanyard("delete", "note/n1", "--yes").output == "note/n1 deleted.\n")
            #expect(try await lanyard("delete", "note/n1", "-y", "--json").output == "{\"deleted\":false}\n")
            let gone = try await lanyard("get", "note/n1")
            #expect(gone.exitCode == 3)
            #expect(gone.errors.contains("it was deleted"))
            let refused = try await lanyard("put", "note/n1", "{}")
            #expect(refused.exitCode == 4)
            #expect(refused.errors.contains("Create a new one: lanyard put COLLECTION JSON."))
            let deleted = try await lanyard("deleted")
            #expect(deleted.lines.first?.split(separator: " ") == ["COLLECTION", "ID", "BY", "DELETED", "POLICY"])
            #expect(
                deleted.lines.last?.wholeMatch(of: /note        n1  desk  (now|\d+ (s|min) ago) +deleteWins/) != nil,
                "\(deleted.output)")
        }
    }

    @Test func `there is no undelete, and it says what to do instead`() async throws {
        let run = try await CommandRun.lanyard(["undelete", "note/n1"])
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("There is no undelete"))
        #expect(run.errors.contains("lanyard put COLLECTION JSON"))
        #expect(try await !CommandRun.lanyard(["--help"]).output.contains("undelete"))
    }

    @Test func `conditions are kept to, and the version there is comes with the refusal`() async throws {
        try await withShell { lanyard in
            let first = try object(try await lanyard("put", "note/n", #"{"a":1}"#, "--if-absent", "--json"))
            #expect(try await lanyard("put", "note/n", #"{"a":2}"#, "--if-absent").exitCode == 4)
            let second = try object(
                try await lanyard("put", "note/n", #"{"a":2}"#, "--if-version", "\(first.version)", "--json"))
            for arguments in [["put", "note/n", "{}"], ["edit", "note/n", "a=3"], ["delete", "note/n", "--yes"]] {
                let run = try await CommandRun.lanyard(
                    arguments + ["--if-version", "\(first.version)", "--json"], socket: lanyard.socket)
                #expect(run.exitCode == 4)
                let error = try JSONDecoding.value(
                    ErrorResponse.self, from: Array(run.errors.utf8), unknownKeys: .refuse
                ).controlError
                #expect(error.code == .versionMismatch)
                #expect(error.version == second.version)
            }
            let replaced = try await lanyard("put", "note/n", #"{"b":1}"#, "--replace", "--json")
            #expect(try object(replaced).fields.description == #"{"b":1}"#)
        }
    }

    // MARK: Standard input

    @Test func `one value on standard input is one object, over as many lines as it likes`() async throws {
        try await withShell { lanyard in
            for input in ["{\"a\":1}", "{\"a\":1}\n", "\n {\n  \"a\":\n 1\n}\n\n", "{\"a\":\n1}"] {
                let run = try await lanyard("put", "note", "-", "--json", input: input)
                #expect(run.exitCode == 0)
                #expect(try object(run).fields.description.filter { $0 != " " } == #"{"a":1}"#)
                #expect(try object(run).id.wholeMatch(of: /[a-z2-9]{16}/) != nil)
            }
            let named = try await lanyard("put", "note", "-", "--json", input: #"{"id":"x","a":1}"#)
            #expect(try object(named).id == "x")
            let argument = try await lanyard("put", "note", #"{"id":"y","a":1}"#, "--json")
            #expect(try object(argument).fields.description == #"{"a":1}"#)
            let given = try await lanyard("put", "note/z", "-", "--json", input: "{\n\"id\":1}")
            #expect(try object(given).fields.description == #"{"id":1}"#)
            let quiet = try await lanyard("put", "-q", "note", "{}")
            #expect(quiet.output.wholeMatch(of: /[a-z2-9]{16}\n/) != nil)
        }
    }

    @Test func `several lines are several objects, and a bad one stops them`() async throws {
        try await withShell { lanyard in
            let many = try await lanyard(
                "put", "note", "-", input: (0..<3_000).map { "{\"id\":\"n\($0)\",\"n\":\($0)}\n" }.joined())
            #expect(many.output == "3000 objects put into note.\n")
            let json = try await lanyard("put", "note", "-", "--json", input: "{}\n{}")
            #expect(try #require(try json.json() as? [String: Any]).keys.sorted() == ["count", "first", "last"])
            for (input, line) in [
                ("{}\n{}\noops\n{}\n", 3), ("oops\n{}\n", 1), ("[1]\n{}\n", 1), ("{}\n{\"id\":7}", 2),
            ] {
                let run = try await lanyard("put", "note", "-", input: input)
                #expect(run.exitCode != 0)
                #expect(run.errors.hasPrefix("lanyard: Line \(line): "))
                #expect(run.errors.contains("\(line - 1) objects before it were written and stay."))
            }
            let version = try await lanyard("put", "note", "-", "--if-version", "r:1", input: "{}\n{}")
            #expect(version.exitCode == 2)
            let taken = try await lanyard("put", "note", "-", "--if-absent", input: "{\"id\":\"z\"}\n{\"id\":\"n1\"}\n")
            #expect(taken.exitCode == 4)
            #expect(taken.errors.hasPrefix("lanyard: Line 2: There is such an object already."))
        }
    }

    @Test func `what is not UTF-8 is said to be that`() async throws {
        try await withShell { lanyard in
            let run = try await CommandRun.program(
                "/bin/sh", ["-c", #"printf '{"a":"\377"}' | "$0" put note/n -"#, CommandRun.lanyardPath],
                environment: ["LANYARD_SOCKET": lanyard.socket, "PATH": "/usr/bin:/bin"])
            #expect(run.exitCode == 1)
            #expect(run.errors.contains("This is not UTF-8"))
        }
    }

    // MARK: Lists

    @Test func `a list is an array for programs and a table for people`() async throws {
        try await withShell { lanyard in
            _ = try await lanyard("put", "task/a", #"{"title":"Buy milk\nand bread","done":false}"#)
            _ = try await lanyard("put", "task/b", #"{"title":"x","done":true,"tags":["red",1]}"#)
            let json = try await lanyard("list", "task", "--json")
            #expect(try #require(try json.json() as? [[String: Any]]).map { $0["id"] as? String } == ["a", "b"])
            let table = try await lanyard("list", "task")
            #expect(
                table.output == """
                    ID  DONE   TITLE               TAGS
                    a   false  Buy milk and bread  -
                    b   true   x                   ["red",1]

                    """)
            let narrow = try await lanyard("list", "task", columns: 30)
            #expect(
                narrow.output == """
                    ID  DONE   TITLE     TAGS
                    a   false  Buy mil…  -
                    b   true   x         ["red",…

                    """)
            #expect(narrow.lines.allSatisfy { $0.count <= 30 })
            let tiny = try await lanyard("list", "task", columns: 16)
            #expect(tiny.lines.first == "ID  DONE  +2")
            let found = try await lanyard("list", "task", "--where", "done=true", "--where", "title=x", "--json")
            #expect(try #require(try found.json() as? [[String: Any]]).count == 1)
            let none = try await lanyard("list", "task", "--where", "done=true", "--string", "--json")
            #expect(none.output == "[]\n")
            let empty = try await lanyard("list", "task", "--where", "done=5")
            #expect(empty.output.isEmpty && empty.errors == "No objects.\n")
            #expect(try await lanyard("list", "task", "-q", "--limit", "1").lines.count == 1)
        }
    }

    @Test func `names and values from elsewhere cannot move the cursor`() async throws {
        try await withShell { lanyard in
            _ = try await lanyard("put", "task/a", "{\"t\\u001b[2J\":\"\\u001b[2J\"}")
            for run in [
                try await lanyard("list", "task"), try await lanyard("get", "task/a"),
                try await lanyard("history", "task/a"),
            ] {
                #expect(run.exitCode == 0)
                #expect(!run.output.contains("\u{1B}"))
            }
        }
    }

    @Test func `a long list is printed whole`() async throws {
        try await withShell { lanyard in
            let input = (0..<5_000).map { "{\"id\":\"n\($0)\",\"n\":\($0)}\n" }.joined()
            _ = try await lanyard("put", "note", "-", input: input)
            #expect(try await lanyard("list", "note").lines.count == 5_001)
            let json = try await lanyard("list", "note", "--json")
            #expect(try #require(try json.json() as? [[String: Any]]).count == 5_000)
        }
    }

    @Test func `a list comes in the order of a field, backwards, and behind an object`() async throws {
        try await withShell { lanyard in
            for (id, rank) in [("a", 3), ("b", 1), ("c", 2)] {
                _ = try await lanyard("put", "task/\(id)", "{\"rank\":\(rank)}")
            }
            func ids(_ options: String...) async throws -> [String] {
                let words = ["list", "task", "--json"] + options
                let run = try await CommandRun.lanyard(words, socket: lanyard.socket)
                return try #require(try run.json() as? [[String: Any]]).compactMap { $0["id"] as? String }
            }
            #expect(try await ids("--sort", "rank") == ["b", "c", "a"])
            #expect(try await ids("--sort", "rank", "--reverse", "--limit", "2") == ["a", "c"])
            #expect(try await ids("--sort", "rank", "--reverse", "--after", "c") == ["b"])
            #expect(try await ids("--sort", "created", "--reverse") == ["c", "b", "a"])
            #expect(try await ids("--after", "a") == ["b", "c"])
            #expect(try await lanyard("list", "task", "--after", "").exitCode == 2)
        }
    }

    @Test func `history tells who changed what`() async throws {
        try await withShell { lanyard in
            _ = try await lanyard("put", "task/a", #"{"title":"Milk","n":null}"#)
            _ = try await lanyard("edit", "task/a", "title=Tea")
            let text = try await lanyard("history", "task/a")
            #expect(text.lines.count == 5)
            #expect(text.lines[0].contains("  desk  created  version "))
            #expect(text.lines[1] == "  n  null")
            #expect(text.lines[2] == "  title  Milk")
            #expect(text.lines[3].contains("  desk  edited  version "))
            #expect(text.lines[4] == "  title  Milk → Tea")
            let field = try await lanyard("history", "task/a", "--field", "n", "--json")
            let rows = try #require(try field.json() as? [[String: Any]])
            #expect(rows.map { $0.keys.sorted() } == [["device", "field", "kind", "new", "time", "version"]])
            #expect(try await lanyard("history", "task/a", "--field", "x").exitCode == 3)
        }
    }

    /// Waits for a text in a file, and leaves the processor to the command that writes it.
    private static func wait(for text: String, in file: String, _ server: LiveServer) async throws {
        try await server.live.until { _ in try String(contentsOfFile: file, encoding: .utf8).contains(text) }
    }

    @Test func `a watch prints a line per object that changes`() async throws {
        try await LiveServer.with { server async throws in
            let lanyard = Shell(socket: server.socketPath)
            let printed = server.directory + "/printed"
            func isPrinted(_ text: String) async throws { try await Self.wait(for: text, in: printed, server) }
            _ = FileManager.default.createFile(atPath: printed, contents: nil)
            _ = try await lanyard("put", "task/a", #"{"n":1}"#)
            let watch = Task {
                try await CommandRun.program(
                    "/bin/sh", ["-c", "exec \"$0\" watch task --after 0 > \"$1\"", CommandRun.lanyardPath, printed],
                    environment: ["HOME": "/nonexistent", "LANYARD_SOCKET": server.socketPath])
            }
            try await isPrinted(#""id":"a","collection":"task","deleted":false,"fields":{"n":1},"#)
            _ = try await lanyard("put", "tag/x", "{}")
            _ = try await lanyard("delete", "task/a", "--yes")
            try await isPrinted(#""id":"a","collection":"task","deleted":true,"fields":null,"version":null"#)
            try await server.stop()
            let run = try await watch.value
            #expect(run.errors == "Watching, behind position 0.\n")
            let lines = try String(contentsOfFile: printed, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("{\"position\":") })
        }
    }

    @Test func `a list is watched: what is new in it, what changed, what left`() async throws {
        try await LiveServer.with { server async throws in
            let lanyard = Shell(socket: server.socketPath)
            let printed = server.directory + "/printed"
            func isPrinted(_ text: String) async throws { try await Self.wait(for: text, in: printed, server) }
            _ = FileManager.default.createFile(atPath: printed, contents: nil)
            _ = try await lanyard("put", "task/a", #"{"n":1}"#)
            _ = try await lanyard("put", "task/b", #"{"n":7}"#)
            let watch = Task {
                try await CommandRun.program(
                    "/bin/sh",
                    ["-c", "exec \"$0\" list task --where 'n < 5' --watch > \"$1\"", CommandRun.lanyardPath, printed],
                    environment: ["HOME": "/nonexistent", "LANYARD_SOCKET": server.socketPath])
            }
            try await isPrinted("  a   1\n")
            _ = try await lanyard("put", "task/b", #"{"n":2}"#)
            try await isPrinted("+ b   2\n")
            _ = try await lanyard("put", "task/a", #"{"n":3}"#)
            try await isPrinted("~ a   3\n")
            _ = try await lanyard("delete", "task/b", "--yes")
            try await isPrinted("- b   2\n")
            try await server.stop()
            let run = try await watch.value
            #expect(run.errors == "" && run.exitCode == 0)
            let lines = try String(contentsOfFile: printed, encoding: .utf8).split(separator: "\n")
            #expect(lines == ["  ID  N", "  a   1", "+ b   2", "~ a   3", "- b   2"])
        }
    }

    @Test func `a list says how many there are, and how they are found`() async throws {
        try await LiveServer.with { server async throws in
            let lanyard = Shell(socket: server.socketPath)
            for n in 1...4 { _ = try await lanyard("put", "task/\(n)", #"{"n":\#(n),"done":\#(n > 3)}"#) }
            #expect(try await lanyard("list", "task", "--count").output == "4\n")
            #expect(try await lanyard("list", "task", "--count", "--where", "n > 1 and not done=true").output == "2\n")
            let scan = try await lanyard("list", "task", "--explain", "--where", "done=true").output
            #expect(scan.hasPrefix("1 object found. No index helps: 4 objects read."))
            try await server.live.setSchema("task", #"{"indexed":["done"]}"#)
            let index = try await lanyard("list", "task", "--explain", "--where", "done=true", "--where", "n=4").output
            #expect(index == "1 object found. The index of done was looked up; 1 object read.\n")
            let json = try await lanyard("list", "task", "--count", "--json", "--where", "done=true").output
            #expect(json == #"{"count":1,"index":"done","order":null,"examined":0}"# + "\n")
            let sorted = try await lanyard("list", "task", "--sort", "done desc", "--sort", "n", "-q").output
            #expect(sorted.split(separator: "\n").map { $0.prefix(1) } == ["4", "1", "2", "3"])
            #expect(try await lanyard("list", "task", "--count", "--limit", "1").exitCode == 2)
            let first = try await lanyard("list", "task", "--explain", "--sort", "done", "--limit", "1").output
            #expect(first == "1 object found. Order by index done, which alone says so; no object was read.\n")
            let last = try await lanyard(
                "list", "task", "--explain", "--sort", "done desc", "--sort", "n", "--limit", "1"
            ).output
            #expect(last == "1 object found. Order by index done; 1 object read.\n")
            let found = try await lanyard("list", "task", "--explain", "--sort", "n", "--where", "done=true").output
            let lookedUp = "1 object found. The index of done was looked up; 1 object read."
            #expect(found == lookedUp + " The objects were sorted.\n")
            let all = try await lanyard("list", "task", "--explain", "--sort", "n", "--limit", "2").output
            #expect(all.hasPrefix("2 objects found. No index helps: 4 objects read."))
            #expect(all.hasSuffix(" The objects were sorted.\n"))
            let line = try await lanyard("list", "task", "--explain", "--sort", "done", "--limit", "1", "--json").output
            #expect(line == #"{"count":1,"index":null,"order":"done","examined":0}"# + "\n")
            let reversed = try await lanyard("list", "task", "--explain", "--reverse").output
            #expect(reversed.hasPrefix("4 objects found. No index helps: 4 objects read."))
            #expect(try await lanyard("list", "task", "--explain", "--limit", "1").exitCode == 2)
            #expect(try await lanyard("list", "task", "--explain", "--after", "1").exitCode == 2)
            #expect(try await lanyard("list", "task", "--explain", "--count").exitCode == 2)
            for (limit, ids) in [("1", ["1"]), ("2", ["1", "2"]), ("4", ["1", "2", "3", "4"])] {
                let listed = try await lanyard("list", "task", "--sort", "done", "-q", "--limit", limit).output
                #expect(listed.split(separator: "\n").map { $0.prefix(1) } == ids.map { $0.prefix(1) })
            }
        }
    }

    // MARK: Conflicts, schemas, streams

    @Test func `conflicts end with the commands that resolve them`() async throws {
        try await LiveServer.with { server async throws in
            let (live, lanyard) = (server.live, Shell(socket: server.socketPath))
            try await live.withPeer { peer async throws in
                try await live.makeUndecided("b", with: peer)
                try await live.put("note/it's", "{}")
                try await live.put("other/c", "{}")
                try await live.converge(with: peer)
                try await live.apart(from: peer) {
                    try await live.put("note/it's", #"{"title":"Tea"}"#)
                    try await live.setSchema("tag", #"{"upsert":false}"#)
                    try await live.delete("other/c")
                    try await peer.put("note/it's", #"{"title":"Milk"}"#)
                    try await peer.setSchema("tag", #"{"upsert":true}"#)
                    try await peer.edit("other/c", "n=1")
                }
            }
            let shown = try #require(try await server.client.conflicts(in: "note").last)
            let (first, second) = (shown.values[0].description, shown.values[1].description)
            #expect([first, second].sorted() == [#""Milk""#, #""Tea""#])
            func author(_ value: String) -> String { value == #""Tea""# || value == "false" ? "desk" : "attic" }
            func plain(_ value: String) -> String { value.replacing("\"", with: "") }
            let upsert = try #require(try await server.client.conflicts(in: "tag").first).values.map(\.description)
            let table = try await lanyard("conflicts")
            #expect(
                table.output.replacing(/\d+ (?:s|min) ago/, with: "now") == #"""
                    OBJECT         FIELD   CONFLICT              WHAT THERE IS
                    note/b         -       keep or delete?       edited by attic now  |  deleted by desk now
                    note/it's      title   several values        \#(plain(first)) (shown, by \#(author(first)) now)  |  \#(plain(second)) (by \#(author(second)) now)
                    other/c        -       edited while deleted  1 edit by attic now  |  deleted by desk now
                    schema of tag  upsert  several schemas       \#(upsert[0]) (shown, by \#(author(upsert[0])) now)  |  \#(upsert[1]) (by \#(author(upsert[1])) now)

                    To resolve, type one of:
                      lanyard conflicts resolve note/b keep
                      lanyard conflicts resolve note/b delete
                      lanyard conflicts resolve 'note/it'\''s' 'title=\#(first)'
                      lanyard conflicts resolve 'note/it'\''s' 'title=\#(second)'
                      lanyard conflicts resolve other/c dismiss
                      lanyard schema set tag FILE

                    """#)
            #expect(try await lanyard("--json", "conflicts", "list", "note").output.hasPrefix(#"[{"id":"b","#))
            for (name, decision) in [("note/it's", #"title="Milk""#), ("note/b", "keep"), ("other/c", "dismiss")] {
                let run = try await lanyard("conflicts", "resolve", name, decision)
                #expect(run.output == "\(name) resolved.\n", "\(run.errors)")
            }
            for collection in ["note", "other"] {
                let none = try await lanyard("conflicts", "list", collection)
                #expect(none.output.isEmpty && none.errors == "No conflicts.\n")
            }
        }
    }

    @Test func `schemas are set from a file and shown`() async throws {
        try await withShell { lanyard in
            let text = #"{"fields":{"title":"register","tags":{"type":"set","refers":"tag"}},"indexed":["title"]}"#
            let set = try await lanyard("schema", "set", "note", "-", input: text)
            let expected = """
                note  deleteWins, put creates
                FIELD  TYPE      REFERS  INDEXED
                tags   set       tag
                title  register  -       yes

                """
            #expect(set.output == expected)
            #expect(try await lanyard("schema").output == expected)
            let json = try await lanyard("schema", "show", "note", "--json")
            #expect(
                try #require(try json.json() as? [String: Any]).keys.sorted()
                    == ["collection", "deletePolicy", "fields", "indexed", "upsert"])
            let temporary = try TemporaryDirectory()
            try json.output.write(toFile: "\(temporary.path)/note.json", atomically: true, encoding: .utf8)
            let again = try await lanyard("schema", "set", "note", "\(temporary.path)/note.json", "--json")
            #expect(again.output == json.output)
            _ = try await lanyard("put", "note/n", #"{"title":"x"}"#)
            let convertible = #"{"fields":{"title":"text"}}"#
            let bad = try await lanyard("schema", "set", "note", "-", input: convertible)
            #expect(bad.exitCode == 4, "a schema that would lose data is refused; a conversion wants a yes")
            #expect(bad.errors.contains("--yes"))
            let program = try await lanyard(
                "schema", "set", "note", "-", "--json", input: #"{"fields":{"title":"counter"}}"#)
            #expect(program.exitCode == 4 && program.errors.contains("\"schema_would_lose_data\""))
        }
    }

    @Test func `streams are told how to keep events`() async throws {
        try await withShell { lanyard in
            let set = try await lanyard("streams", "set", "light", "--latest-only", "--retain", "2d")
            #expect(set.output == "light keeps the latest per type for 2 d 0 h.\n")
            let forever = try await lanyard(
                "--json", "streams", "set", "light", "--no-latest-only", "--retain", "forever")
            #expect(forever.output.contains(#""latestOnly":false,"retainSeconds":null"#))
        }
    }

    @Test func `answers have the promised keys`() async throws {
        try await LiveServer.with { server async throws in
            let lanyard = Shell(socket: server.socketPath)
            try await server.live.withPeer { peer async throws in
                try await server.live.makeUndecided("b", with: peer)
                _ = try await lanyard("put", "note/a", #"{"n":0}"#)
                _ = try await lanyard("put", "tag/z", "{}")
                _ = try await lanyard("delete", "tag/z", "--yes")
            }
            for (arguments, keys) in [
                (["put", "note/n", "{}"], ["collection", "fields", "id", "version"]),
                (["get", "note/a"], ["collection", "fields", "id", "version"]),
                (["edit", "note/a", "n=1"], ["collection", "fields", "id", "version"]),
                (["delete", "note/a", "--yes"], ["deleted"]),
                (["list", "note"], ["collection", "fields", "id", "version"]),
                (["deleted"], ["collection", "device", "id", "policy", "time"]),
                (["conflicts", "list"], ["authors", "collection", "deletions", "field", "id", "kind", "values"]),
            ] {
                let run = try await CommandRun.lanyard(arguments + ["--json"], socket: server.socketPath)
                let value = try run.json()
                let row = try #require((value as? [[String: Any]])?.first ?? value as? [String: Any])
                #expect(row.keys.sorted() == keys, "\(arguments)")
            }
        }
    }

    @Test func `with an endless line the input is cut off`() async throws {
        try await withShell { lanyard in
            let input = "{\"a\":\"" + String(repeating: "x", count: 3 * ControlLimits.valueBytes)
            for target in ["note", "note/n"] {
                let run = try await lanyard("put", target, "-", input: input)
                #expect(run.exitCode == 1)
                #expect(run.errors.contains("at most 1048576 (1 MiB)"))
            }
        }
    }
}
