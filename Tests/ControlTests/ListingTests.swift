import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import Testing

/// Rows and columns of listings, as a person wants them.
@Suite(.timeLimit(.minutes(20))) struct ListingTests {
    private func lanyard(_ server: LiveServer, _ arguments: String...) async throws -> CommandRun {
        try await CommandRun.lanyard(arguments, socket: server.socketPath)
    }

    @Test func `columns come in the order that was asked for, with or without titles`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "at\u{202E}tic") { peer async throws in
                let run = try await lanyard(server, "peers", "--format", "id,NAME")
                #expect(run.output == "ID       NAME\n\(peer.shortID)  at\u{FFFD}tic\n", "\(run.errors)")
                let bare = try await lanyard(server, "peers", "--format", "state,last-sync", "--no-headers")
                #expect(bare.lines.count == 1 && bare.output.hasPrefix("connected  "), "\(bare.output)")
                #expect(try await lanyard(server, "devices", "--no-headers").lines.count == 2)
                let wrong = try await lanyard(server, "peers", "--format", "name,wieght")
                #expect(wrong.exitCode == 2 && wrong.errors.contains("no column \"wieght\""))
                #expect(wrong.errors.contains("last-sync"))
                #expect(try await lanyard(server, "peers", "--format", "name,,id").exitCode == 2)
            }
        }
    }

    @Test func `rows are kept by the keys of the JSON, for people and for programs`() async throws {
        try await LiveServer.with { server async throws in
            for (stream, count) in [("doors", 1), ("lights", 3), ("locks", 2)] {
                for _ in 0..<count { _ = try await server.client.emit(try JSONText("1"), to: stream) }
            }
            func names(_ conditions: String...) async throws -> [String] {
                let arguments =
                    ["streams", "--format", "name", "--no-headers"] + conditions.flatMap { ["--where", $0] }
                let run = try await CommandRun.lanyard(arguments, socket: server.socketPath)
                #expect(run.exitCode == 0, "\(run.errors)")
                return run.lines
            }
            #expect(try await names("events >= 2") == ["lights", "locks"])
            #expect(try await names("events >= 2", "name prefix li") == ["lights"])
            #expect(try await names("name contains o and not events = 2.0") == ["doors"])
            #expect(try await names("name in [locks, doors]") == ["doors", "locks"])
            #expect(try await names("retainSeconds = null", "latestOnly = false", "events > 2") == ["lights"])
            let json = try await lanyard(server, "streams", "--where", "events=1", "--json")
            #expect((try json.json() as? [[String: Any]])?.compactMap { $0["name"] as? String } == ["doors"])
            let none = try await lanyard(server, "streams", "--where", "events > 9", "--json")
            #expect(none.output == "[]\n" && none.exitCode == 0)
            let wrong = try await lanyard(server, "streams", "--where", "evnts=1")
            #expect(wrong.exitCode == 3 && wrong.errors.contains("events"), "\(wrong.errors)")
            #expect(try await lanyard(server, "streams", "--where", "events").exitCode == 2)
        }
    }

    @Test func `objects show the fields that were asked for`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("note/a", #"{"title":"one","n":1,"long":"x"}"#)
            try await server.live.put("note/b", #"{"title":"\u001b[31m","n":22}"#)
            let run = try await lanyard(server, "list", "note", "--format", "n,title", "--no-headers")
            #expect(run.output == "1   one\n22  \u{FFFD}[31m\n", "\(run.errors)")
            let titled = try await lanyard(server, "list", "note", "--format", "id,title", "--where", "n=1")
            #expect(titled.output == "ID  TITLE\na   one\n")
            #expect(try await lanyard(server, "list", "note", "--count", "--no-headers").exitCode == 2)
        }
    }

    @Test func `attachments, deleted objects, consumers, spaces and conflicts take the same options`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("note/a", "{}")
            try await server.live.put("note/b", "{}")
            try await server.live.attach([1, 2, 3], named: "f", to: "note/a")
            try await server.live.delete("note/b")
            _ = try await server.client.emit(try JSONText("1"), to: "s")
            _ = try await server.client.setConsumer("reader", stream: "s", position: .arrival(0))
            let attached = try await lanyard(
                server, "attachments", "--where", "size = 3", "--format", "name,size", "--no-headers")
            #expect(attached.output == "f  3 B\n", "\(attached.errors)")
            #expect(try await lanyard(server, "deleted", "--format", "id", "--no-headers").output == "b\n")
            let consumers = try await lanyard(server, "consumers", "--format", "name,stream", "--no-headers")
            #expect(consumers.output == "reader  s\n", "\(consumers.errors)")
            #expect(try await lanyard(server, "spaces", "--format", "name", "--no-headers").output == "home\n")
            #expect(try await lanyard(server, "conflicts", "list", "--where", "kind = types").exitCode == 0)
            #expect(try await lanyard(server, "snapshot", "list", "--format", "id").exitCode == 0)
        }
    }

    @Test func `events are kept line by line, and shown as a table if columns are asked for`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await server.client.emit(try JSONText(#"{"at":20}"#), to: "s")
            _ = try await server.client.emit(try JSONText(#"{"at":31}"#), type: "move", to: "s")
            let lines = try await lanyard(server, "events", "s").lines
            let hot = try await lanyard(server, "events", "s", "--where", "payload/at > 25")
            #expect(hot.lines == [lines[1]] && lines.count == 2, "\(hot)")
            let table = try await lanyard(server, "events", "s", "--format", "type,payload")
            #expect(table.output == "TYPE  PAYLOAD\n-     {\"at\":20}\nmove  {\"at\":31}\n", "\(table)")
            let all = try await lanyard(server, "events", "s", "--no-headers")
            #expect(all.lines.count == 2 && all.lines[1].contains("  desk  "), "\(all)")
            #expect(all.lines[1].hasSuffix("  {\"at\":31}"), "\(all)")
            let json = try await lanyard(server, "events", "s", "--format", "type", "--json")
            #expect(json.lines == lines)

            let read = [
                "events", "s", "--consumer", "c", "--where", "type = move", "--format", "payload", "--no-headers",
            ]
            for expected in ["{\"at\":31}\n", ""] {
                let run = try await CommandRun.lanyard(read, socket: server.socketPath)
                #expect(run.exitCode == 0 && run.output == expected, "what is left out counts as read: \(run)")
            }
            let unknown = try await lanyard(server, "events", "s", "--where", "paylod = 1")
            #expect(unknown.exitCode == 3 && unknown.output == "" && unknown.errors.contains("payload"), "\(unknown)")
            #expect(try await lanyard(server, "events", "s", "--format", "size").exitCode == 2)
            #expect(try await lanyard(server, "events", "none", "--where", "type").exitCode == 2)
            for reading in [["--follow"], ["--consumer", "c"]] {
                let arguments = ["events", "s", "--order", "canonical", "--no-headers"] + reading
                let run = try await CommandRun.lanyard(arguments, socket: server.socketPath)
                #expect(run.exitCode == 2 && run.errors.contains("rewinds"), "\(run)")
            }
        }
    }

    @Test func `the first rows of a long listing decide its columns, and all rows come`() async throws {
        try await LiveServer.with { server async throws in
            let events = try (0..<600).map { EventDraft(type: nil, payload: try JSONText("\($0 == 0 ? 100 : $0)")) }
            _ = try await server.live.agent.emit(space: "home", stream: "s", events: events)
            let run = try await lanyard(server, "events", "s", "--format", "payload,type")
            #expect(run.lines.count == 601 && run.lines.filter { $0.hasPrefix("PAYLOAD") }.count == 1)
            #expect(run.lines.dropFirst().allSatisfy { $0.count == "PAYLOAD  -".count }, "\(run)")
            #expect(run.lines.last == "599      -")
        }
    }

    @Test func `the list of an object's changes takes the same options`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("note/a", #"{"n":1,"title":"\u001b[31m"}"#)
            try await server.live.edit("note/a", "n=2")
            try await server.live.attach([1, 2, 3], named: "f", to: "note/a")
            let table = try await lanyard(server, "history", "note/a", "--field", "n", "--format", "did,field,change")
            #expect(
                table.output == "DID      FIELD  CHANGE\ncreated  n      1\nedited   n      1 → 2\n", "\(table)")
            let edited = try await lanyard(
                server, "history", "note/a", "--where", "kind = edited", "--format", "field,change", "--no-headers")
            #expect(edited.output == "n  1 → 2\n", "\(edited)")
            let file = try await lanyard(
                server, "history", "note/a", "--where", "attachment/name = f", "--format", "device,change",
                "--no-headers")
            #expect(file.output == "desk  + f\n", "\(file)")
            let title = try await lanyard(
                server, "history", "note/a", "--where", "field = title", "--format", "change", "--no-headers")
            #expect(title.output == "\u{FFFD}[31m\n")
            let text = try await lanyard(server, "history", "note/a", "--where", "new = 2")
            #expect(text.lines.count == 2 && text.lines[1] == "  n  1 → 2", "\(text)")
            let json = try await lanyard(server, "history", "note/a", "--where", "kind = edited", "--json").json()
            #expect((json as? [[String: Any]])?.compactMap { $0["kind"] as? String } == ["edited"])
            #expect(try await lanyard(server, "history", "note/a", "--where", "knid = edited").exitCode == 3)
            let blame = try await lanyard(server, "history", "note/a", "--field", "n", "--blame", "--no-headers")
            #expect(blame.exitCode == 2 && blame.errors.contains("list of changes"), "\(blame)")
        }
    }
}
