import ControlAPI
import ControlServer
import ReplicatedTypes
import SyncAgent
import Testing

/// An admin looks at what a device wrote beyond its end, and takes what is wanted.
@Suite(.timeLimit(.minutes(20))) struct ReviewTests {
    private func fields(_ live: LiveAgent, _ name: String) async throws -> String {
        let entry = try await live.agent.object(space: "home", try ObjectName(parsing: name))
        return String(decoding: entry.fields.bytes, as: UTF8.self)
    }

    private func accept(_ live: LiveAgent, _ names: String...) async throws -> [AcceptanceResponse.Object] {
        try await live.agent.accept(space: "home", device: "hall", names.map { try ObjectName(parsing: $0) }).objects
    }

    /// Runs `body` with an admin and a device that became a reader while it was away, and wrote on: an edit of `note/a`, `note/b`,
    /// an event.
    private func withReader(_ desk: LiveAgent, _ body: (LiveAgent) async throws -> Void) async throws {
        try await desk.setSchema("note", #"{"fields":{"count":"counter"}}"#)
        try await desk.put("note/a", #"{"count":1,"title":"first"}"#)
        try await desk.withPeer(named: "hall") { hall async throws in
            try await desk.apart(from: hall) {
                try await hall.edit("note/a", "title=second", "count+=3")
                try await hall.put("note/b", #"{"title":"only here"}"#)
                let event = EventDraft(type: "move", payload: try JSONText(#"{"on":true}"#))
                _ = try await hall.agent.emit(space: "home", stream: "lights", events: [event])
                try await desk.edit("note/a", "place=here")
                _ = try await desk.agent.setRole(space: "home", device: hall.device, RoleRequest(role: .reader))
            }
            try await body(hall)
        }
    }

    @Test func `an admin sees what a device wrote after it was made a reader, and takes it once`() async throws {
        try await LiveAgent.with { desk async throws in
            try await withReader(desk) { hall async throws in
                #expect(try await fields(desk, "note/a") == #"{"count":1,"place":"here","title":"first"}"#)
                let page = try await desk.agent.voidWork(space: "home", device: "hall", after: nil, limit: 100)
                #expect(page.device == hall.device && page.name == "hall" && page.next == nil && !page.dropped)
                let objects = page.entries.filter { $0.kind == "object" }
                #expect(objects.map { "\($0.collection ?? "")/\($0.id ?? "")" }.last == "note/b")
                #expect(Set(objects.compactMap(\.action)) == ["edited", "created"])
                #expect(objects.allSatisfy { $0.accepted == false })
                let event = try #require(page.entries.first { $0.kind == "event" })
                #expect(event.stream == "lights" && event.type == "move")
                #expect(event.payload == (try JSONText(#"{"on":true}"#)))

                let taken = try await accept(desk, "note/a", "note/b", "note/none", "note/a")
                #expect(taken.map(\.id) == ["a", "b", "none"])
                #expect(taken.map(\.action) == ["edited", "created", "none"])
                #expect(taken.map(\.code) == [nil, nil, "not_found"])
                #expect(taken[0].fields == ["count", "title"] && taken[1].fields == ["title"])
                #expect(taken[0].version != nil && taken[2].version == nil)
                let merged = #"{"count":4,"place":"here","title":"second"}"#
                #expect(try await fields(desk, "note/a") == merged)
                #expect(try await fields(desk, "note/b") == #"{"title":"only here"}"#)

                let before = try await desk.agent.status(space: nil).spaces[0].changes
                let again = try await accept(desk, "note/a", "note/b")
                #expect(again.map(\.code) == ["already_exists", "already_exists"])
                #expect(try await desk.agent.status(space: nil).spaces[0].changes == before)
                let marked = try await desk.agent.voidWork(space: "home", device: hall.shortID, after: nil, limit: 100)
                #expect(marked.entries.filter { $0.kind == "object" }.allSatisfy { $0.accepted == true })

                try await desk.converge(with: hall)
                #expect(try await fields(hall, "note/a") == merged)
                let refused = await #expect(throws: ControlError.self) { try await accept(hall, "note/a") }
                #expect(refused?.code == .forbidden && refused?.hint.isEmpty == false)
            }
        }
    }

    /// An admin and a device that became a reader while it was away, and wrote on: 600 events to two streams by turns, a schema, and
    /// the setting of a stream.
    private func withSettings(_ desk: LiveAgent, _ body: (LiveAgent) async throws -> Void) async throws {
        try await desk.setSchema("note", #"{"fields":{"count":"counter"},"indexed":["title"]}"#)
        try await desk.withPeer(named: "hall") { hall async throws in
            try await desk.apart(from: hall) {
                for number in 0..<600 {
                    let event = EventDraft(type: nil, payload: try JSONText("\(number)"))
                    let stream = number.isMultiple(of: 2) ? "even" : "odd"
                    _ = try await hall.agent.emit(space: "home", stream: stream, events: [event])
                }
                try await hall.setSchema("note", #"{"fields":{"place":"register"},"indexed":["place","title"]}"#)
                let settings = StreamSettings(latestOnly: true, retention: .seconds(3_600))
                _ = try await hall.agent.setStream(space: "home", stream: "odd", settings: settings)
                try await desk.setSchema("note", #"{"indexed":["title","when"]}"#)
                _ = try await desk.agent.setRole(space: "home", device: hall.device, RoleRequest(role: .reader))
            }
            try await body(hall)
        }
    }

    private func payloads(_ live: LiveAgent, _ stream: String) async throws -> [String] {
        let query = EventQuery(space: "home", stream: stream)
        return try await live.agent.events(query, limit: 1_000).events.map { "\($0.payload)" }
    }

    @Test func `events come in their order and once, schemas and streams as the device set them`() async throws {
        try await LiveAgent.with { desk async throws in
            try await withSettings(desk) { hall async throws in
                #expect(try await payloads(desk, "even").isEmpty)
                func accept(_ others: OtherWork...) async throws -> [AcceptanceResponse.Other] {
                    try await desk.agent.accept(space: "home", device: "hall", [], others: others).others
                }
                // Two at the same time emit them once.
                async let one = accept(.events(of: "even"))
                async let other = accept(.events(of: "even"))
                let counts = try await [one, other].map { $0[0].count }
                #expect(counts.reduce(0, +) == 300, "\(counts)")
                let even = stride(from: 0, to: 600, by: 2).map { "\($0)" }
                #expect(try await payloads(desk, "even") == even)
                #expect(try await accept(.events(of: "even")).map(\.code) == ["already_exists"])
                #expect(try await payloads(desk, "odd").isEmpty)

                let taken = try await accept(.schema(of: "note"), .setting(of: "odd"), .schema(of: "none"))
                #expect(taken.map(\.kind) == ["schema", "stream", "schema"])
                #expect(taken.map(\.code) == [nil, nil, "not_found"], "\(taken)")
                let schema = try await desk.agent.schema(space: "home", collection: "note")
                #expect("\(schema.settingText)".contains(#""place":"register""#), "\(schema)")
                #expect("\(schema.settingText)".contains(#""count":"counter""#), "\(schema)")
                #expect("\(schema.settingText)".contains(#""indexed":["place","title","when"]"#), "\(schema)")
                let odd = try #require(try await desk.agent.streams(space: "home").first { $0.name == "odd" })
                #expect(odd.latestOnly && odd.retainSeconds == 3_600)
                let again = try await accept(.schema(of: "note"), .setting(of: "odd"))
                #expect(again.map(\.code) == ["already_exists", "already_exists"])
                try await desk.converge(with: hall)
                #expect(try await payloads(hall, "even") == even)
                // Made an admin, it sees what of its own work was taken.
                _ = try await desk.agent.setRole(space: "home", device: hall.device, RoleRequest(role: .admin))
                try await desk.converge(with: hall)
                try await hall.until { _ in try await RoleChangeTests.entry(hall, on: hall).role == .admin }
                let own = try await hall.agent.accept(
                    space: "home", device: hall.device, [], others: [.events(of: "even"), .events(of: "odd")])
                #expect(own.others.map(\.count) == [0, 300])
                #expect(own.others.map(\.code) == ["already_exists", nil])
            }
        }
    }

    @Test func `pages join, and a cursor that was not handed out is refused`() async throws {
        try await LiveAgent.with { desk async throws in
            try await withReader(desk) { hall async throws in
                let whole = try await desk.agent.voidWork(space: "home", device: "hall", after: nil, limit: 100)
                var (dots, cursor) = ([DotText](), String?.none)
                repeat {
                    let page = try await desk.agent.voidWork(
                        space: "home", device: "hall", after: cursor, limit: 1)
                    dots += page.entries.map(\.dot)
                    cursor = page.next
                } while cursor != nil
                #expect(dots == whole.entries.map(\.dot) && dots.count >= 3)
                for wrong in ["", "c1-2-3", "9"] {
                    let error = await #expect(throws: ControlError.self) {
                        try await desk.agent.voidWork(space: "home", device: "hall", after: wrong, limit: 1)
                    }
                    #expect(error?.code == .invalidArgument)
                }
                let unknown = await #expect(throws: ControlError.self) {
                    try await desk.agent.voidWork(space: "home", device: "nobody", after: nil, limit: 1)
                }
                #expect(unknown?.code == .unknownDevice)
            }
        }
    }

    @Test func `the commands list the work by object, and take it`() async throws {
        try await LiveServer.with { server async throws in
            func lanyard(_ arguments: String...) async throws -> CommandRun {
                try await CommandRun.lanyard(arguments, socket: server.socketPath)
            }
            try await withReader(server.live) { hall async throws in
                let review = try await lanyard("devices", "review", "hall")
                #expect(review.exitCode == 0, "\(review)")
                #expect(review.lines.contains { $0.hasPrefix("note/a ") && $0.contains("title") }, "\(review)")
                #expect(review.lines.contains { $0.hasPrefix("note/b ") && $0.contains("created") }, "\(review)")
                #expect(review.lines.contains { $0.hasPrefix("lights ") }, "\(review)")
                #expect(review.errors.contains("lanyard devices accept hall note/"), "\(review)")
                let json = try await lanyard("devices", "review", "hall", "--json").json()
                let page = try #require(json as? [String: Any])
                #expect(page["device"] as? String == hall.device && (page["entries"] as? [Any])?.count ?? 0 >= 3)
                let table = try await lanyard("devices", "review", "hall", "--format", "kind,name,accepted")
                #expect(table.lines.first == "KIND    NAME    ACCEPTED", "\(table)")
                #expect(table.lines.contains("object  note/b  no") && table.lines.contains("stream  lights  no"))
                let events = try await lanyard("devices", "review", "hall", "--where", "kind = event")
                #expect(events.lines.map { $0.prefix(6) } == ["STREAM", "lights"], "\(events)")
                #expect(review.errors.contains("lanyard devices accept hall --events lights"), "\(review)")
                let counted = try await lanyard(
                    "devices", "review", "hall", "--where", "type = move", "--format", "name,count", "--no-headers")
                #expect(counted.output == "lights  1\n", "\(counted)")
                let kept = try await lanyard("devices", "review", "hall", "--where", "id = b", "--json").json()
                let entries = (kept as? [String: Any])?["entries"] as? [[String: Any]]
                #expect(entries?.isEmpty == false && entries?.allSatisfy { $0["id"] as? String == "b" } == true)
                #expect(try await lanyard("devices", "review", "hall", "--where", "knid = event").exitCode == 3)
                #expect(try await lanyard("devices", "review", "hall", "--format", "size").exitCode == 2)
                let part = try await lanyard("devices", "review", "hall", "--limit", "1")
                #expect(part.errors.contains("--after"), "\(part)")
                #expect(try await lanyard("devices", "review", "hall", "--limit", "0").exitCode == 2)

                let taken = try await lanyard("devices", "accept", "hall", "note/a", "note/b")
                #expect(taken.exitCode == 0 && taken.output.contains("edited") && taken.output.contains("created"))
                #expect(try await fields(server.live, "note/a").contains("second"))
                // It was taken before: that is no failure.
                let again = try await lanyard("devices", "accept", "hall", "note/a")
                #expect(again.exitCode == 0 && again.output.contains("accepted before"), "\(again)")
                #expect(try await lanyard("devices", "accept", "hall", "note/none").exitCode == 3)
                #expect(try await lanyard("devices", "accept", "hall", "note").exitCode == 2)
                #expect(try await lanyard("devices", "accept", "hall").exitCode == 2)
                let emitted = try await lanyard("devices", "accept", "hall", "--events", "lights")
                #expect(emitted.exitCode == 0 && emitted.output == "lights  1 event emitted\n", "\(emitted)")
                let twice = try await lanyard("devices", "accept", "hall", "--events", "lights")
                #expect(twice.exitCode == 0 && twice.output.contains("accepted before"), "\(twice)")
                let marked = try await lanyard("devices", "review", "hall", "--format", "name,accepted", "--no-headers")
                #expect(marked.lines.contains("lights  yes"), "\(marked)")
                for word in ["no\u{1B}[31mde\u{7}\u{202E}", String(repeating: "n", count: 10_000)] {
                    for kind in ["--events", "--schema", "--setting"] {
                        let refused = try await lanyard("devices", "accept", "hall", kind, word)
                        #expect(refused.exitCode == 3 && refused.errors.contains("lanyard devices review"))
                        let said = (refused.output + refused.errors).unicodeScalars.filter { $0 != "\n" }
                        #expect(said.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) })
                    }
                }
                let nothing = try await lanyard("devices", "accept", "hall", "--events", "none", "--json")
                #expect(nothing.exitCode == 3 && nothing.output.contains(#""code":"not_found""#), "\(nothing)")
            }
        }
    }
}
