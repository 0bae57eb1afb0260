import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

/// Live queries through the socket: the differences that a client is given lead to what a list shows.
@Suite(.timeLimit(.minutes(20))) struct LiveQueryTests {
    /// A follower's stream ended.
    private struct Stop: Error {}

    /// A live query that is followed, and the list that its differences make.
    private struct Follower {
        let differences: AsyncStream<QueryDifference>
        let task: Task<Void, any Error>
        var objects: [ObjectEntry] = []

        init(
            _ server: LiveServer, _ condition: String? = nil, sort: [String] = [], limit: Int? = nil,
            after position: String? = nil, knowing objects: [ObjectEntry] = []
        ) throws {
            let (differences, see) = AsyncStream<QueryDifference>.makeStream()
            self.differences = differences
            self.objects = objects
            let parsed = try condition.map { text throws(ControlError) in try ObjectCondition(parsing: text) }
            let order = try ListOrder(parsing: sort)
            task = Task {
                defer { see.finish() }
                try await server.client.followObjects(
                    "task", where: parsed, order: order, limit: limit, after: position
                ) { see.yield($0) }
            }
        }

        mutating func next() async throws -> QueryDifference {
            for await difference in differences {
                difference.apply(to: &objects)
                return difference
            }
            try await task.value
            throw Stop()
        }

        /// Waits until the list is this.
        mutating func shows(_ ids: [String]) async throws {
            while objects.map(\.id) != ids { _ = try await next() }
        }

        func end() async {
            task.cancel()
            _ = try? await task.value
        }
    }

    @Test func `a follower is given the list, and then what changes in it`() async throws {
        try await LiveServer.with { server async throws in
            for (id, prio) in [("a", 3), ("b", 1), ("c", 2)] {
                try await server.live.put("task/\(id)", "{\"prio\":\(prio),\"done\":false}")
            }
            var follower = try Follower(server, "done = false and prio < 9", sort: ["prio desc"], limit: 3)
            let first = try await follower.next()
            #expect(first.isReset && first.placed.map(\.index) == [0, 1, 2] && !first.position.isEmpty)
            #expect(follower.objects.map(\.id) == ["a", "c", "b"])
            try await server.live.put("other/x", #"{"prio":1,"done":false}"#)
            try await server.live.put("task/b", #"{"prio":5}"#)
            let moved = try await follower.next()
            #expect(moved.placed.map(\.kind) == [.moved] && moved.placed.map(\.index) == [0])
            try await server.live.put("task/c", #"{"text":"x"}"#)
            #expect(try await follower.next().placed.map(\.kind) == [.changed])
            #expect(follower.objects[2].fields.description.contains(#""text":"x""#))
            try await server.live.put("task/d", #"{"prio":4,"done":false}"#)
            let pushed = try await follower.next()
            #expect(pushed.removed == ["c"] && pushed.placed.map(\.kind) == [.inserted])
            try await server.client.delete(try ObjectName(parsing: "task/b"))
            let filled = try await follower.next()
            #expect(filled.removed == ["b"] && filled.placed.map(\.object.id) == ["c"])
            #expect(follower.objects.map(\.id) == ["d", "a", "c"])
            await follower.end()
        }
    }

    @Test func `many writers and followers of all kinds end with what a list shows`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("task/first", #"{"n":0}"#)
            var followers = [
                try Follower(server), try Follower(server, "n < 50", sort: ["n desc", "t"]),
                try Follower(server, "t in [x, y] or n = 3", sort: ["created"], limit: 7),
                try Follower(server, sort: ["changed desc"], limit: 1),
            ]
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        for n in 0..<40 {
                            let id = "\(writer)-\(n % 10)"
                            try? await server.live.put(
                                "task/\(id)", "{\"n\":\(n * 3),\"t\":\"\(n % 3 == 0 ? "x" : "z")\"}")
                            if n % 15 == 14 {
                                _ = try? await server.client.delete(try ObjectName(parsing: "task/\(id)"))
                            }
                        }
                    }
                }
            }
            func list(_ condition: String?, _ sort: [String], _ limit: Int?) async throws -> [ObjectEntry] {
                var found: [ObjectEntry] = []
                try await server.client.listObjects(
                    "task",
                    where: try condition.map { text throws(ControlError) in try ObjectCondition(parsing: text) },
                    order: try ListOrder(parsing: sort), limit: limit
                ) { found += $0 }
                return found
            }
            let expected = [
                try await list(nil, [], nil), try await list("n < 50", ["n desc", "t"], nil),
                try await list("t in [x, y] or n = 3", ["created"], 7), try await list(nil, ["changed desc"], 1),
            ]
            for index in followers.indices {
                while followers[index].objects != expected[index] { _ = try await followers[index].next() }
                await followers[index].end()
            }
        }
    }

    @Test func `a follower goes on behind a position, and with another question begins anew`() async throws {
        try await LiveServer.with { server async throws in
            for id in ["a", "b", "c"] { try await server.live.put("task/\(id)", #"{"done":false}"#) }
            var follower = try Follower(server, "done = false")
            let position = try await follower.next().position
            let known = follower.objects
            await follower.end()
            try await server.live.put("task/a", #"{"done":true}"#)
            try await server.live.put("task/d", #"{"done":false}"#)
            try await server.client.delete(try ObjectName(parsing: "task/b"))
            var again = try Follower(server, "done = false", after: position, knowing: known)
            let missed = try await again.next()
            #expect(
                !missed.isReset && missed.removed.sorted() == ["a", "b"] && missed.placed.map(\.object.id) == ["d"])
            #expect(again.objects.map(\.id) == ["c", "d"])
            try await server.live.put("task/e", #"{"done":false}"#)
            try await again.shows(["c", "d", "e"])
            await again.end()
            for (condition, after) in [("done = true", position), ("done = false", "0-other")] {
                var other = try Follower(server, condition, after: after, knowing: known)
                #expect(try await other.next().isReset)
                await other.end()
            }
            try await server.live.setSchema("task", #"{"fields":{"n":"counter"}}"#)
            var changed = try Follower(server, "done = false", after: position, knowing: known)
            #expect(try await changed.next().isReset, "objects read differently with another schema")
            await changed.end()
        }
    }

    @Test func `a new schema shows the list anew to who follows it`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("task/a", #"{"n":1}"#)
            var follower = try Follower(server)
            _ = try await follower.next()
            try await server.live.setSchema("task", #"{"indexed":["n"]}"#)
            #expect(try await follower.next().isReset)
            #expect(follower.objects.map(\.id) == ["a"])
            await follower.end()
        }
    }

    @Test func `a browser is told where to go on`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("task/a", #"{"n":1}"#)
            func first(_ header: String) async throws -> String {
                let socket = try RawSocket.connected(server.socketPath)
                defer { close(socket) }
                let request = "GET /v1/spaces/home/collections/task/live HTTP/1.1\r\nHost: x\r\n\(header)\r\n"
                return try await RawSocket.text(socket, Array(request.utf8), until: "\"complete\"")
            }
            let text = try await first("")
            #expect(text.contains("data: {\"kind\":\"reset\"}\n\n"))
            #expect(text.contains("data: {\"kind\":\"inserted\",\"index\":0,\"object\":{\"id\":\"a\""))
            let id = try #require(text.split(separator: "id: ").last?.split(separator: "\n").first)
            let again = try await first("Last-Event-ID: \(id)\r\n")
            #expect(!again.contains("reset") && again.contains("id: \(id)"))
        }
    }

    @Test func `a follower that does not read holds nobody up, and is given the end of it`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("task/a", #"{"n":0}"#)
            let slow = try RawSocket.connected(server.socketPath)
            defer { close(slow) }
            let request =
                "GET /v1/spaces/home/collections/task/live HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\n\r\n"
            _ = try await RawSocket.text(slow, Array(request.utf8), until: "\"complete\"")
            var quick = try Follower(server)
            _ = try await quick.next()
            // More than any buffer of a socket holds.
            let text = String(repeating: "x", count: 100_000)
            for n in 1...200 {
                try await server.live.put("task/a", "{\"n\":\(n),\"text\":\"\(text)\"}")
            }
            while quick.objects.first?.fields.description.contains(#""n":200"#) != true { _ = try await quick.next() }
            await quick.end()
            let rest = try await RawSocket.text(slow, [], until: #""n":200"#)
            #expect(rest.split(separator: "\n").filter { $0.contains(#""kind":"changed""#) }.count < 200)
        }
    }

    @Test func `what is wrong is said before the answer begins`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("task/a", "{}")
            for (collection, condition, position, code) in [
                ("none", nil, nil, "unknown_collection"), ("task", nil, "x", "invalid_argument"),
                ("task", String(repeating: "(", count: 40) + "a=1", nil, "too_deep"),
            ] as [(String, String?, String?, String)] {
                var path = "/v1/spaces/home/collections/\(collection)/live?limit=5"
                if let condition { path += "&where=\(condition)" }
                if let position { path += "&after=\(position)" }
                let socket = try RawSocket.connected(server.socketPath)
                defer { close(socket) }
                let text = try await RawSocket.text(
                    socket, Array("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n".utf8), until: "\"hint\"")
                #expect(text.contains("\"code\":\"\(code)\""), "\(path)")
            }
        }
    }
}
