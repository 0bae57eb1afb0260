import ControlAPI
import Foundation
import LanyardClient
import Testing

/// The history of a text as routes, client and command tell it.
@Suite(.timeLimit(.minutes(20))) struct HistoryTests {
    private static let path = "/v1/spaces/home/collections/note/objects/n"
    private let name: ObjectName

    init() throws { name = try ObjectName(collection: "note", id: "n") }

    private func lanyard(_ server: LiveServer, _ arguments: String...) async throws -> CommandRun {
        try await CommandRun.lanyard(arguments, socket: server.socketPath)
    }

    /// Runs `body` with an object whose field `body` is this text.
    private func withText(_ text: String, _ body: (LiveServer) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in
            try await server.live.setSchema("note", #"{"fields":{"body":"text","list":"list"}}"#)
            let fields = String(decoding: try JSONEncoder().encode(["body": text]), as: UTF8.self)
            try await server.live.put("note/n", fields)
            try await body(server)
        }
    }

    private func version(_ server: LiveServer) async throws -> DotText {
        try await server.client.object(name).version
    }

    /// The lines without their times.
    private func timeless(_ run: CommandRun) -> String {
        run.output.replacing(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, with: "T")
    }

    // MARK: Edits of a text

    @Test func `an edit of a text tells what went and what came, and nothing of the whole`() async throws {
        try await withText("Teh oldies.") { server in
            try await server.live.edit(
                "note/n", "body.insert@11= Water\nthem.", "body.delete@0:3", "body.insert@0=The", "body.delete@4:3")
            let run = try await lanyard(server, "history", "note/n")
            #expect(
                run.lines.suffix(3) == [
                    "  body  at 11  + “ Water⏎them.”", "  body  at 0  “Teh” → “The”", "  body  at 4  - “old”",
                ], "\(run.output)")
            let json = try await lanyard(server, "history", "note/n", "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(rows.last?.keys.sorted() == ["device", "edits", "field", "kind", "time", "version"])
            let steps = try #require(rows.last?["edits"] as? [[String: Any]])
            #expect(steps.map { $0.keys.sorted() } == Array(repeating: ["deleted", "inserted", "offset"], count: 3))
            var read: [HistoryEntry] = []
            try await server.client.readHistory(of: name) { read += $0 }
            let edits = [
                TextChange(offset: 11, deleted: "", inserted: " Water\nthem."),
                TextChange(offset: 0, deleted: "Teh", inserted: "The"),
                TextChange(offset: 4, deleted: "old", inserted: ""),
            ]
            #expect(read.last?.edits == edits && read.last?.old == nil && read.last?.new == nil)
        }
    }

    @Test func `the middle of a long insertion is left out for people`() async throws {
        try await withText("x") { server in
            try await server.live.edit("note/n", "body.insert@0=" + String(repeating: "a", count: 300) + "z")
            let line = try #require(try await lanyard(server, "history", "note/n").lines.last)
            #expect(line.hasSuffix("aaaz” (301 characters)") && line.contains("…") && line.count < 200)
        }
    }

    @Test func `what is attached and taken away is told by what it is called`() async throws {
        try await withText("x") { server in
            let attached = try await server.live.attach(
                [UInt8](repeating: 7, count: 300), named: "a\u{1b}b.png", to: "note/n")
            try await server.client.detach(attached.record.id)
            let lines = try await lanyard(server, "history", "note/n").lines.suffix(4)
            #expect(lines.filter { $0.hasSuffix("  \(attached.record.mediaType), 300 bytes") }.count == 2)
            #expect(lines.allSatisfy { !$0.contains("\u{1b}") }, "a name must not steer the terminal")
            let json = try await lanyard(server, "history", "note/n", "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(rows.last?.keys.sorted() == ["attachment", "device", "field", "kind", "time", "version"])
            let keys = (rows.last?["attachment"] as? [String: Any])?.keys.sorted()
            #expect(keys == ["hash", "height", "id", "mediaType", "name", "size", "width"])
            var read: [HistoryEntry] = []
            try await server.client.readHistory(of: name) { read += $0 }
            #expect(read.suffix(2).map(\.kind) == [.attached, .detached])
            #expect(read.suffix(2).allSatisfy { $0.attachment == attached.record })
        }
    }

    // MARK: Who wrote it

    @Test func `blame reads line by line, and says where another device goes on`() async throws {
        try await withText("Shopping\n\n- milk\n- salt\n") { server in
            try await server.live.withPeer { peer async throws in
                try await peer.edit("note/n", "body.insert@16= and bread")
                try await server.live.converge(with: peer)
            }
            let run = try await lanyard(server, "history", "note/n", "--field", "body", "--blame")
            #expect(
                timeless(run) == """
                    desk   T  │ Shopping
                    desk   T  │
                    desk   T  │ - milk
                    attic  T  ╰  and bread
                    desk   T  │ - salt

                    """)
            let json = try await lanyard(server, "history", "note/n", "--field", "body", "--blame", "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(rows.count == 3 && rows[1]["offset"] as? Int == 16 && rows[1]["text"] as? String == " and bread")
            #expect(rows[0].keys.sorted() == ["device", "field", "offset", "text", "time", "version"])
        }
    }

    @Test func `blame of a value, of elements, and of a version`() async throws {
        try await withText("x") { server in
            try await server.live.edit("note/n", #"list.insert@0="milk""#)
            let version = try await version(server)
            try await server.live.edit("note/n", "list.delete@0:1")
            let run = try await lanyard(
                server, "history", "note/n", "--field", "list", "--blame", "--at", "\(version)")
            #expect(timeless(run) == "desk  T  list/0  milk\n")
            let json = try await lanyard(
                server, "history", "note/n", "--field", "list", "--blame", "--at", "\(version)", "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(rows.map { $0.keys.sorted() } == [["device", "field", "time", "value", "version"]])
            let empty = try await lanyard(server, "history", "note/n", "--field", "list", "--blame")
            #expect(empty.output.isEmpty && empty.errors == "There is nothing in it.\n")
            let none = try await lanyard(server, "history", "note/n", "--field", "none", "--blame")
            #expect(none.exitCode == 3)
        }
    }

    @Test(arguments: Road.allCases)
    func `blame comes in pages`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            try await live.setSchema("note", #"{"fields":{"body":"text"}}"#)
            try await live.put("note/n", #"{"body":"a"}"#)
            for letter in ["b", "c", "d", "e"] { try await live.edit("note/n", "body.insert@0=\(letter)") }
            let whole = try (try await request("GET", Self.path + "/blame?field=body")).value([BlameEntry].self)
            #expect(whole.count == 5)
            var read: [BlameEntry] = []
            var next: String? = ""
            while let cursor = next {
                let after = cursor.isEmpty ? "" : "&after=\(cursor)"
                let answer = try await request("GET", Self.path + "/blame?field=body&limit=2" + after)
                let page = try answer.value([BlameEntry].self)
                #expect(page.count <= 2)
                read += page
                next = answer.headers["lanyard-next"]
            }
            #expect(read == whole)
            for (query, code) in [
                ("", "invalid_argument"), ("?field=body&after=9", "invalid_argument"), ("?field=none", "unknown_field"),
                ("?field=body&at=x", "invalid_argument"), ("?field=body&x=1", "unknown_key"),
            ] {
                #expect(try await request("GET", Self.path + "/blame" + query).code == code)
            }
        }
    }

    // MARK: How two versions differ

    @Test func `a difference is shown line by line`() async throws {
        try await withText("a\nb\n") { server in
            try await server.live.put("note/n", #"{"n":1}"#)
            let first = try await version(server)
            try await server.live.put("note/n", #"{"body":"a\n\tc\nd\n","n":2,"title":null}"#)
            let last = try await version(server)
            let run = try await lanyard(server, "history", "note/n", "--from", "\(first)")
            #expect(
                run.output == """
                    body  line 2
                    - b
                    +     c
                    + d
                    n  1 → 2
                    title  null

                    """)
            let json = try await lanyard(server, "history", "note/n", "--from", "\(first)", "--at", "\(last)", "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(
                rows.map { $0.keys.sorted() } == [
                    ["edits", "field", "lines"], ["field", "new", "old"], ["field", "new"],
                ])
            let one = try await lanyard(
                server, "history", "note/n", "--from", "\(first)", "--at", "\(last)", "--field", "n")
            #expect(one.output == "n  1 → 2\n")
            let oneJSON = try await lanyard(
                server, "history", "note/n", "--from", "\(first)", "--at", "\(last)", "--field", "body", "--json")
            let fields = try #require(try oneJSON.json() as? [[String: Any]])
            #expect(fields.map { $0.keys.sorted() } == [["edits", "field", "lines"]])
            #expect(fields.first?["field"] as? String == "body")
            let same = try await lanyard(server, "history", "note/n", "--from", "\(last)")
            #expect(same.output.isEmpty && same.errors == "No difference.\n")
        }
    }

    @Test func `what does not go together is a wrong command line`() async throws {
        try await LiveServer.with { server async throws in
            for (options, code) in [
                (["--blame"], 2), (["--blame", "--field", "a", "--from", "r:1"], 2),
                (["--at", "r:1", "--field", "a"], 2), (["--from", "x"], 2), (["--from", "r:1"], 3),
                (["--field", "a", "--blame"], 3),
            ] as [([String], Int32)] {
                let run = try await CommandRun.lanyard(["history", "note/x"] + options, socket: server.socketPath)
                #expect(run.exitCode == code, "\(run.errors)")
            }
        }
    }

    // MARK: Whole characters

    /// Two letters, one character of five scalars, and a letter.
    private static let family = "ab\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}c"

    @Test func `the command keeps characters whole unless it is told otherwise, programs have to ask`() async throws {
        try await withText(Self.family) { server in
            let operation = try EditOperation(parsing: "body.insert@3=x")
            #expect(try await lanyard(server, "edit", "note/n", "body.insert@3=x").exitCode == 1)
            let asked = await #expect(throws: ControlError.self) {
                try await server.client.edit(try ObjectEdit(name, [operation], wholeCharacters: true))
            }
            #expect(asked?.code == .insideCharacter)
            let step = await #expect(throws: ControlError.self) {
                try await server.client.perform(
                    try Transaction([.edit(try ObjectEdit(name, [operation], wholeCharacters: true))]))
            }
            #expect(step?.code == .insideCharacter)
            #expect(try await server.client.object(name).fields.means(try JSONText("{\"body\":\"\(Self.family)\"}")))
            for number in 0..<3 {
                // Back to the whole family each time.
                let fields = try JSONText("{\"body\":\"\(Self.family)\"}")
                _ = try await server.client.put(ObjectPut(collection: "note", id: "n", fields: fields))
                switch number {
                case 0:
                    let split = try await lanyard(server, "edit", "note/n", "body.insert@3=x", "--split-characters")
                    #expect(split.exitCode == 0, "\(split.errors)")
                case 1: _ = try await server.client.edit(try ObjectEdit(name, [operation]))
                case _: _ = try await server.client.perform(try Transaction([.edit(try ObjectEdit(name, [operation]))]))
                }
                let split = "ab\u{1F469}x\u{200D}\u{1F469}\u{200D}\u{1F467}c"
                #expect(try await server.client.object(name).fields.means(try JSONText("{\"body\":\"\(split)\"}")))
            }
        }
    }

    @Test func `a place inside a character is refused with the places that are not`() async throws {
        try await withText(Self.family) { server in
            let run = try await lanyard(server, "edit", "note/n", "body.insert@3=x")
            #expect(run.exitCode == 1)
            #expect(run.errors.contains("The place 3 is inside of a character of \"body\", which goes from 2 to 7."))
            #expect(run.errors.contains("--split-characters"))
            let json = try await lanyard(server, "edit", "note/n", "body.insert@3=x", "--json")
            let error = try JSONDecoding.value(ErrorResponse.self, from: Array(json.errors.utf8), unknownKeys: .refuse)
            #expect(error.controlError.code == .insideCharacter && error.controlError.code.httpStatus == 422)
        }
    }
}
