import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import SyncCore
import Testing

/// The address at which other devices reach this one, moved by the configuration while the agent runs.
@Suite(.timeLimit(.minutes(20))) struct ListenSettingTests {
    /// A server with a configuration file of its own, which says where its agent listens.
    private struct Desk {
        let server: LiveServer
        let file: String

        var live: LiveAgent { server.live }
        var agent: Agent { server.live.agent }

        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }

        /// Returns what the agent says of the configuration, read again.
        func reload(_ text: String) async throws -> ReloadResponse {
            try write(text)
            return try await server.client.reloadConfiguration()
        }

        func connection(with peer: LiveAgent) async throws -> ConnectionID? {
            try await agent.snapshot().peers.first { $0.device == peer.agent.device }?.connection
        }

        /// Returns the connection with a peer once one of two is left where both dialled.
        func onlyConnection(with peer: LiveAgent) async throws -> ConnectionID {
            try await live.put("note/\(UUID().uuidString)", "{}")
            try await live.converge(with: peer)
            return try #require(try await connection(with: peer))
        }

        func expectAccepting(_ port: some BinaryInteger, host: UInt32 = 1) throws {
            close(try TCPSocket.connected(Int(port), host: host))
        }

        func expectRefusing(_ port: some BinaryInteger, host: UInt32 = 1) {
            #expect(throws: POSIXError.self) { try TCPSocket.connected(Int(port), host: host) }
        }
    }

    private func withDesk(_ text: String, _ body: (Desk) async throws -> Void) async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try await LiveServer.with(file: file, listen: nil) { server async throws in
            try await body(Desk(server: server, file: file))
        }
    }

    /// Below the ports that Linux gives to connections, and to listeners that name none, and apart from those of other tests: none
    /// of these takes it before the agent has it.
    private func freePort() async throws -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: 16_384...19_999)
            if (try? await TCPSocket.withTaken(port) { _ in }) != nil { return port }
        }
        throw POSIXError(.EADDRINUSE)
    }

    @Test func `another port counts at once, and connected devices and those that join later find it`() async throws {
        try await withDesk("listen = '127.0.0.1:0'") { desk async throws in
            try await desk.live.withPeer { peer async throws in
                let before = try await desk.onlyConnection(with: peer)
                let old = desk.agent.listenPort
                let port = try await freePort()
                let seen = desk.agent.peerSignal.version

                let answer = try await desk.reload("listen = '127.0.0.1:\(port)'")
                let change = SettingChange(setting: "listen", before: "127.0.0.1:0", after: "127.0.0.1:\(port)")
                #expect(answer.taken == [change] && answer.failed.isEmpty && answer.needsRestart.isEmpty)
                #expect(Int(desk.agent.listenPort) == port && desk.agent.configuration.listen?.port == UInt16(port))
                #expect(try await desk.agent.status(space: nil).addresses == ["127.0.0.1:\(port)"])
                #expect(desk.agent.peerSignal.version > seen, "pages are told")
                let checks = try await desk.agent.doctorChecks(deep: false) { _ in }
                #expect(checks.contains { $0.check == "listener" && $0.detail == "listens on port \(port)" })
                desk.expectRefusing(old)
                try desk.expectAccepting(port)

                try await desk.live.until { _ async throws in
                    let after = try await desk.connection(with: peer)
                    return after != nil && after != before
                }
                try await peer.put("note/1", #"{"a":1}"#)
                try await desk.live.converge(with: peer)
                let ended = peer.agent.log.recentLines(limit: 200).joined(separator: "\n")
                #expect(!ended.contains("A session was refused."))
            }
            try await LiveAgent.with(named: "loft") { later async throws in try await desk.live.pair(with: later) }
            #expect(try await desk.server.client.reloadConfiguration().taken.isEmpty)
        }
    }

    @Test func `where another program has the port, the one before goes on until it can be had`() async throws {
        try await withDesk("listen = '127.0.0.1:0'") { desk async throws in
            try await desk.live.withPeer { peer async throws in
                let before = try await desk.onlyConnection(with: peer)
                let port = desk.agent.listenPort
                let taken = try await freePort()
                try await TCPSocket.withTaken(taken) { _ async throws in
                    let answer = try await desk.reload("listen = '127.0.0.1:\(taken)'\nupload-limit = '2M'")
                    #expect(answer.taken.map(\.setting) == ["upload-limit"] && answer.needsRestart.isEmpty)
                    let failure = try #require(answer.failed.first)
                    #expect(failure.setting == "listen" && failure.before == "127.0.0.1:0")
                    #expect(failure.after == "127.0.0.1:\(taken)")
                    #expect(
                        failure.message == "Another program listens on 127.0.0.1:\(taken). "
                            + "The agent goes on at 127.0.0.1:\(port).")
                    #expect(failure.hint.hasPrefix("Stop the other program"), "\(failure.hint)")
                    #expect(failure.hint.hasSuffix("lanyard reload"), "\(failure.hint)")
                    #expect(desk.agent.listenPort == port && desk.agent.configuration.listen?.port == 0)
                    try desk.expectAccepting(port)

                    let run = try await CommandRun.lanyard(["reload"], socket: desk.server.socketPath)
                    #expect(run.exitCode == 1 && run.output.isEmpty, "\(run.output)")
                    let said = run.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    #expect(said.hasPrefix("lanyard: Another program listens on"), "\(said)")
                    #expect(said.hasSuffix("lanyard reload"), "\(said)")
                    #expect(try await desk.onlyConnection(with: peer) == before, "the session stays")
                }
                let answer = try await desk.server.client.reloadConfiguration()
                #expect(answer.taken.map(\.setting) == ["listen"] && answer.failed.isEmpty)
                #expect(Int(desk.agent.listenPort) == taken)
                try await desk.live.until { _ async throws in
                    let after = try await desk.connection(with: peer)
                    return after != nil && after != before
                }
            }
        }
    }

    @Test func `where no interface has the address, the one before goes on`() async throws {
        try await withDesk("listen = '127.0.0.1:0'") { desk async throws in
            let port = desk.agent.listenPort
            for host in ["192.0.2.1", "nowhere"] {
                let answer = try await desk.reload("listen = '\(host):0'")
                #expect(answer.taken.isEmpty && answer.failed.map(\.setting) == ["listen"])
                let failure = try #require(answer.failed.first)
                #expect(failure.message.contains("\(host):0"), "\(failure.message)")
                #expect(failure.message.hasSuffix("The agent goes on at 127.0.0.1:\(port)."), "\(failure.message)")
                #expect(failure.hint.hasPrefix("Write another address"), "\(failure.hint)")
                try desk.expectAccepting(port)
            }
            #expect(try await desk.agent.status(space: nil).warnings.isEmpty)
            let back = try await desk.reload("listen = '127.0.0.1:0'")
            #expect(back.taken.isEmpty && back.failed.isEmpty && desk.agent.listenPort == port)
        }
    }

    @Test func `the same port moves from one address to all of them and back, and sessions stay`() async throws {
        let port = try await freePort()
        try await withDesk("listen = '127.0.0.1:\(port)'") { desk async throws in
            try await desk.live.withPeer { peer async throws in
                let before = try await desk.onlyConnection(with: peer)
                desk.expectRefusing(port, host: 3)
                #expect(try await desk.reload("listen = ':\(port)'").taken.map(\.setting) == ["listen"])
                try desk.expectAccepting(port, host: 3)
                #expect(try await desk.reload("listen = '127.0.0.1:\(port)'").taken.map(\.setting) == ["listen"])
                desk.expectRefusing(port, host: 3)
                try desk.expectAccepting(port)
                #expect(Int(desk.agent.listenPort) == port)
                #expect(try await desk.onlyConnection(with: peer) == before)
            }
        }
    }

    @Test func `a port without a host is one at all addresses`() async throws {
        try await withDesk("listen = ':0'") { desk async throws in
            for host: UInt32 in [1, 3] { try desk.expectAccepting(desk.agent.listenPort, host: host) }
        }
    }
}
