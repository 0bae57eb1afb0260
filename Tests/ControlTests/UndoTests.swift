import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import Testing

/// The newest change of a device, undone.
@Suite(.timeLimit(.minutes(20))) struct UndoTests {
    private func lanyard(_ server: LiveServer, _ arguments: String...) async throws -> CommandRun {
        try await CommandRun.lanyard(arguments, socket: server.socketPath)
    }

    private func fields(_ server: LiveServer, _ name: String) async throws -> [String: Any] {
        let object = try await server.client.object(try ObjectName(parsing: name))
        let fields = try JSONSerialization.jsonObject(with: Data(object.fields.bytes))
        return try #require(fields as? [String: Any])
    }

    private func code(_ run: CommandRun) -> String? {
        (try? JSONDecoding.value(ErrorResponse.self, from: Array(run.errors.utf8), unknownKeys: .ignore))?
            .controlError.code.rawValue
    }

    @Test func `an edit is undone field by field, with a look before it, and done again by the next undo`() async throws
    {
        try await LiveServer.with { server async throws in
            try await server.live.setSchema("note", #"{"fields":{"body":"text","tags":"set","n":"counter"}}"#)
            try await server.live.put("note/n", #"{"title":"a","body":"one two","tags":["x"],"n":1}"#)
            try await server.live.edit("note/n", "title=b", "body.insert@0=zero ", "tags.add=y", "n+=4", "new=1")
            // Events are no changes to objects.
            _ = try await server.client.emit(try JSONText("1"), to: "s")
            let look = try await lanyard(server, "undo", "--dry-run")
            #expect(look.exitCode == 0, "\(look.errors)")
            #expect(look.output.hasPrefix("Would undo the change of ") && look.output.contains("note/n"))
            #expect(try await fields(server, "note/n")["title"] as? String == "b", "nothing was written")

            let run = try await lanyard(server, "undo")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.hasPrefix("Undone: the change of "))
            let old = try await fields(server, "note/n")
            #expect(old["title"] as? String == "a" && old["body"] as? String == "one two" && old["n"] as? Int == 1)
            #expect(old["tags"] as? [String] == ["x"] && old["new"] == nil)
            #expect(try await lanyard(server, "undo").exitCode == 0)
            let again = try await fields(server, "note/n")
            #expect(again["title"] as? String == "b" && again["body"] as? String == "zero one two")
            #expect(again["n"] as? Int == 5)
        }
    }

    @Test func `of a transaction all objects are undone, and what it created is deleted after a question`() async throws
    {
        try await LiveServer.with { server async throws in
            try await server.live.put("note/a", #"{"n":1}"#)
            try await server.live.put("note/c", #"{"n":1}"#)
            func put(_ id: String) throws -> ObjectPut {
                try ObjectPut(collection: "note", id: id, fields: try JSONText(#"{"n":2}"#))
            }
            _ = try await server.live.agent.perform(
                try Transaction([.put(try put("a")), .put(try put("b"))]))
            let refused = try await lanyard(server, "undo", "--json")
            #expect(refused.exitCode == 2, "without a terminal nothing is deleted unasked")
            #expect(try await fields(server, "note/a")["n"] as? Int == 2)
            let run = try await lanyard(server, "undo", "--yes", "--json")
            #expect(run.exitCode == 0, "\(run.errors)")
            let answer = try JSONDecoding.value(UndoResponse.self, from: Array(run.output.utf8), unknownKeys: .ignore)
            #expect(answer.objects.map(\.id).sorted() == ["a", "b"])
            #expect(answer.objects.first { $0.id == "b" }?.action == .delete)
            #expect(try await fields(server, "note/a")["n"] as? Int == 1)
            #expect(try await lanyard(server, "get", "note/b").exitCode != 0)
            #expect(try await fields(server, "note/c")["n"] as? Int == 1)
        }
    }

    @Test func `what another device has edited since is not undone, and other objects of others do not matter`()
        async throws
    {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "at\u{202E}tic") { peer async throws in
                try await server.live.put("note/n", #"{"title":"a"}"#)
                try await server.live.put("note/n", #"{"title":"b"}"#)
                try await server.live.converge(with: peer)
                try await peer.put("note/other", #"{"title":"theirs"}"#)
                try await server.live.converge(with: peer)
                #expect(try await lanyard(server, "undo", "--dry-run").output.contains("note/n"))
                try await peer.edit("note/n", "title=c")
                try await server.live.converge(with: peer)
                let run = try await lanyard(server, "undo", "--json")
                #expect(run.exitCode == 4 && code(run) == "version_mismatch", "\(run.errors)")
                let text = try await lanyard(server, "undo")
                #expect(text.errors.contains("at\u{FFFD}tic has changed note/n"), "\(text.errors)")
                #expect(try await fields(server, "note/n")["title"] as? String == "c")
            }
        }
    }

    @Test func `nothing, a deletion, and a file are refused with a sentence each`() async throws {
        try await LiveServer.with { server async throws in
            let none = try await lanyard(server, "undo", "--json")
            #expect(none.exitCode == 3 && code(none) == "not_found")
            try await server.live.put("note/n", #"{"title":"a"}"#)
            try await server.live.attach([1], named: "f", to: "note/n")
            let file = try await lanyard(server, "undo", "--yes")
            #expect(file.exitCode == 4 && file.errors.contains("lanyard detach"), "\(file.errors)")
            try await server.live.delete("note/n")
            let deletion = try await lanyard(server, "undo", "--yes")
            #expect(deletion.exitCode == 4 && deletion.errors.contains("lanyard history note/n"), "\(deletion.errors)")
        }
    }

    @Test(arguments: Road.allCases) func `only the change that was looked at is undone`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            try await live.put("note/n", #"{"n":1}"#)
            try await live.put("note/n", #"{"n":2}"#)
            let seen = try await request("GET", "/v1/spaces/home/undo").value(UndoResponse.self)
            try await live.put("note/n", #"{"n":3}"#)
            let late = try await request("POST", "/v1/spaces/home/undo", body: #"{"version":"\#(seen.version)"}"#)
            #expect(late.code == "version_mismatch")
            let now = try await request("GET", "/v1/spaces/home/undo").value(UndoResponse.self)
            let undone = try await request("POST", "/v1/spaces/home/undo", body: #"{"version":"\#(now.version)"}"#)
            #expect(try undone.value(UndoResponse.self).objects.first?.complete == true)
            #expect(try await request("POST", "/v1/spaces/home/undo", body: "{}").status == 400)
            #expect(try await request("GET", "/v1/spaces/other/undo").code == "unknown_space")
        }
    }
}
