import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import Testing

/// All objects of a space as they were at a time.
@Suite(.timeLimit(.minutes(20))) struct RestorePointTests {
    private func lanyard(_ server: LiveServer, _ arguments: String...) async throws -> CommandRun {
        try await CommandRun.lanyard(arguments, socket: server.socketPath)
    }

    private func fields(_ server: LiveServer, _ name: String) async throws -> String? {
        try? await server.client.object(try ObjectName(parsing: name)).fields.description
    }

    /// The time of the newest change of an object, once a later change gets a later one.
    private func timePassed(_ server: LiveServer, _ name: String) async throws -> Timestamp {
        var last: Timestamp?
        try await server.client.readHistory(of: try ObjectName(parsing: name)) { last = $0.last?.time }
        let time = try #require(last)
        while WallClock.milliseconds <= time.millisecondsSinceEpoch { await Task.yield() }
        return time
    }

    @Test func `what was edited, deleted and created since goes back, and what was not stays`() async throws {
        try await LiveServer.with { server async throws in
            // A deletion that an edit can outlive leaves the id free.
            try await server.live.setSchema(
                "note", #"{"fields":{"body":"text","tags":"set"},"deletePolicy":"updateWins"}"#)
            try await server.live.put("note/same", #"{"title":"s"}"#)
            try await server.live.put("note/gone", #"{"title":"g"}"#)
            try await server.live.put("note/edited", #"{"body":"one two","tags":["x"]}"#)
            let time = try await timePassed(server, "note/edited")
            try await server.live.edit("note/edited", "body.insert@0=zero ", "tags.add=y", "new=1")
            try await server.live.delete("note/gone")
            try await server.live.put("other/created", #"{"n":1}"#)
            let before = try await server.client.object(try ObjectName(parsing: "note/same")).version

            let look = try await lanyard(server, "restore-point", "\(time)", "--dry-run")
            #expect(look.exitCode == 0, "\(look.errors)")
            for line in ["  edit    note/edited", "  create  note/gone", "  delete  other/created"] {
                #expect(look.lines.contains(line), "\(look.output)")
            }
            #expect(look.output.contains("3 of 4 objects differed"))
            let unasked = try await lanyard(server, "restore-point", "\(time)", "--json")
            #expect(unasked.exitCode == 2)
            #expect(try await fields(server, "other/created") != nil, "nothing was written")

            let run = try await lanyard(server, "restore-point", "\(time)", "--yes", "--json")
            #expect(run.exitCode == 0, "\(run.errors)")
            let done = try JSONDecoding.value(
                RestorePointResponse.self, from: Array(run.output.utf8), unknownKeys: .ignore)
            #expect(done.count == 3 && done.kept.isEmpty && done.examined == 4)
            #expect(try await fields(server, "note/edited") == #"{"body":"one two","tags":["x"]}"#)
            #expect(try await fields(server, "note/gone") == #"{"title":"g"}"#)
            #expect(try await fields(server, "other/created") == nil)
            #expect(try await server.client.object(try ObjectName(parsing: "note/same")).version == before)
            let again = try await lanyard(server, "restore-point", "\(time)", "--yes")
            #expect(again.exitCode == 0 && again.output.contains("objects were as they are"), "\(again.output)")
        }
    }

    @Test func `what was deleted for good stays, and is named, or comes back under a new id`() async throws {
        try await LiveServer.with { server async throws in
            // A member that does not know of the deletion keeps it from being forgotten.
            try await server.live.withPeer { peer async throws in
                try await server.live.put("note/gone", #"{"title":"g"}"#)
                try await server.live.converge(with: peer)
                let time = try await timePassed(server, "note/gone")
                try await server.live.delete("note/gone")
                let stays = try await lanyard(server, "restore-point", "\(time)", "--yes")
                #expect(stays.exitCode == 0 && stays.output.contains("(--recreate): note/gone."), "\(stays.output)")
                #expect(try await server.client.status().spaces[0].objects == 0)
                let done = try await server.client.restore(to: time, recreate: true)
                let id = try #require(done.objects.first?.newID)
                #expect(try await fields(server, "note/\(id)") == #"{"title":"g"}"#)
            }
        }
    }

    @Test func `the last line says that undo takes back only the last of several changes`() async throws {
        try await LiveServer.with { server async throws in
            for number in 0..<130 { try await server.live.put("note/\(number)", #"{"n":1}"#) }
            let time = try await timePassed(server, "note/129")
            for number in 0..<130 { try await server.live.put("note/\(number)", #"{"n":2}"#) }
            let run = try await lanyard(server, "restore-point", "\(time)", "--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            let last = "130 objects restored in 2 changes; lanyard undo takes back only the last of them."
            #expect(run.lines.contains(last), "\(run.output)")
        }
    }

    @Test func `what is changed while it runs is restored, or named`() async throws {
        try await LiveServer.with { server async throws in
            let count = 400
            for number in 0..<count { try await server.live.put("note/\(number)", #"{"n":1}"#) }
            let time = try await timePassed(server, "note/\(count - 1)")
            for number in 0..<count { try await server.live.put("note/\(number)", #"{"n":2}"#) }
            let name = try ObjectName(parsing: "note/\(count - 1)")
            async let running = server.client.restore(to: time)
            // Once the first window is written, the last is to come.
            while try await fields(server, "note/0") != #"{"n":1}"# { await Task.yield() }
            try await server.live.put("note/\(count - 1)", #"{"n":3}"#)
            let done = try await running
            let isNamed = done.kept.contains { $0.id == name.id && $0.code == "version_mismatch" }
            #expect(isNamed || done.objects.contains { $0.id == name.id }, "\(done.kept)")
        }
    }

    @Test func `it reaches other devices, and goes back behind their changes, too`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer { peer async throws in
                try await server.live.put("note/n", #"{"title":"a"}"#)
                let time = try await timePassed(server, "note/n")
                try await server.live.converge(with: peer)
                try await peer.edit("note/n", "title=b")
                try await server.live.converge(with: peer)
                let done = try await server.client.restore(to: time)
                #expect(done.count == 1)
                try await server.live.converge(with: peer)
                let there = try await peer.agent.object(space: "home", try ObjectName(parsing: "note/n"))
                #expect(there.fields.description == #"{"title":"a"}"#)
            }
        }
    }

    @Test(arguments: ["soon", "2026-02-31 10:00", "2026-13-01 10:00", "99999999d", "12"])
    func `what is no time is refused`(time: String) async throws {
        try await LiveServer.with { server async throws in
            let run = try await CommandRun.lanyard(["restore-point", time, "--yes"], socket: server.socketPath)
            #expect(run.exitCode == 2 && run.errors.contains("is no time"), "\(run.errors)")
        }
    }

    @Test func `a time without milliseconds is one`() async throws {
        try await LiveServer.with { server async throws in
            let run = try await lanyard(server, "restore-point", "2025-11-26T14:00:00Z", "--dry-run")
            #expect(run.exitCode == 0, "\(run.errors)")
        }
    }

    @Test(arguments: Road.allCases) func `the route refuses times that are not over, and names`(road: Road) async throws
    {
        try await road.with { request async throws in
            let path = "/v1/spaces/home/restore-point"
            #expect(try await request("GET", path).code == "invalid_argument")
            #expect(try await request("GET", path + "?time=2200-01-01T00:00:00.000Z").code == "invalid_argument")
            #expect(try await request("POST", path, body: #"{"time":"2200-01-01T00:00:00.000Z"}"#).status == 400)
            #expect(
                try await request("GET", "/v1/spaces/other/restore-point?time=2020-01-01T00:00:00.000Z").code
                    == "unknown_space")
            #expect(try await request("GET", path + "?time=2020-01-01T00:00:00Z").status == 200)
            let empty = try await request("GET", path + "?time=2020-01-01T00:00:00.000Z")
                .value(RestorePointResponse.self)
            #expect(empty.count == 0 && empty.examined == 0)
        }
    }
}
