import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(20))) struct WatchTests {
    private struct Stop: Error {}

    @Test func `a watch sees what comes, and goes on behind a position`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("note/old", "{}")
            let (seen, see) = AsyncStream<ObjectChange>.makeStream()
            let (started, start) = AsyncStream<Void>.makeStream()
            let watcher = Task {
                try await server.client.watchObjects("note", onStart: { _ in start.finish() }) { changes in
                    for change in changes { see.yield(change) }
                }
            }
            for await _ in started {}
            try await server.live.put("tag/t", "{}")
            try await server.live.put("note/n", #"{"a":1}"#)
            var changes = seen.makeAsyncIterator()
            let first = try #require(await changes.next())
            #expect(first.id == "n" && first.fields?.description == #"{"a":1}"#)
            try await server.client.delete(try ObjectName(parsing: "note/n"))
            let second = try #require(await changes.next())
            #expect(second.deleted && second.fields == nil && second.version == nil)
            watcher.cancel()
            _ = try? await watcher.value
            var all: [String] = []
            var begin: UInt64?
            _ = try? await server.client.watchObjects(after: 0, onStart: { begin = $0 }) {
                all += $0.map(\.id)
                throw Stop()
            }
            #expect(all == ["old", "t", "n"])
            #expect(begin == 0)
        }
    }

    @Test func `a browser can watch and come back`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("c/a", "{}")
            let position = try await server.live.agent.objectPosition(space: "home")
            try await server.live.put("c/b", "{}")
            let next = try await server.live.agent.objectPosition(space: "home")
            let watch = try RawSocket.connected(server.socketPath)
            defer { close(watch) }
            let request = "GET /v1/spaces/home/watch HTTP/1.1\r\nHost: x\r\nLast-Event-ID: \(position)\r\n\r\n"
            let text = try await RawSocket.text(watch, Array(request.utf8), until: "\n\n")
            #expect(text.contains("text/event-stream"))
            #expect(text.contains("id: \(next)\ndata: {\"position\":\(next),\"id\":\"b\""))
            #expect(!text.contains("\"id\":\"a\""))
        }
    }

    @Test func `conflicts are watched`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer { peer async throws in
                let (counts, see) = AsyncStream<Int>.makeStream()
                let watcher = Task { try await server.client.watchConflicts { see.yield($0.count) } }
                var iterator = counts.makeAsyncIterator()
                #expect(await iterator.next() == 0)
                try await server.live.makeUndecided("b", with: peer)
                #expect(await iterator.next() == 1)
                try await server.client.resolve(try ObjectName(parsing: "note/b"), .keep)
                #expect(await iterator.next() == 0)
                watcher.cancel()
                _ = try? await watcher.value
            }
        }
    }

    @Test func `the client reads lists of any length, and puts what it read`() async throws {
        try await LiveServer.with { server async throws in
            let lines = (0..<5_000).map { "{\"id\":\"n\($0)\",\"n\":\($0)}\n" }.joined()
            let (chunks, send) = AsyncStream<[UInt8]>.makeStream()
            send.yield(Array(lines.utf8))
            send.finish()
            #expect(try await server.client.putLines(chunks, to: "note").count == 5_000)
            var all: [ObjectEntry] = []
            try await server.client.listObjects("note") { all += $0 }
            #expect(all.count == 5_000)
            var some: [ObjectEntry] = []
            try await server.client.listObjects("note", where: try ObjectCondition(parsing: "n=7"), limit: 3) {
                some += $0
            }
            #expect(some.map(\.id) == ["n7"])
            let (again, put) = AsyncStream<[UInt8]>.makeStream()
            for object in all { put.yield(JSONEncoding.bytes(object) + [0x0A]) }
            put.finish()
            #expect(try await server.client.putLines(again, to: "note").count == 5_000)
            var after: [ObjectEntry] = []
            try await server.client.listObjects("note") { after += $0 }
            // Nothing was different, so nothing was written.
            #expect(after == all)
        }
    }

    @Test func `the client performs transactions`() async throws {
        try await LiveServer.with { server async throws in
            let name = try ObjectName(parsing: "note/a")
            let answer = try await server.client.perform(
                try Transaction([
                    .put(try ObjectPut(collection: "note", id: "a", fields: try JSONText("{}"), condition: .absent)),
                    .edit(try ObjectEdit(name, [try EditOperation(parsing: "n+=1")])), .delete(name, ifVersion: nil),
                    .emit(stream: "s", EventDraft(type: nil, payload: try JSONText("1"))),
                ]))
            #expect(answer.results.count == 4)
            #expect(answer.results[2] == .delete(true))
        }
    }
}
