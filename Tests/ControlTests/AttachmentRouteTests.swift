import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(20))) struct AttachmentRouteTests {
    private static let note = "/v1/spaces/home/collections/note/objects/n"
    private static let all = "/v1/spaces/home/attachments"
    private static let binary = [("Content-Type", "application/octet-stream")]

    private static func withNote(_ road: Road, _ body: (Requester, LiveAgent) async throws -> Void) async throws {
        try await road.withAgent { request, live async throws in
            try await live.put("note/n", "{}")
            try await body(request, live)
        }
    }

    /// 200 KB that do not repeat early.
    private static let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    @Test(arguments: Road.allCases)
    func `bytes are attached, listed, read and detached`(road: Road) async throws {
        try await Self.withNote(road) { request, _ async throws in
            let attached = try await request.send(
                "POST", Self.note + "/attachments?name=a%20b.bin", headers: Self.binary, body: Self.bytes)
            #expect(attached.status == 200)
            let entry = try attached.value(AttachmentEntry.self)
            #expect(entry.record.name == "a b.bin")
            #expect(entry.record.size == 200_000)
            #expect(entry.owner == "note/n" && entry.state == .present)
            let keys = (try JSONSerialization.jsonObject(with: Data(attached.body)) as? [String: Any])?.keys.sorted()
            #expect(
                keys == [
                    "fileName", "hash", "height", "id", "mediaType", "name", "owner", "pinned", "progress", "size",
                    "state", "width",
                ])
            for path in [Self.note + "/attachments", Self.all] {
                #expect(try (try await request("GET", path)).value([AttachmentEntry].self) == [entry])
            }
            #expect(try (try await request("GET", Self.note)).value(ObjectEntry.self).attachments == [entry])
            let one = Self.all + "/" + entry.record.id.prefix(12).lowercased()
            #expect(try (try await request("GET", one)).value(AttachmentEntry.self) == entry)
            let content = try await request("GET", one + "/content")
            #expect(content.body == Self.bytes)
            #expect(content.headers["content-length"] == "200000")
            #expect(content.headers["content-type"] == "application/octet-stream")
            #expect(content.headers["x-content-type-options"] == "nosniff")
            #expect(
                content.headers["content-disposition"]
                    == "attachment; filename=\"a b.bin\"; filename*=UTF-8''a%20b.bin")
            #expect(try await request("DELETE", one).text == #"{"detached":true}"#)
            #expect(try await request("GET", Self.all).text == "[]")
            #expect(try await request("DELETE", one).code == "unknown_attachment")
            // Without attachments an object is as it was put.
            #expect(try await !request("GET", Self.note).text.contains("attachments"))
        }
    }

    @Test(arguments: Road.allCases)
    func `an empty file is an attachment, too`(road: Road) async throws {
        try await Self.withNote(road) { request, _ async throws in
            let attached = try await request.send(
                "POST", Self.note + "/attachments", headers: Self.binary, body: [])
            let record = try attached.value(AttachmentEntry.self).record
            #expect(record.size == 0)
            let content = try await request("GET", Self.all + "/\(record.id)/content")
            #expect(content.status == 200 && content.body.isEmpty)
        }
    }

    @Test(arguments: Road.allCases)
    func `what cannot be attached is refused with a code and what to do`(road: Road) async throws {
        try await Self.withNote(road) { request, live async throws in
            func refused(_ method: String, _ path: String, _ status: Int, _ code: String) async throws {
                let answer = try await request.send(method, path, headers: Self.binary, body: [])
                #expect(answer.status == status && answer.code == code, "\(method) \(path): \(answer.text)")
                #expect(try !answer.value(ErrorResponse.self).controlError.hint.isEmpty)
            }
            // More than there are letters that an id begins with.
            var begun: [String: Int] = [:]
            for number in 0..<33 {
                let entry = try await live.attach([UInt8(number)], named: "\(number)", to: "note/n")
                begun[String(entry.record.id.prefix(1)), default: 0] += 1
            }
            let shared = try #require(begun.first { $0.value > 1 }).key
            try await refused("POST", Self.note + "2/attachments", 404, "not_found")
            try await refused("POST", Self.note + "/attachments?type=png", 400, "invalid_argument")
            let long = String(repeating: "x", count: 1_025)
            try await refused("POST", Self.note + "/attachments?name=\(long)", 400, "invalid_name")
            try await refused("GET", Self.all + "/" + shared, 409, "ambiguous_attachment")
            try await refused("GET", Self.all + "/nothing", 404, "unknown_attachment")
            try await refused("POST", Self.all + "/nothing/fetch", 404, "unknown_attachment")
            try await refused("GET", Self.all + "?after=nonsense", 400, "invalid_argument")
            let far = try await live.attachElsewhere(Self.bytes, named: "far", to: "note/n", on: "kitchen")
            let one = Self.all + "/" + far.record.id
            #expect(try (try await request("GET", one)).value(AttachmentEntry.self).state == .missing)
            try await refused("GET", one + "/content", 404, "not_found")
            let missing = try await request("POST", one + "/fetch")
            #expect(missing.status == 503 && missing.code == "nobody_has")
            #expect(missing.text.contains("kitchen"), "\(missing.text)")
            let streamed = try await request("POST", one + "/fetch", headers: [("Accept", "application/x-ndjson")])
            #expect(streamed.status == 200 && streamed.code == "nobody_has")
        }
    }

    @Test(arguments: Road.allCases)
    func `fetching says how far it is, and ends with the record`(road: Road) async throws {
        try await Self.withNote(road) { request, live async throws in
            _ = try await live.agent.setSpace("home", SpaceSettings(fetch: .onDemand))
            try await live.withPeer(named: "kitchen") { peer async throws in
                let there = try await peer.attach(Self.bytes, named: "far", to: "note/n")
                try await live.converge(with: peer)
                let answer = try await request(
                    "POST", Self.all + "/\(there.record.id)/fetch", headers: [("Accept", "application/x-ndjson")])
                let lines = try answer.body.split(separator: 0x0A).map {
                    try JSONDecoding.value(ProgressLine<AttachmentEntry>.self, from: Array($0), unknownKeys: .refuse)
                }
                guard case .result(let entry)? = lines.last else { throw Missing() }
                #expect(entry.state == .present && entry.record == there.record)
                for line in lines.dropLast() {
                    guard case .progress(let progress) = line else { throw Missing() }
                    #expect(progress.doneBytes <= 200_000 && progress.totalBytes == 200_000)
                }
                let content = try await request("GET", Self.all + "/\(there.record.id)/content")
                #expect(content.body == Self.bytes)
            }
        }
    }

    private struct Missing: Error {}

    @Test(arguments: Road.allCases)
    func `pins, policies and quotas are set, and compacting says what it freed`(road: Road) async throws {
        try await Self.withNote(road) { request, live async throws in
            let id = try await live.attach([1], named: "one", to: "note/n").record.id
            #expect(try (try await request("PUT", Self.all + "/\(id)/pin")).value(AttachmentEntry.self).pinned)
            #expect(try !(try await request("DELETE", Self.all + "/\(id)/pin")).value(AttachmentEntry.self).pinned)
            let set = try await request(
                "PUT", "/v1/spaces/home", body: #"{"fetch":{"policy":"up-to","size":1024},"quota":5}"#)
            #expect(try set.value(SpaceEntry.self).fetch == .upTo(1_024))
            #expect(try (try await request("GET", "/v1/spaces/home")).value(SpaceEntry.self).quota == 5)
            let open = try await request("PUT", "/v1/spaces/home", body: #"{"quota":null}"#)
            #expect(try open.value(SpaceEntry.self).quota == nil)
            #expect(try open.value(SpaceEntry.self).fetch == .upTo(1_024))
            for bad in ["{}", #"{"fetch":{"policy":"some"}}"#, #"{"fetch":{"policy":"up-to"}}"#] {
                #expect(try await request("PUT", "/v1/spaces/home", body: bad).code == "invalid_argument")
            }
            #expect(try await request("GET", "/v1/spaces/other").code == "unknown_space")
            // The agent sweeps at its start, on another thread; what comes after this is left for the next sweep.
            _ = try await live.agent.compact()
            // Left over from a run that crashed.
            let stray = live.directory + "/blobs/1-1.adding"
            #expect(FileManager.default.createFile(atPath: stray, contents: Data(count: 5_000)))
            let freed = try (try await request("POST", "/v1/compact")).value(CompactResponse.self)
            #expect(freed.strayFiles == 1 && freed.blobs == 0, "\(freed)")
            #expect(freed.changes == 0 && freed.freedBytes >= 5_000, "\(freed)")
            #expect(!FileManager.default.fileExists(atPath: stray))
        }
    }

    // MARK: Over a socket only

    @Test func `a sparse giant is refused by what it says before a byte of it is read`() async throws {
        struct Untouchable: AsyncSequence, AsyncIteratorProtocol, Sendable {
            func makeAsyncIterator() -> Untouchable { self }
            func next() async throws -> [UInt8]? {
                Issue.record("a byte was asked for")
                return nil
            }
        }
        try await LiveServer.with { server async throws in
            let name = try ObjectName(parsing: "note/n")
            _ = try await server.client.put(ObjectPut(collection: "note", id: "n", fields: try JSONText("{}")))
            _ = try await server.client.setSpace("home", SpaceSettings(quota: .bytes(1 << 30)))
            let error = await #expect(throws: ControlError.self) {
                try await server.client.attach(Untouchable(), AttachRequest(to: name, size: 10 << 30))
            }
            #expect(error?.code == .quotaExceeded)
            #expect(error?.message.contains("10 GiB are needed, and 0 B of 1.0 GiB are used") == true)
            let beyond = await #expect(throws: ControlError.self) {
                try await server.client.attach(Untouchable(), AttachRequest(to: name, size: (16 << 30) + 1))
            }
            #expect(beyond?.code == .tooLarge)
            #expect(try await Self.count(server) == 0)
        }
    }

    @Test func `a source that fails in the middle attaches nothing, and its error comes back`() async throws {
        struct Failing: AsyncSequence, AsyncIteratorProtocol, Sendable {
            var given = 0
            func makeAsyncIterator() -> Failing { self }
            mutating func next() async throws -> [UInt8]? {
                given += 1
                if given > 3 { throw ControlError.fileChanged }
                return [UInt8](repeating: 7, count: 1_000)
            }
        }
        try await LiveServer.with { server async throws in
            let name = try ObjectName(parsing: "note/n")
            _ = try await server.client.put(ObjectPut(collection: "note", id: "n", fields: try JSONText("{}")))
            for size in [nil, 10_000] as [UInt64?] {
                let error = await #expect(throws: ControlError.self) {
                    try await server.client.attach(Failing(), AttachRequest(to: name, size: size))
                }
                #expect(error?.code == .fileChanged)
            }
            #expect(try await Self.count(server) == 0)
        }
    }

    private static func count(_ server: LiveServer) async throws -> Int {
        var count = 0
        try await server.client.listAttachments { count += $0.count }
        return count
    }

    @Test func `what is damaged in the middle never passes for the whole`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("note/n", "{}")
            // Three chunks, each with a hash of its own.
            let bytes = Self.bytes + Self.bytes.reversed() + Self.bytes
            let middle = try await server.live.attach(bytes, named: "middle", to: "note/n")
            try server.live.damage(middle, at: 400_000)
            var read = 0
            let error = await #expect(throws: ControlError.self) {
                try await server.client.readAttachment(middle.record.id) { read += $0.count }
            }
            #expect(error?.code == .damaged)
            #expect(read < bytes.count)
            let head = try await server.live.attach(bytes.reversed(), named: "head", to: "note/n")
            try server.live.damage(head, at: 0)
            let answer = try await RawSocket.exchange(
                server.socketPath,
                Array(
                    "GET \(Self.all)/\(head.record.id)/content HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n".utf8))
            #expect(answer.status == 500 && answer.code == "damaged")
        }
    }

    @Test func `a body may come without its length, and many pages are read as lines`() async throws {
        try await LiveServer.with { server async throws in
            let name = try ObjectName(parsing: "note/n")
            _ = try await server.client.put(ObjectPut(collection: "note", id: "n", fields: try JSONText("{}")))
            let chunks = AsyncStream<[UInt8]> { continuation in
                for start in stride(from: 0, to: Self.bytes.count, by: 999) {
                    continuation.yield(Array(Self.bytes[start..<min(start + 999, Self.bytes.count)]))
                }
                continuation.finish()
            }
            let entry = try await server.client.attach(chunks, AttachRequest(to: name, name: "piped"))
            #expect(entry.record.size == 200_000)
            var read: [UInt8] = []
            try await server.client.readAttachment(entry.record.id) { read += $0 }
            #expect(read == Self.bytes)
            for number in 0..<2_100 { try await server.live.attach([], named: "\(number)", to: "note/n") }
            var names: [String] = []
            try await server.client.listAttachments(of: name) { names += $0.map(\.record.name) }
            #expect(names == (0..<2_100).reversed().map(String.init) + ["piped"])
        }
    }

    @Test func `a deep look says how far it is`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("note/n", "{}")
            try await server.live.attach(Self.bytes, named: "one", to: "note/n")
            var told: [ByteProgress] = []
            let checks = try await server.client.deepDoctorChecks { told.append($0) }
            #expect(checks.map(\.check).contains("attachments") && checks.allSatisfy { $0.state != .failed })
            #expect(checks.first { $0.check == "attachments" }?.detail.hasPrefix("1 blobs") == true)
            #expect(!told.isEmpty && told.allSatisfy { $0.doneBytes <= 200_000 && $0.totalBytes == 200_000 })
        }
    }
}
