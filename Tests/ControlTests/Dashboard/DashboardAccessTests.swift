import ControlAPI
import ControlServer
import Foundation
import SyncAgent
import Testing

@Suite struct DashboardAccessTests {
    private func access(host: String = "127.0.0.1") -> DashboardAccess {
        let access = DashboardAccess(host: host)
        access.listens(at: 8_384) {}
        return access
    }

    private func token(_ access: DashboardAccess, at now: ContinuousClock.Instant = .now) throws -> String {
        let url = try #require(access.link(alsoAt: [], at: now)).url
        return String(try #require(url.split(separator: "=").last))
    }

    @Test func `a token is good once, and for five minutes`() throws {
        let (access, now) = (access(), ContinuousClock.now)
        let token = try token(access, at: now)
        #expect(token.utf8.count == 64)
        let session = try #require(access.exchange(token, at: now + .seconds(299)))
        #expect(access.admits(session) && !access.admits(token))
        #expect(access.exchange(token, at: now) == nil)
        let late = try self.token(access, at: now)
        #expect(access.exchange(late, at: now + DashboardAccess.tokenLifetime) == nil)
        // It is used up by the attempt.
        #expect(access.exchange(late, at: now) == nil)
    }

    @Test func `a browser that asks nothing for a day is signed out`() throws {
        let (access, now) = (access(), ContinuousClock.now)
        let session = try #require(access.exchange(try token(access, at: now), at: now))
        #expect(access.admits(session, at: now + .seconds(86_000)))
        #expect(access.admits(session, at: now + .seconds(172_000)))
        #expect(!access.admits(session, at: now + .seconds(172_000) + DashboardAccess.idleLifetime))
        #expect(!access.admits(session, at: now + .seconds(172_000)))
    }

    @Test func `tokens and browsers are bounded, and the oldest give way`() throws {
        let (access, now) = (access(), ContinuousClock.now)
        let tokens = try (0...DashboardAccess.tokenCount).map { try token(access, at: now + .seconds($0)) }
        #expect(access.exchange(tokens[0], at: now) == nil)
        #expect(access.exchange(tokens[1], at: now) != nil)
        let sessions = try (0...DashboardAccess.sessionCount).map { number in
            let moment = now + .seconds(1 + number)
            return try #require(access.exchange(try token(access, at: moment), at: moment))
        }
        #expect(!access.admits(sessions[0], at: now + .seconds(100)))
        #expect(access.admits(sessions[1], at: now + .seconds(100)))
        #expect(access.signOut() == DashboardAccess.sessionCount)
        #expect(!access.admits(sessions[1], at: now + .seconds(100)))
    }

    @Test func `an address names a host that a browser can open`() throws {
        #expect(try #require(access(host: "::1").link(alsoAt: [])).url.hasPrefix("http://[::1]:8384/?token="))
        let any = try #require(access(host: "0.0.0.0").link(alsoAt: ["192.168.1.5", "fd00::5"]))
        #expect(any.url.hasPrefix("http://127.0.0.1:8384/?token="))
        #expect(
            any.alsoAt.map { String($0.prefix { $0 != "?" }) } == [
                "http://192.168.1.5:8384/", "http://[fd00::5]:8384/",
            ])
        #expect(try #require(access(host: "localhost").link(alsoAt: ["192.168.1.5"])).alsoAt.isEmpty)
        #expect(DashboardAccess(host: "127.0.0.1").link(alsoAt: []) == nil)
        #expect(access().cookieName != access().cookieName)
    }

    @Test(arguments: [
        ("8384", "127.0.0.1:8384", true), ("127.0.0.1:8384", "127.0.0.1:8384", true), ("[::1]:80", "[::1]:80", true),
        ("localhost:1", "localhost:1", true), ("0.0.0.0:8384", "0.0.0.0:8384", false),
        ("192.168.1.5:8384", "192.168.1.5:8384", false), ("desk.local:8384", "desk.local:8384", false),
        ("127.evil.example:1", "127.evil.example:1", false), ("[::]:8384", "[::]:8384", false),
    ])
    func `an address of the dashboard is read as people write it`(text: String, read: String, isLoopback: Bool) throws {
        let layer = ConfigurationLayer([.dashboard: text])
        let configuration = try AgentConfiguration(layers: [layer], environment: [:], hostName: "h")
        #expect(configuration.dashboard?.description == read)
        #expect(configuration.dashboard?.isLoopback == isLoopback)
        let again = try ConfigurationLayer(text: configuration.toml, path: "c.toml")
        #expect(try AgentConfiguration(layers: [again], environment: [:], hostName: "h") == configuration)
    }

    @Test(arguments: [":8384", "70000", "desk", "", "::1:80", "-1"])
    func `an address without a host, or without a port, is refused`(text: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try AgentConfiguration(
                layers: [ConfigurationLayer([.dashboard: text])], environment: [:], hostName: "h")
        }
        #expect(error?.description.contains("PORT for this device alone, HOST:PORT or [IPV6]:PORT") == true)
    }

    @Test func `a port in the file needs no quotes, and there is no dashboard where none is named`() throws {
        let layer = try ConfigurationLayer(text: "dashboard = 8384", path: "c.toml")
        #expect(layer.values == [.dashboard: "8384"])
        let none = try AgentConfiguration(layers: [], environment: [:], hostName: "h")
        #expect(none.dashboard == nil && !none.toml.contains("dashboard"))
    }

    @Test func `the command prints an address, signs out, and says what to do where there is none`() async throws {
        let access = access()
        try await LiveServer.with(dashboard: access) { server async throws in
            let run = try await CommandRun.lanyard(["dashboard", "--print"], socket: server.socketPath)
            #expect(run.exitCode == 0)
            let url = try #require(run.lines.first)
            #expect(url.hasPrefix("http://127.0.0.1:8384/?token="))
            #expect(access.exchange(String(url.suffix(64))) != nil)
            let json = try await CommandRun.lanyard(["dashboard", "--json"], socket: server.socketPath)
            #expect(try #require(try json.json() as? [String: Any]).keys.sorted() == ["alsoAt", "expires", "url"])
            let out = try await CommandRun.lanyard(["dashboard", "--sign-out"], socket: server.socketPath)
            #expect(out.output == "Signed out: 1 browser.\n")
        }
        try await LiveServer.with { server async throws in
            let run = try await CommandRun.lanyard(["dashboard"], socket: server.socketPath)
            #expect(run.exitCode == 3)
            #expect(run.errors.contains("Write dashboard = 8384 into lanyardd.toml; then: lanyard reload"))
        }
    }
}
