import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import NIOCore
import SyncAgent
import Testing

/// The dashboard and the metrics over TCP: opened, moved and closed by the configuration, also while the agent runs.
@Suite(.timeLimit(.minutes(20))) struct ServerSettingTests {
    /// A server with a configuration file of its own.
    private struct Desk {
        let server: LiveServer
        let file: String

        var agent: Agent { server.live.agent }

        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }

        /// Returns what the agent says of the configuration, read again.
        func reload(_ text: String) async throws -> ReloadResponse {
            try write(text)
            return try await server.client.reloadConfiguration()
        }

        func port(of key: ConfigurationLayer.Key) async throws -> Int {
            try #require(await server.servers.address(of: key)?.port)
        }

        func warnings() async throws -> [String] { try await agent.status(space: nil).warnings.map(\.code) }

        /// Signs a browser in at the address that `lanyard dashboard` gives, and returns its cookie.
        func signIn(host: UInt32 = 1) async throws -> String {
            let link = try await server.client.dashboardLink()
            let port = try await port(of: .dashboard)
            let origin = "http://127.0.0.\(host):\(port)"
            try #require(link.url.hasPrefix(origin), "\(link.url)")
            let answer = try await get(String(link.url.dropFirst(origin.count)), of: .dashboard, host: host)
            let line = try #require(answer.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") })
            return String(line.dropFirst("set-cookie: ".count).prefix { $0 != ";" })
        }

        func get(
            _ path: String, of key: ConfigurationLayer.Key, host: UInt32 = 1, named name: String? = nil,
            _ headers: String = ""
        ) async throws -> String {
            let port = try await port(of: key)
            let name = name ?? "127.0.0.\(host):\(port)"
            return try await TCPSocket.exchange(
                port, "GET \(path) HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\(headers)\r\n", host: host)
        }
    }

    private func withDesk(_ text: String, _ body: (Desk) async throws -> Void) async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try await LiveServer.with(file: file) { server async throws in
            try await body(Desk(server: server, file: file))
        }
    }

    @Test func `the dashboard moves at once, and its pages at the old address end`() async throws {
        try await withDesk("dashboard = '127.0.0.1:0'") { desk async throws in
            let cookie = try await desk.signIn()
            let old = try await desk.port(of: .dashboard)
            let page = try TCPSocket.connected(old)
            let head =
                "GET /v1/overview HTTP/1.1\r\nHost: 127.0.0.1:\(old)\r\nCookie: \(cookie)\r\n"
                + "Accept: text/event-stream\r\n\r\n"
            _ = try await RawSocket.text(page, Array(head.utf8), until: "data: {\"status\":")

            let answer = try await desk.reload("dashboard = '127.0.0.2:0'")
            let change = SettingChange(setting: "dashboard", before: "127.0.0.1:0", after: "127.0.0.2:0")
            #expect(answer.taken == [change] && answer.failed.isEmpty && answer.needsRestart.isEmpty)
            #expect(answer.file == desk.file)
            #expect(throws: POSIXError.self) { try TCPSocket.connected(old) }
            // The last chunk: the answer is whole.
            #expect(await TCPSocket.rest(of: page).hasSuffix("0\r\n\r\n"))

            let fresh = try await desk.signIn(host: 2)
            #expect(try await desk.get("/", of: .dashboard, host: 2, "Cookie: \(fresh)\r\n").hasPrefix("HTTP/1.1 200"))
            // A browser of the old address is not signed in at the new one; nor is another name taken.
            #expect(try await desk.get("/", of: .dashboard, host: 2, "Cookie: \(cookie)\r\n").hasPrefix("HTTP/1.1 401"))
            let others = try await desk.get("/", of: .dashboard, host: 2, named: "evil.example", "Cookie: \(fresh)\r\n")
            #expect(others.hasPrefix("HTTP/1.1 421"))
            let foreign = "Cookie: \(fresh)\r\nOrigin: http://127.0.0.1:\(old)\r\n"
            #expect(try await desk.get("/", of: .dashboard, host: 2, foreign).hasPrefix("HTTP/1.1 403"))
        }
    }

    @Test func `an address that cannot be had leaves the one before, and is said until it can`() async throws {
        try await withDesk("dashboard = '127.0.0.1:0'") { desk async throws in
            let cookie = try await desk.signIn()
            try await TCPSocket.withTaken { taken async throws in
                let answer = try await desk.reload("dashboard = \(taken)\nupload-limit = '2M'")
                #expect(answer.taken.map(\.setting) == ["upload-limit"])
                let failure = try #require(answer.failed.first)
                #expect(failure.setting == "dashboard" && failure.before == "127.0.0.1:0")
                #expect(failure.after == "127.0.0.1:\(taken)")
                #expect(
                    failure.message == "The dashboard cannot listen at 127.0.0.1:\(taken): Address already in use. "
                        + "It goes on at 127.0.0.1:0.")
                #expect(failure.hint.hasPrefix("Stop the other program") && failure.hint.hasSuffix("lanyard reload"))
                #expect(desk.agent.configuration.dashboard?.port == 0)
                #expect(try await desk.get("/", of: .dashboard, "Cookie: \(cookie)\r\n").hasPrefix("HTTP/1.1 200"))

                let run = try await CommandRun.lanyard(["reload"], socket: desk.server.socketPath)
                #expect(run.exitCode == 1 && run.output.isEmpty, "\(run.output)")
                let said = run.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(said.hasPrefix("lanyard: The dashboard cannot listen at") && said.hasSuffix("lanyard reload"))
                let json = try await CommandRun.lanyard(["reload", "--json"], socket: desk.server.socketPath)
                #expect(json.exitCode == 1 && json.errors.isEmpty)
                let failed = (try json.json() as? [String: Any])?["failed"] as? [[String: Any]]
                #expect(failed?.first?["setting"] as? String == "dashboard")
            }
            let answer = try await desk.server.client.reloadConfiguration()
            #expect(answer.taken.map(\.setting) == ["dashboard"] && answer.failed.isEmpty)
            #expect(try await desk.port(of: .dashboard) == Int(try #require(desk.agent.configuration.dashboard).port))
        }
    }

    @Test func `a port moves to another host, though its own server listens there`() async throws {
        try await withDesk("dashboard = '127.0.0.1:0'") { desk async throws in
            let port = try await desk.port(of: .dashboard)
            #expect(try await desk.warnings().isEmpty)
            // A program that is just being started has a copy of the socket.
            try await TCPSocket.withCopy(ofListenerAt: port) {
                let answer = try await desk.reload("dashboard = '0.0.0.0:\(port)'")
                #expect(answer.taken.map(\.setting) == ["dashboard"])
            }
            #expect(try await desk.warnings() == ["dashboard_exposed"])
            let cookie = "Cookie: \(try await desk.signIn())\r\n"
            #expect(try await desk.get("/", of: .dashboard, host: 3, cookie).hasPrefix("HTTP/1.1 200"))
            #expect(try await desk.reload("dashboard = \(port)").taken.map(\.setting) == ["dashboard"])
            #expect(try await desk.warnings().isEmpty)
            #expect(throws: POSIXError.self) { try TCPSocket.connected(port, host: 3) }
        }
    }

    @Test func `where another program has the port at the other host, the browsers stay signed in at the one before`()
        async throws
    {
        try await withDesk("dashboard = '127.0.0.1:0'") { desk async throws in
            let cookie = "Cookie: \(try await desk.signIn())\r\n"
            let port = try await desk.port(of: .dashboard)
            try await TCPSocket.withTaken(port, host: 2) { _ async throws in
                let answer = try await desk.reload("dashboard = '127.0.0.2:\(port)'")
                #expect(answer.failed.map(\.setting) == ["dashboard"] && answer.taken.isEmpty)
                #expect(try await desk.port(of: .dashboard) == port)
                #expect(try await desk.get("/", of: .dashboard, cookie).hasPrefix("HTTP/1.1 200"))
                #expect(try await desk.warnings().isEmpty)
            }
        }
    }

    @Test func `a server is turned on and off, and another takes its port`() async throws {
        try await withDesk("") { desk async throws in
            let off = await #expect(throws: ControlError.self) { try await desk.server.client.dashboardLink() }
            #expect(off?.code == .notFound && off?.hint.hasSuffix("lanyard reload") == true)
            let on = try await desk.reload("metrics = '127.0.0.1:0'")
            #expect(on.taken == [SettingChange(setting: "metrics", before: nil, after: "127.0.0.1:0")])
            #expect(try await desk.get("/metrics", of: .metrics).hasPrefix("HTTP/1.1 200"))
            let port = try await desk.port(of: .metrics)
            let swapped = try await desk.reload("dashboard = \(port)")
            #expect(swapped.taken.map(\.setting) == ["metrics", "dashboard"] && swapped.failed.isEmpty)
            #expect(await desk.server.servers.address(of: .metrics) == nil)
            let cookie = "Cookie: \(try await desk.signIn())\r\n"
            #expect(try await desk.get("/", of: .dashboard, cookie).hasPrefix("HTTP/1.1 200"))
            #expect(try await desk.reload("").taken.map(\.setting) == ["dashboard"])
            #expect(throws: POSIXError.self) { try TCPSocket.connected(port) }
            #expect(desk.agent.configuration.dashboard == nil && desk.agent.configuration.metrics == nil)
        }
    }

    @Test func `a port that is taken at the start is a warning, until it can be had`() async throws {
        try await TCPSocket.withTaken { first async throws in
            try await TCPSocket.withTaken { second async throws in
                let text = "metrics = \(first)\ndashboard = \(second)"
                try await withDesk(text) { desk async throws in
                    try await desk.server.live.until { agent async throws in
                        let codes = try await agent.status(space: nil).warnings.map(\.code)
                        return codes == ["metrics_unavailable", "dashboard_unavailable"]
                    }
                    let page = String(decoding: try await desk.server.client.metrics(), as: UTF8.self)
                    #expect(page.contains(#"lanyard_warnings{code="metrics_unavailable"} 1"#))
                    let none = await #expect(throws: ControlError.self) {
                        try await desk.server.client.dashboardLink()
                    }
                    #expect(none?.message.contains("127.0.0.1:\(second): Address already in use.") == true)
                    // It is tried again, though nothing changed in the file.
                    #expect(try await desk.reload(text).failed.map(\.setting) == ["metrics", "dashboard"])
                    let other = try await desk.reload("metrics = '127.0.0.2:0'\ndashboard = \(second)")
                    #expect(other.taken.map(\.setting) == ["metrics"])
                    #expect(try await desk.warnings() == ["dashboard_unavailable"])
                    #expect(try await desk.reload("").taken.map(\.setting) == ["metrics", "dashboard"])
                    #expect(try await desk.warnings().isEmpty)
                }
            }
        }
    }
}
