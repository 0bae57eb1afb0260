import ControlAPI
import Foundation
import LanyardClient
import SyncAgent
import SyncStore
import Testing

@Suite(.timeLimit(.minutes(20))) struct RowImportTests {
    private struct Shell {
        let server: LiveServer
        let directory: String

        func load(_ arguments: String..., input: String = "") async throws -> CommandRun {
            try await CommandRun.lanyard(["import"] + arguments, socket: server.socketPath, input: input)
        }

        func file(_ name: String, _ text: String) throws -> String {
            let path = directory + "/" + name
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return path
        }

        /// The objects of a collection by id, as `ID {FIELDS}`.
        func list(_ collection: String) async throws -> [String] {
            var all: [String] = []
            try await server.client.listObjects(collection) { all += $0.map { "\($0.id) \($0.fields)" } }
            return all
        }

        /// What is stored, by the store's own word: the status may be a moment behind.
        func state() throws -> StoreState { try server.live.agent.store.state() }
    }

    private func withShell(_ body: (Shell) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in
            let files = try TemporaryDirectory()
            try await body(Shell(server: server, directory: files.path))
        }
    }

    private func error(_ run: CommandRun) throws -> ControlError {
        try JSONDecoding.value(ErrorResponse.self, from: Array(run.errors.utf8), unknownKeys: .refuse).controlError
    }

    private static let people = """
        Full name,Mail,Age,Tags,Notes,Internal\r
        "Ada ""L"" Lovelace",ada@x,36,math;poetry,,1\r
        Grace,grace@x,,navy,"two\r
        lines",2\r

        """
    private static let options = [
        "--into", "people", "--id", "Mail", "--map", "Full name=name", "--map", "Age=age:number", "--map",
        "Tags=tags:list(;)", "--map", "Notes=body:text", "--skip", "Internal",
    ]

    @Test func `a table is imported, and importing it again writes nothing`() async throws {
        try await withShell { shell in
            let file = try shell.file("people.csv", Self.people)
            func load(_ more: String...) async throws -> CommandRun {
                try await CommandRun.lanyard(
                    ["import", file] + Self.options + more, socket: shell.server.socketPath)
            }
            let before = try shell.state()
            let trial = try await load("--dry-run")
            #expect(
                trial.lines == [
                    #"people/ada@x  {"name":"Ada \"L\" Lovelace","age":36,"tags":["math","poetry"]}"#,
                    #"people/grace@x  {"name":"Grace","tags":["navy"],"body":"two\r\nlines"}"#,
                    "2 objects read; nothing was written.",
                ])
            #expect(try shell.state() == before)
            let first = try await load()
            #expect(first.output == "2 objects put into people.\n" && first.errors.isEmpty, "\(first.errors)")
            #expect(
                try await shell.list("people") == [
                    #"ada@x {"age":36,"name":"Ada \"L\" Lovelace","tags":["math","poetry"]}"#,
                    #"grace@x {"body":"two\r\nlines","name":"Grace","tags":["navy"]}"#,
                ])
            let written = try shell.state()
            #expect(try await load().output == "2 objects put into people. All were there already.\n")
            let json = try #require(try await load("--json").json() as? [String: Any])
            #expect(json["count"] as? Int == 2 && json["first"] is NSNull && json["collection"] as? String == "people")
            #expect(try shell.state() == written)
        }
    }

    @Test func `rows without an id are new each time, and the command says so`() async throws {
        try await withShell { shell in
            for count in 1...2 {
                let run = try await shell.load("-", "--format", "tsv", "--into", "c", input: "a\tb\n1\t2\n")
                #expect(run.exitCode == 0 && run.errors.contains("--id COLUMN"), "\(run.errors)")
                #expect(try await shell.list("c").count == count)
            }
            let quiet = try await shell.load("-", "--format", "csv", "--into", "c", "-q", input: "a\n1\n")
            #expect(quiet.exitCode == 0 && quiet.output.isEmpty && quiet.errors.isEmpty)
        }
    }

    @Test func `empty cells leave fields as they are, unless they are to be as in the file`() async throws {
        try await withShell { shell in
            try await shell.server.live.put("c/1", #"{"a":"x","b":"y"}"#)
            let file = try shell.file("c.csv", "id,a,b\n1,z,\n")
            #expect(try await shell.load(file, "--into", "c").exitCode == 0)
            #expect(try await shell.list("c") == [#"1 {"a":"z","b":"y"}"#])
            #expect(try await shell.load(file, "--into", "c", "--replace").exitCode == 0)
            #expect(try await shell.list("c") == [#"1 {"a":"z"}"#])
        }
    }

    @Test func `JSON lines are imported under ids of their own`() async throws {
        try await withShell { shell in
            let text = """
                {"isrc":"DE1","title":"One","artist":{"name":"Ada"},"plays":3}

                {"isrc":"DE2","title":"Two","artist":{}}
                """
            let file = try shell.file("songs.JSONL", text)
            let run = try await shell.load(file, "--into", "songs", "--id", "isrc", "--map", "artist.name=artist")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(
                try await shell.list("songs") == [
                    #"DE1 {"artist":"Ada","plays":3,"title":"One"}"#, #"DE2 {"title":"Two"}"#,
                ])
        }
    }

    @Test func `a list that a to-do program exported is imported`() async throws {
        try await withShell { shell in
            try await shell.server.live.setSchema("todo", #"{"fields":{"labels":"set"}}"#)
            let text = """
                \u{FEFF}TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,DATE,LABELS
                task,"Buy milk, oat",,4,1,every day,"shop, home"
                ,,,,,,
                task,Call Grace,"About ""COBOL""
                and the trip",1,2,,
                """
            let file = try shell.file("Inbox.csv", text)
            let run = try await shell.load(
                file, "--into", "todo", "--id", "CONTENT", "--only-mapped", "--map", "CONTENT=title", "--map",
                "DESCRIPTION=body", "--map", "PRIORITY=priority:number", "--map", "LABELS=labels:list(,)")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(
                try await shell.list("todo") == [
                    #"Buy milk, oat {"labels":["home","shop"],"priority":4,"title":"Buy milk, oat"}"#,
                    #"Call Grace {"body":"About \"COBOL\"\nand the trip","priority":1,"title":"Call Grace"}"#,
                ])
        }
    }

    @Test func `many rows are written, and a bad one among them stops it where it stands`() async throws {
        try await withShell { shell in
            let rows = (1...10_000).map { "\($0),\"Name\n\($0)\",\($0)\n" }
            let good = try shell.file("good.csv", "id,name,n\n" + rows.joined())
            var bad = rows
            bad[7_000] = "7001,x,y\n"
            let file = try shell.file("bad.csv", "id,name,n\n" + bad.joined())
            let run = try await shell.load(file, "--into", "c", "--map", "n=n:number", "--json")
            let fault = try error(run)
            #expect(run.exitCode == 1 && run.output.isEmpty)
            // Each row before it has two lines.
            #expect(fault.line == 2 + 2 * 7_000 && fault.written == 7_000, "\(fault)")
            #expect(fault.message.hasPrefix("Line 14002, column \"n\": \"y\" is no number."))
            #expect(fault.hint.contains("Then import it again: nothing is written twice."))
            #expect(try await shell.list("c").count == 7_000)
            let before = try shell.state()
            #expect(try await shell.load(file, "--into", "c", "--map", "n=n:number").exitCode == 1)
            #expect(try shell.state() == before, "what was there is not written again")
            let whole = try await shell.load(good, "--into", "c", "--map", "n=n:number", "--json")
            #expect(try #require(try whole.json() as? [String: Any])["count"] as? Int == 10_000)
            #expect(try await shell.list("c").count == 10_000)
        }
    }

    @Test func `a row that the agent refuses is named by its line in the file`() async throws {
        try await withShell { shell in
            try await shell.server.live.setSchema("c", #"{"fields":{"tags":"set"}}"#)
            // Line 2 is empty, and the first row has two lines.
            let file = try shell.file("c.csv", "id,tags\n\n1,\"[\n1]\"\n\n2,{}\n")
            let refused = try await shell.load(file, "--into", "c", "--map", "tags=tags:json", "--json")
            let fault = try error(refused)
            #expect(fault.code == .typeMismatch && fault.line == 6 && fault.written == 1, "\(fault)")
        }
    }

    @Test func `two rows with one id are refused, unless the later one wins`() async throws {
        try await withShell { shell in
            let file = try shell.file("c.csv", "id;a\n1;x\n2;y\n1;z\n")
            let run = try await shell.load(file, "--into", "c", "--delimiter", ";", "--json")
            let fault = try error(run)
            #expect(fault.code == .alreadyExists && fault.line == 4 && fault.written == 2, "\(fault)")
            #expect(fault.message.contains("line 2"))
            #expect(try await shell.load(file, "--into", "c", "--delimiter", ";", "--last-wins").exitCode == 0)
            #expect(try await shell.list("c") == [#"1 {"a":"z"}"#, #"2 {"a":"y"}"#])
        }
    }

    @Test func `a trial checks every row and needs no more than an agent that answers`() async throws {
        try await withShell { shell in
            let text = "id,a\n" + (0..<5).map { "\($0),x\n" }.joined()
            let json = try await shell.load("-", "--format", "csv", "--into", "c", "--dry-run", "--json", input: text)
            let answer = try #require(try json.json() as? [String: Any])
            #expect(answer["read"] as? Int == 5 && answer["dryRun"] as? Bool == true)
            #expect((answer["objects"] as? [[String: Any]])?.compactMap { $0["id"] as? String } == ["0", "1", "2"])
            let bad = try await shell.load("-", "--format", "csv", "--into", "c", "--dry-run", input: text + "9\n")
            #expect(bad.exitCode == 1 && bad.errors.hasPrefix("lanyard: Line 7: It has 1 cell"), "\(bad.errors)")
            #expect(try await shell.server.client.collections().isEmpty)
        }
    }

    private static let misuse: [(arguments: [String], words: String)] = [
        (["--id", "x"], "--into COLLECTION"), (["--into", "c", "--lost-events"], "--lost-events"),
        (["--into", "a/b"], "slash"), (["--into", "c", "--format", "xml"], "--format"),
        (["--into", "c", "--map", "x"], "--map 'COLUMN=FIELD'"),
        (["--into", "c", "--delimiter", "::"], "--delimiter ';'"),
        (["--into", "c", "--format", "jsonl", "--delimiter", ";"], "no delimiter"),
    ]

    @Test func `a wrong command line says what to type`() async throws {
        try await withShell { shell in
            let file = try shell.file("c.csv", "a,b\n1,2\n")
            for (arguments, words) in Self.misuse {
                let run = try await CommandRun.lanyard(
                    ["import", file] + arguments, socket: shell.server.socketPath, environment: ["COLUMNS": "1000"])
                #expect(run.exitCode == 2 && run.errors.contains(words), "\(arguments): \(run.errors)")
            }
            let plain = try await shell.load(file)
            #expect(plain.exitCode == 1 && plain.errors.contains("--into COLLECTION"), "\(plain.errors)")
            let unknown = try await shell.load(try shell.file("c.json", "[]"), "--into", "c")
            #expect(unknown.exitCode == 2 && unknown.errors.contains("jq -c"), "\(unknown.errors)")
            #expect(try await shell.load("/nonexistent.csv", "--into", "c").exitCode == 3)
        }
    }
}
