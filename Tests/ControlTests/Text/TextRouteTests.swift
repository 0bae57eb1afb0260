import ControlAPI
import ControlServer
import LanyardClient
import Testing

/// Texts over the socket, as a program in any language follows and edits them.
@Suite(.timeLimit(.minutes(20))) struct TextRouteTests {
    private struct Stop: Error {}

    /// A text that is followed, as the lines make it.
    private struct Reader {
        let lines: AsyncStream<TextLine>
        let task: Task<Void, any Error>
        let unit: TextUnit
        var text = ""
        var version = ""
        var keys: [String] = []

        init(_ server: LiveServer, _ unit: TextUnit = .utf16) throws {
            let (lines, see) = AsyncStream<TextLine>.makeStream()
            self.lines = lines
            self.unit = unit
            task = Task {
                defer { see.finish() }
                try await server.client.followText(
                    try ObjectName(parsing: "note/a"), field: FieldPath(field: "body"), unit: unit
                ) { see.yield($0) }
            }
        }

        mutating func next() async throws {
            for await line in lines {
                switch line {
                case .text(let version, let text): (self.version, self.text) = (version, text)
                case .edits(let version, let steps, let key):
                    self.version = version
                    text.apply(steps, in: unit)
                    if let key { keys.append(key) }
                }
                return
            }
            try await task.value
            throw Stop()
        }

        mutating func shows(_ expected: String) async throws {
            while text != expected { try await next() }
        }
    }

    @Test func `an edit against an earlier version is moved over what came since, for every reader`() async throws {
        try await Self.with("hello 😀 world") { server async throws in
            var readers = try TextUnit.allCases.map { try Reader(server, $0) }
            for index in readers.indices { try await readers[index].next() }
            let version = readers[1].version
            _ = try await server.edit(version, .utf16, TextSplice(offset: 5, deleted: 0, inserted: ","), key: "one")
            let last = try await server.edit(
                version, .utf16, TextSplice(offset: 14, deleted: 0, inserted: "!"), key: "two")
            for index in readers.indices { try await readers[index].shows("hello, 😀 world!") }
            #expect(readers.allSatisfy { $0.keys == ["one", "two"] && $0.version == last })
            // Another program writes the whole field, and bytes of UTF-8 count from there.
            try await server.live.edit("note/a", "body.delete@0:6")
            for index in readers.indices { try await readers[index].shows(" 😀 world!") }
            _ = try await server.edit(last, .utf8, TextSplice(offset: 0, deleted: 11, inserted: "bye"))
            for index in readers.indices { try await readers[index].shows("bye world!") }
            let again = try await server.edit(
                version, .utf16, TextSplice(offset: 14, deleted: 0, inserted: "!"), key: "two")
            #expect(again.hasPrefix("4-"), "the same request again is no edit: \(again)")
        }
    }

    @Test func `bad edits are refused with their code, and change nothing`() async throws {
        try await Self.with("a😀b") { server async throws in
            var reader = try Reader(server)
            try await reader.next()
            let bad: [(TextUnit, TextSplice, ErrorCode)] = [
                (.utf16, TextSplice(offset: 5, deleted: 0, inserted: "x"), .indexOutOfRange),
                (.utf16, TextSplice(offset: -1, deleted: 0, inserted: "x"), .indexOutOfRange),
                (.utf16, TextSplice(offset: 0, deleted: -1, inserted: "x"), .indexOutOfRange),
                (.utf16, TextSplice(offset: 1, deleted: .max, inserted: "x"), .indexOutOfRange),
                (.utf16, TextSplice(offset: 2, deleted: 0, inserted: "x"), .insideCharacter),
                (.utf8, TextSplice(offset: 1, deleted: 2, inserted: ""), .insideCharacter),
            ]
            for (unit, step, code) in bad {
                let error = await #expect(throws: ControlError.self) {
                    try await server.edit(reader.version, unit, step)
                }
                #expect(error?.code == code, "\(step)")
            }
            for version in ["", "0", "7-\(reader.version.split(separator: "-")[1])", "0-other", "-1-x"] {
                let error = await #expect(throws: ControlError.self) {
                    try await server.edit(version, .scalars, TextSplice(offset: 0, deleted: 0, inserted: "x"))
                }
                #expect(error?.code == .textVersionUnknown, "\(version)")
            }
            let first = reader.version
            _ = try await server.edit(first, .scalars, TextSplice(offset: 3, deleted: 0, inserted: "c"))
            try await reader.shows("a😀bc")
            // Against an earlier version they are moved first; sums of such numbers have no room in an integer.
            for (offset, deleted) in [(Int.max, 1), (1, .max), (.max, .max), (-1, 1), (.min, .min), (1, -1)] {
                let step = TextSplice(offset: offset, deleted: deleted, inserted: "x")
                let error = await #expect(throws: ControlError.self) { try await server.edit(first, .scalars, step) }
                #expect(error?.code == .indexOutOfRange, "\(step)")
            }
        }
    }

    @Test func `what is no text, or not there, is said before the answer begins`() async throws {
        try await Self.with("text") { server async throws in
            try await server.live.put("note/b", #"{"title":"T"}"#)
            let cases: [(String, String, ErrorCode)] = [
                ("note/a", "title", .typeMismatch), ("note/a", "nothing", .unknownField), ("note/c", "body", .notFound),
            ]
            for (name, field, code) in cases {
                let error = await #expect(throws: ControlError.self) {
                    try await server.client.followText(
                        try ObjectName(parsing: name), field: FieldPath(field: field)
                    ) { _ in }
                }
                #expect(error?.code == code, "\(name) \(field)")
            }
            // A text that was never written is empty, and begins with the first edit.
            var lines: [TextLine] = []
            await #expect(throws: Stop.self) {
                try await server.client.followText(try ObjectName(parsing: "note/b"), field: FieldPath(field: "body")) {
                    lines.append($0)
                    throw Stop()
                }
            }
            guard case .text(let version, "") = lines.first else {
                Issue.record("\(lines)")
                return
            }
            _ = try await server.client.editText(
                try ObjectName(parsing: "note/b"), field: FieldPath(field: "body"),
                TextEdits(
                    version: version, unit: .scalars, edits: [TextSplice(offset: 0, deleted: 0, inserted: "begun")]))
            let fields = try await server.client.object(try ObjectName(parsing: "note/b")).fields.description
            #expect(fields == #"{"body":"begun","title":"T"}"#)
        }
    }

    @Test func `many writers of one object at once lose no letter`() async throws {
        try await Self.with("") { server async throws in
            var reader = try Reader(server, .scalars)
            try await reader.next()
            let version = reader.version
            try await withThrowingTaskGroup(of: Void.self) { group in
                for letter in "abcdefghijklmnopqrst" {
                    group.addTask {
                        _ = try await server.edit(
                            version, .scalars, TextSplice(offset: 0, deleted: 0, inserted: String(letter)))
                    }
                    group.addTask { try await server.live.edit("note/a", "count+=1") }
                }
                try await group.waitForAll()
            }
            while reader.text.count < 20 { try await reader.next() }
            #expect(Set(reader.text) == Set("abcdefghijklmnopqrst"))
            let fields = try await server.client.object(try ObjectName(parsing: "note/a")).fields.description
            #expect(fields.contains(#""count":20"#) && fields.contains(reader.text))
        }
    }

    /// Runs an agent with a note that has this text.
    private static func with(_ body: String, _ test: (LiveServer) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in
            try await server.live.setSchema(
                "note", #"{"fields":{"title":"register","body":"text","count":"counter"}}"#)
            try await server.live.put("note/a", String(decoding: JSONEncoding.bytes(["body": body]), as: UTF8.self))
            try await test(server)
        }
    }
}

extension LiveServer {
    fileprivate func edit(
        _ version: String, _ unit: TextUnit, _ step: TextSplice, key: String? = nil
    ) async throws -> String {
        try await (key.map { client.once($0) } ?? client).editText(
            try ObjectName(parsing: "note/a"), field: FieldPath(field: "body"),
            TextEdits(version: version, unit: unit, edits: [step]))
    }
}
