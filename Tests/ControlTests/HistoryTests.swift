import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

/// The history of a text as routes, client and command tell it.
@Suite struct HistoryTests {
    private static let path = "/v1/spaces/home/collections/note/objects/n"
    private static let version = DotText(replica: MemoryAgent.replica, counter: 1_000_001)
    private let name: ObjectName

    init() throws { name = try ObjectName(collection: "note", id: "n") }

    private static func entry(
        _ text: String, at offset: Int, by device: String = MemoryAgent.device, second: Int64 = 0
    ) throws -> BlameEntry {
        BlameEntry(
            field: FieldPath(field: "body"), part: .text(offset: offset, text), device: device,
            time: Timestamp(millisecondsSinceEpoch: 1_763_700_000_000 + second * 1_000), version: version)
    }

    private func lanyard(_ server: LiveServer, _ arguments: String...) async throws -> CommandRun {
        try await CommandRun.lanyard(arguments, socket: server.socketPath)
    }

    private func written(_ server: LiveServer) async throws {
        _ = try await server.client.put(
            try ObjectPut(collection: "note", id: "n", fields: try JSONText(Array(#"{"body":"x"}"#.utf8))))
    }

    // MARK: Edits of a text

    @Test func `an edit of a text tells what went and what came, and nothing of the whole`() async throws {
        try await LiveServer.with { server async throws in
            try await written(server)
            let edits = [
                TextChange(offset: 9, deleted: "", inserted: " Water\nthem."),
                TextChange(offset: 0, deleted: "Teh", inserted: "The"),
                TextChange(offset: 4, deleted: "old", inserted: ""),
            ]
            await server.agent.record(
                HistoryEntry(
                    version: Self.version, time: MemoryObjects.time, device: MemoryAgent.device, kind: .edited,
                    field: FieldPath(field: "body"), edits: edits), of: name)
            let run = try await lanyard(server, "history", "note/n")
            #expect(
                run.lines.suffix(3) == [
                    "  body  at 9  + “ Water⏎them.”", "  body  at 0  “Teh” → “The”", "  body  at 4  - “old”",
                ])
            let json = try await lanyard(server, "history", "note/n", "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(rows.last?.keys.sorted() == ["device", "edits", "field", "kind", "time", "version"])
            let steps = try #require(rows.last?["edits"] as? [[String: Any]])
            #expect(steps.map { $0.keys.sorted() } == Array(repeating: ["deleted", "inserted", "offset"], count: 3))
            var read: [HistoryEntry] = []
            try await server.client.readHistory(of: name) { read += $0 }
            #expect(read.last?.edits == edits && read.last?.old == nil && read.last?.new == nil)
        }
    }

    @Test func `the middle of a long insertion is left out for people`() async throws {
        try await LiveServer.with { server async throws in
            try await written(server)
            let long = String(repeating: "a", count: 300) + "z"
            await server.agent.record(
                HistoryEntry(
                    version: Self.version, time: MemoryObjects.time, device: MemoryAgent.device, kind: .edited,
                    field: FieldPath(field: "body"), edits: [TextChange(offset: 0, deleted: "", inserted: long)]),
                of: name)
            let line = try #require(try await lanyard(server, "history", "note/n").lines.last)
            #expect(line.hasSuffix("aaaz” (301 characters)") && line.contains("…") && line.count < 200)
        }
    }

    @Test func `what is attached and taken away is told by what it is called`() async throws {
        try await LiveServer.with { server async throws in
            try await written(server)
            let record = AttachmentRecord(
                id: "7QXPBVDAW4SGEFIWSN2WJ3IKHA", name: "a\u{1b}b.png", mediaType: "image/png", size: 300, width: 640,
                height: nil, hash: String(repeating: "0f", count: 32))
            for (kind, counter) in [(HistoryEntry.Kind.attached, UInt64(7)), (.detached, 8)] {
                await server.agent.record(
                    HistoryEntry(
                        version: DotText(replica: MemoryAgent.replica, counter: counter), time: MemoryObjects.time,
                        device: MemoryAgent.device, kind: kind, attachment: record), of: name)
            }
            let lines = try await lanyard(server, "history", "note/n").lines.suffix(4)
            #expect(lines.filter { $0.hasSuffix("  image/png, 300 bytes") }.count == 2)
            #expect(lines.allSatisfy { !$0.contains("\u{1b}") }, "a name must not steer the terminal")
            let json = try await lanyard(server, "history", "note/n", "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(rows.last?.keys.sorted() == ["attachment", "device", "field", "kind", "time", "version"])
            let keys = (rows.last?["attachment"] as? [String: Any])?.keys.sorted()
            #expect(keys == ["hash", "height", "id", "mediaType", "name", "size", "width"])
            var read: [HistoryEntry] = []
            try await server.client.readHistory(of: name) { read += $0 }
            #expect(read.suffix(2).map(\.kind) == [.attached, .detached])
            #expect(read.suffix(2).allSatisfy { $0.attachment == record })
        }
    }

    // MARK: Who wrote it

    @Test func `blame reads line by line, and says where somebody else goes on`() async throws {
        try await LiveServer.with { server async throws in
            try await written(server)
            let other = "ZZZZZZZ" + MemoryAgent.device.dropFirst(7)
            await server.agent.tell(
                blame: [
                    try Self.entry("Shopping\n\n- mi", at: 0), try Self.entry("lk", at: 14, second: 3),
                    try Self.entry(" and bread", at: 16, by: other, second: 2), try Self.entry("\n- salt\n", at: 26),
                ])
            let run = try await lanyard(server, "history", "note/n", "--field", "body", "--blame")
            #expect(
                run.output == """
                    memory   2025-11-21 04:40:00  │ Shopping
                    memory   2025-11-21 04:40:00  │
                    memory   2025-11-21 04:40:03  │ - milk
                    ZZZZZZZ  2025-11-21 04:40:02  ╰  and bread
                    memory   2025-11-21 04:40:00  │ - salt

                    """)
            let json = try await lanyard(server, "history", "note/n", "--field", "body", "--blame", "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(rows.count == 4 && rows[1]["offset"] as? Int == 14 && rows[1]["text"] as? String == "lk")
            #expect(rows[0].keys.sorted() == ["device", "field", "offset", "text", "time", "version"])
            let query = BlameQuery(space: "home", name: name, field: FieldPath(field: "body"))
            #expect(await server.agent.blameQueries == [query, query])
        }
    }

    @Test func `blame of a value, of elements, and of what the log has forgotten`() async throws {
        try await LiveServer.with { server async throws in
            try await written(server)
            let milk = BlameEntry(
                field: try FieldPath(keys: ["list", "0"]), part: .value(try JSONText(Array(#""milk""#.utf8))),
                device: MemoryAgent.device, time: nil, version: Self.version)
            await server.agent.tell(blame: [milk])
            let run = try await lanyard(
                server, "history", "note/n", "--field", "list", "--blame", "--at", "\(Self.version)")
            #expect(run.output == "memory  -" + String(repeating: " ", count: 20) + "list/0  milk\n")
            #expect(await server.agent.blameQueries.first?.at == Self.version)
            let json = try await lanyard(server, "history", "note/n", "--field", "list", "--blame", "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(rows[0].keys.sorted() == ["device", "field", "time", "value", "version"])
            #expect(rows[0]["time"] is NSNull)
            await server.agent.tell()
            let empty = try await lanyard(server, "history", "note/n", "--field", "list", "--blame")
            #expect(empty.output.isEmpty && empty.errors == "There is nothing in it.\n")
            let none = try await lanyard(server, "history", "note/n", "--field", "none", "--blame")
            #expect(none.exitCode == 3)
        }
    }

    @Test(arguments: Road.allCases)
    func `blame comes in pages`(road: Road) async throws {
        let agent = MemoryAgent()
        let entries = try (0..<5).map { try Self.entry("\($0)", at: $0) }
        await agent.tell(blame: entries)
        try await road.with(agent) { request async throws in
            _ = try await request("PUT", Self.path, body: "{}")
            var read: [BlameEntry] = []
            var next: String? = ""
            while let cursor = next {
                let after = cursor.isEmpty ? "" : "&after=\(cursor)"
                let answer = try await request("GET", Self.path + "/blame?field=body&limit=2" + after)
                read += try answer.value([BlameEntry].self)
                next = answer.headers["lanyard-next"]
            }
            #expect(read == entries)
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
        try await LiveServer.with { server async throws in
            try await written(server)
            await server.agent.tell(
                differences: [
                    DifferenceEntry(
                        field: FieldPath(field: "body"),
                        content: .text(
                            edits: [TextChange(offset: 4, deleted: "b", inserted: "\tc")],
                            lines: [LineChange(line: 2, newLine: 2, deleted: ["b"], inserted: ["\tc", "d"])])),
                    DifferenceEntry(
                        field: FieldPath(field: "n"),
                        content: .value(old: try JSONText(Array("1".utf8)), new: try JSONText(Array("2".utf8)))),
                    DifferenceEntry(
                        field: FieldPath(field: "title"),
                        content: .value(old: nil, new: try JSONText(Array("null".utf8)))),
                ])
            let run = try await lanyard(server, "history", "note/n", "--from", "\(Self.version)")
            #expect(
                run.output == """
                    body  line 2
                    - b
                    +     c
                    + d
                    n  1 → 2
                    title  null

                    """)
            let json = try await lanyard(
                server, "history", "note/n", "--from", "\(Self.version)", "--at", "\(Self.version)", "--field", "body",
                "--json")
            let rows = try #require(try json.json() as? [[String: Any]])
            #expect(
                rows.map { $0.keys.sorted() } == [
                    ["edits", "field", "lines"], ["field", "new", "old"], ["field", "new"],
                ])
            let asked = DifferenceQuery(
                space: "home", name: name, from: Self.version, at: Self.version, field: FieldPath(field: "body"))
            #expect(await server.agent.differenceQueries.last == asked)
            await server.agent.tell()
            let same = try await lanyard(server, "history", "note/n", "--from", "\(Self.version)")
            #expect(same.output.isEmpty && same.errors == "No difference.\n")
        }
    }

    @Test(
        arguments: [
            (["--blame"], 2), (["--blame", "--field", "a", "--from", "r:1"], 2), (["--at", "r:1", "--field", "a"], 2),
            (["--from", "x"], 2), (["--from", "r:1"], 3), (["--field", "a", "--blame"], 3),
        ] as [([String], Int32)])
    func `what does not go together is a wrong command line`(options: [String], code: Int32) async throws {
        try await LiveServer.with { server async throws in
            let run = try await CommandRun.lanyard(["history", "note/x"] + options, socket: server.socketPath)
            #expect(run.exitCode == code, "\(run.errors)")
        }
    }

    // MARK: Whole characters

    @Test func `the command keeps characters whole unless it is told otherwise, programs have to ask`() async throws {
        try await LiveServer.with { server async throws in
            try await written(server)
            _ = try await lanyard(server, "edit", "note/n", "title=a")
            #expect(await server.agent.lastEdit?.wholeCharacters == true)
            _ = try await lanyard(server, "edit", "note/n", "title=b", "--split-characters")
            #expect(await server.agent.lastEdit?.wholeCharacters == false)
            let operation = try EditOperation(parsing: "title=c")
            _ = try await server.client.edit(try ObjectEdit(name, [operation]))
            #expect(await server.agent.lastEdit?.wholeCharacters == false)
            _ = try await server.client.edit(try ObjectEdit(name, [operation], wholeCharacters: true))
            #expect(await server.agent.lastEdit?.wholeCharacters == true)
            _ = try await server.client.perform(
                try Transaction([.edit(try ObjectEdit(name, [operation], wholeCharacters: true))]))
            #expect(await server.agent.lastEdit?.wholeCharacters == true)
            _ = try await server.client.perform(try Transaction([.edit(try ObjectEdit(name, [operation]))]))
            #expect(await server.agent.lastEdit?.wholeCharacters == false)
        }
    }

    @Test func `a place inside a character is refused with the places that are not`() async throws {
        try await LiveServer.with { server async throws in
            await server.agent.refuseWrites(
                to: name, with: .insideCharacter("body", offset: 3, start: 2, end: 6))
            let run = try await lanyard(server, "edit", "note/n", "body.insert@3=x")
            #expect(run.exitCode == 1)
            #expect(run.errors.contains("The place 3 is inside of a character of \"body\", which goes from 2 to 6."))
            #expect(run.errors.contains("--split-characters"))
            let json = try await lanyard(server, "edit", "note/n", "body.insert@3=x", "--json")
            let error = try JSONDecoding.value(ErrorResponse.self, from: Array(json.errors.utf8), unknownKeys: .refuse)
            #expect(error.controlError.code == .insideCharacter && error.controlError.code.httpStatus == 422)
        }
    }
}
