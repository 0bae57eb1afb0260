import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(5))) struct AttachmentRouteTests {
    private static let note = "/v1/spaces/home/collections/note/objects/n"
    private static let all = "/v1/spaces/home/attachments"
    private static let binary = [("Content-Type", "application/octet-stream")]

    private static func withNote(_ road: Road, _ body: (Requester, MemoryAgent) async throws -> Void) async throws {
        let agent = MemoryAgent()
        try await road.with(agent) { request async throws in
            _ = try await request("PUT", Self.note, body: "{}")
            try await body(request, agent)
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
            #expect(try (try await request("GET", Self.all + "/a1")).value(AttachmentEntry.self) == entry)
            let content = try await request("GET", Self.all + "/A1/content")
            #expect(content.body == Self.bytes)
            #expect(content.headers["content-length"] == "200000")
            #expect(content.headers["content-type"] == "application/octet-stream")
            #expect(content.headers["x-content-type-options"] == "nosniff")
            #expect(
                content.headers["content-disposition"]
                    == "attachment; filename=\"a b.bin\"; filename*=UTF-8''a%20b.bin")
            #expect(try await request("DELETE", Self.all + "/A1").text == #"{"detached":true}"#)
            #expect(try await request("GET", Self.all).text == "[]")
            #expect(try await request("DELETE", Self.all + "/A1").code == "unknown_attachment")
            // Without attachments an object is as it was put.
            #expect(try await !request("GET", Self.note).text.contains("attachments"))
        }
    }

    @Test(arguments: Road.allCases)
    func `an empty file is an attachment, too`(road: Road) async throws {
        try await Self.withNote(road) { request, _ async throws in
            let attached = try await request.send(
                "POST", Self.note + "/attachments", headers: Self.binary, body: [])
            #expect(try attached.value(AttachmentEntry.self).record.size == 0)
            let content = try await request("GET", Self.all + "/A1/content")
            #expect(content.status == 200 && content.body.isEmpty)
        }
    }

    @Test(arguments: Road.allCases)
    func `what cannot be attached is refused with a code and what to do`(road: Road) async throws {
        try await Self.withNote(road) { request, agent async throws in
            _ = await agent.attach([1], named: "one", to: try ObjectName(parsing: "note/n"))
            _ = await agent.attach([2], named: "two", to: try ObjectName(parsing: "note/n"))
            func refused(_ method: String, _ path: String, _ status: Int, _ code: String) async throws {
                let answer = try await request.send(method, path, headers: Self.binary, body: [])
                #expect(answer.status == status && answer.code == code, "\(method) \(path): \(answer.text)")
                #expect(try !answer.value(ErrorResponse.self).controlError.hint.isEmpty)
            }
            try await refused("POST", Self.note + "2/attachments", 404, "not_found")
            try await refused("POST", Self.note + "/attachments?type=png", 400, "invalid_argument")
            let long = String(repeating: "x", count: 1_025)
            try await refused("POST", Self.note + "/attachments?name=\(long)", 400, "invalid_name")
            try await refused("GET", Self.all + "/A", 409, "ambiguous_attachment")
            try await refused("GET", Self.all + "/Z", 404, "unknown_attachment")
            try await refused("POST", Self.all + "/Z/fetch", 404, "unknown_attachment")
            try await refused("GET", Self.all + "?after=nonsense", 400, "invalid_argument")
            await agent.loseNewest()
            try await refused("GET", Self.all + "/A2/content", 404, "not_found")
            let nobody = try await request("POST", Self.all + "/A2/fetch")
            #expect(nobody.status == 503 && nobody.code == "nobody_has")
            #expect(nobody.text.contains("kitchen had them last (5 min ago)"))
        }
    }

    @Test(arguments: Road.allCases)
    func `fetching says how far it is, and ends with the record`(road: Road) async throws {
        try await Self.withNote(road) { request, agent async throws in
            let name = try ObjectName(parsing: "note/n")
            let there = await agent.attach(Self.bytes, named: "far", to: name, elsewhere: true)
            #expect(there.state == .missing)
            let answer = try await request(
                "POST", Self.all + "/A1/fetch", headers: [("Accept", "application/x-ndjson")])
            let lines = try answer.body.split(separator: 0x0A).map {
                try JSONDecoding.value(ProgressLine<AttachmentEntry>.self, from: Array($0), unknownKeys: .refuse)
            }
            #expect(
                lines.first == .progress(ByteProgress(doneBytes: 100_000, totalBytes: 200_000, bytesPerSecond: 1_000)))
            guard case .result(let entry)? = lines.last else { throw Missing() }
            #expect(entry.state == .present && lines.count == 2)
            await agent.loseNewest()
            let lost = try await request(
                "POST", Self.all + "/A1/fetch", headers: [("Accept", "application/x-ndjson")])
            #expect(lost.status == 200 && lost.code == "nobody_has")
        }
    }

    private struct Missing: Error {}

    @Test(arguments: Road.allCases)
    func `pins, policies and quotas are set, and compacting says what it freed`(road: Road) async throws {
        try await Self.withNote(road) { request, agent async throws in
            _ = await agent.attach([1], named: "one", to: try ObjectName(parsing: "note/n"))
            #expect(try (try await request("PUT", Self.all + "/A1/pin")).value(AttachmentEntry.self).pinned)
            #expect(try (try await request("DELETE", Self.all + "/A1/pin")).value(AttachmentEntry.self).pinned == false)
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
            let freed = #"{"freedBytes":3145728,"blobs":2,"strayFiles":1,"changes":0}"#
            #expect(try await request("POST", "/v1/compact").text == freed)
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
            #expect(await server.agent.attachments.stored.isEmpty)
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
            #expect(await server.agent.attachments.stored.isEmpty)
        }
    }

    @Test func `what is damaged in the middle never passes for the whole`() async throws {
        try await LiveServer.with { server async throws in
            let name = try ObjectName(parsing: "note/n")
            _ = await server.agent.attach(Self.bytes, named: "one", to: name)
            await server.agent.damageNewest(at: 100_000)
            var read = 0
            let error = await #expect(throws: ControlError.self) {
                try await server.client.readAttachment("A1") { read += $0.count }
            }
            #expect(error?.code == .damaged)
            #expect(read < Self.bytes.count)
            await server.agent.damageNewest(at: 0)
            let answer = try await RawSocket.exchange(
                server.socketPath,
                Array("GET \(Self.all)/A1/content HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n".utf8))
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
            for number in 0..<2_500 { _ = await server.agent.attach([], named: "\(number)", to: name) }
            var names: [String] = []
            try await server.client.listAttachments(of: name) { names += $0.map(\.record.name) }
            #expect(names == (0..<2_500).reversed().map(String.init) + ["piped"])
        }
    }

    @Test func `a deep look says how far it is`() async throws {
        try await LiveServer.with { server async throws in
            var told: [ByteProgress] = []
            let checks = try await server.client.deepDoctorChecks { told.append($0) }
            #expect(checks.map(\.check) == ["listener"])
            #expect(told == [ByteProgress(doneBytes: 1, totalBytes: 2, bytesPerSecond: 1)])
        }
    }
}
