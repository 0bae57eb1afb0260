import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Logging
import NIOPosix
import SyncAgent
import Testing

/// The control socket while the store of an older program is upgraded, and the refusal of a store of a newer one.
@Suite(.timeLimit(.minutes(20))) struct UpgradeTests {
    // MARK: Answers meanwhile

    private static func upgrade(_ share: Double, reading agent: Agent? = nil) -> AgentUpgrade {
        AgentUpgrade(
            device: "SXA5CZA-QFCQIXO", shortID: "SXA5CZA", name: "desk", version: "0.2.0", share: share, agent: agent)
    }

    /// Runs a server of an upgrade for as long as `body`, which is given its socket.
    private func withServer(_ body: (UpgradeServer, String) async throws -> Void) async throws {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/control.sock"
        let (listening, isListening) = AsyncStream<Void>.makeStream()
        let server = UpgradeServer(
            socket: ControlSocket(path: path), eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test"), patience: .zero, onListening: { isListening.finish() })
        server.record(Self.upgrade(0))
        server.record(Self.upgrade(0.345))
        for await _ in listening {}
        let result: Result<Void, any Error>
        do { result = .success(try await body(server, path)) } catch { result = .failure(error) }
        await server.stop()
        #expect(!FileManager.default.fileExists(atPath: path), "the place is free for the agent")
        try result.get()
    }

    @Test func `status says how far an upgrade is, and everything else is to be asked again`() async throws {
        try await withServer { _, socket async throws in
            let request = Requester(socketPath: socket)
            let status = try await request("GET", "/v1/status")
            #expect(status.status == 200 && status.headers["connection"] == "close")
            let page: StatusResponse = try status.value()
            #expect(page.upgrade == .init(share: 0.345, answersReads: false))
            #expect(page.device.name == "desk" && page.store.state == "upgrading" && page.spaces.isEmpty)
            #expect(page.warnings.map(\.code) == ["upgrading"])
            #expect(try await request("GET", "/healthz").status == 200)
            let readiness = try await request("GET", "/readyz")
            #expect(readiness.status == 503)
            #expect(try readiness.value(Readiness.self).waitingFor == ["upgrade"])
            for (method, path) in [
                ("GET", "/v1/spaces/home/collections"), ("GET", "/v1/peers"), ("GET", "/nothing"),
                ("PUT", "/v1/spaces/home/collections/note/objects/n"), ("POST", "/v1/status"),
            ] {
                let answer = try await request(method, path, body: method == "GET" ? nil : "{}")
                #expect(answer.status == 503 && answer.code == "upgrading", "\(method) \(path)")
                #expect(answer.headers["retry-after"] == "1", "\(method) \(path)")
            }
            let refused = try await request("GET", "/v1/status", headers: [("Origin", "http://elsewhere")])
            #expect(refused.status == 503, "a page of a browser learns nothing")
        }
    }

    @Test func `the command shows an upgrade, and a write says when to try again`() async throws {
        try await withServer { server, socket async throws in
            let shown = try await CommandRun.lanyard(["status"], socket: socket)
            #expect(shown.exitCode == 0 && shown.output.contains("34 % done"), "\(shown.output)\(shown.errors)")
            #expect(shown.output.contains("reads wait, too") && shown.output.contains("desk"))
            let written = try await CommandRun.lanyard(["put", "note/n", "{}"], socket: socket)
            #expect(written.exitCode == 1 && written.errors.contains("34 % done"), "\(written.errors)")
            #expect(written.errors.contains("lanyard status"))
            server.record(Self.upgrade(0.9))
            let later = try await CommandRun.lanyard(["status", "--json"], socket: socket)
            let answer = try #require(try later.json() as? [String: Any])
            #expect((answer["upgrade"] as? [String: Any])?["share"] as? Double == 0.9)
        }
    }

    @Test func `reads of the store are answered once it can be read, and writes are not`() async throws {
        try await LiveAgent.with { live async throws in
            try await live.put("note/n", #"{"title":"of before"}"#)
            let entry = try await live.attach([1, 2, 3], named: "three", to: "note/n")
            try await withServer { server, socket async throws in
                server.record(Self.upgrade(0.5, reading: live.agent))
                let request = Requester(socketPath: socket)
                let object = try await request("GET", "/v1/spaces/home/collections/note/objects/n")
                #expect(object.status == 200 && object.text.contains("of before"), "\(object.text)")
                for path in [
                    "collections", "schemas", "deleted", "conflicts", "attachments", "attachments/\(entry.record.id)",
                    "attachments/\(entry.record.id)/content", "snapshots", "consumers", "streams/s/events",
                    "streams/s/snapshots", "collections/note/schema", "collections/note/count",
                    "collections/note/objects", "collections/note/objects/n/history",
                    "collections/note/objects/n/attachments",
                ] {
                    let answer = try await request("GET", "/v1/spaces/home/" + path)
                    #expect(answer.code != "upgrading", "\(path): \(answer.text)")
                }
                for path in [
                    "streams/s/events?follow=true", "streams/s/events?consumer=c", "collections/note/live", "watch",
                    "devices",
                ] {
                    #expect(try await request("GET", "/v1/spaces/home/" + path).code == "upgrading", "\(path)")
                }
                let put = try await request(
                    "PUT", "/v1/spaces/home/collections/note/objects/n", body: #"{"title":"x"}"#)
                #expect(put.status == 503 && put.code == "upgrading")
                let page: StatusResponse = try await request("GET", "/v1/status").value()
                #expect(page.upgrade?.answersReads == true)
            }
            let kept = try await live.agent.object(space: "home", ObjectName(parsing: "note/n"))
            #expect("\(kept.fields)".contains("of before"))
        }
    }

    @Test func `a socket that another program holds is left to it`() async throws {
        try await LiveServer.with { other async throws in
            let server = UpgradeServer(
                socket: ControlSocket(path: other.socketPath),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "test"), patience: .zero)
            server.record(Self.upgrade(0))
            server.record(Self.upgrade(0.5))
            await server.stop()
            #expect(try await other.client.readiness().ready)
        }
    }

    // MARK: A store of a newer program

    /// The agent beside the tests' own program.
    private static let program = Bundle.main.bundleURL.appending(path: "lanyardd").path

    /// Makes the closed database one of a later schema: the user version stands at byte 60 (sqlite.org/fileformat.html).
    private func age(_ database: String, to version: UInt8) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: database))
        defer { try? file.close() }
        try file.seek(toOffset: 60)
        try file.write(contentsOf: [0, 0, 0, version])
    }

    private func start(_ directory: String) async throws -> CommandRun {
        try await CommandRun.program(
            Self.program, ["--data-dir", directory, "--no-mdns", "--listen", "127.0.0.1:0"], environment: [:])
    }

    @Test func `a store of a newer agent is refused with both versions and the way back, and not changed`() async throws
    {
        let temporary = try TemporaryDirectory()
        let directory = temporary.path + "/data"
        try await LiveAgent.with(in: directory) { live async throws in try await live.put("note/n", "{}") }
        let database = directory + "/lanyard.sqlite"
        let program = try String(contentsOfFile: database + ".program", encoding: .utf8)
        #expect(program == LanyardVersion.current + "\n", "an agent says which one it is")
        try age(database, to: 200)
        let before = try Data(contentsOf: URL(fileURLWithPath: database))

        try FileManager.default.removeItem(atPath: database + ".program")
        let unnamed = try await start(directory)
        #expect(unnamed.exitCode == 4, "\(unnamed.errors)")
        #expect(unnamed.errors.hasPrefix("lanyardd: schema_newer: "), "\(unnamed.errors)")
        #expect(unnamed.errors.contains("a newer lanyardd (schema 200); this is lanyardd \(LanyardVersion.current)"))
        #expect(unnamed.errors.contains("Next: install the newer lanyardd"))

        try Data("9.1.0\n".utf8).write(to: URL(fileURLWithPath: database + ".program"))
        try Data().write(to: URL(fileURLWithPath: database + ".schema-7"))
        let named = try await start(directory)
        #expect(named.exitCode == 4 && named.errors.split(separator: "\n").count == 1, "\(named.errors)")
        #expect(named.errors.contains("written by lanyardd 9.1.0 (schema 200)"), "\(named.errors)")
        #expect(named.errors.contains("install lanyardd 9.1.0 or a newer one"), "\(named.errors)")
        #expect(named.errors.contains(database + ".schema-7"), "\(named.errors)")

        #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
        #expect(try String(contentsOfFile: database + ".program", encoding: .utf8) == "9.1.0\n")
        #expect(!FileManager.default.fileExists(atPath: directory + "/control.sock"))
    }
}
