import ControlAPI
import ControlServer
import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SyncAgent
import Testing

/// The port for a Prometheus that knows no Unix sockets.
@Suite(.timeLimit(.minutes(20))) struct MetricsServerTests {
    /// Runs an agent and its metrics' port for as long as `body`.
    private func withPort(
        limit: Int = 16, patience: TimeAmount = .minutes(5), _ body: (LiveAgent, Int) async throws -> Void
    ) async throws {
        try await LiveAgent.with { live async throws in
            let (ports, port) = AsyncStream<Int>.makeStream()
            let address = try #require(AgentConfiguration.ListenAddress(guarded: "127.0.0.1:0"))
            let server = MetricsServer(
                agent: live.agent, address: address, eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: Logger(label: "test"), connectionLimit: limit, patience: patience,
                onListening: { port.yield($0.localAddress?.port ?? 0) })
            let group = ServiceGroup(services: [server], logger: Logger(label: "test"))
            let ended = Task {
                defer { port.finish() }
                try await group.run()
            }
            var iterator = ports.makeAsyncIterator()
            let number = try #require(await iterator.next())
            let result: Result<Void, any Error>
            do { result = .success(try await body(live, number)) } catch { result = .failure(error) }
            await group.triggerGracefulShutdown()
            try await ended.value
            try result.get()
        }
    }

    private func get(
        _ port: Int, _ path: String = "/metrics", method: String = "GET", host: String = "127.0.0.1", more: String = ""
    ) async throws -> String {
        try await TCPSocket.exchange(
            port, "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(more)\r\n")
    }

    @Test func `a scrape is answered, and nothing else is`() async throws {
        try await withPort { _, port async throws in
            let scrape = try await get(port)
            #expect(scrape.hasPrefix("HTTP/1.1 200"))
            #expect(scrape.lowercased().contains("connection: close"))
            let body = scrape.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
            #expect(Exposition(body).faults == [])
            #expect(try await get(port, host: "localhost:\(port)").hasPrefix("HTTP/1.1 200"))
            for path in ["/", "/v1/status", "/metrics/", "/healthz"] {
                #expect(try await get(port, path).hasPrefix("HTTP/1.1 404"))
            }
            for method in ["POST", "PUT", "DELETE"] {
                let answer = try await get(port, method: method, more: "Content-Length: 0\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 405"))
            }
        }
    }

    @Test func `a page of the web gets nothing, under its own name or by its origin`() async throws {
        try await withPort { _, port async throws in
            #expect(try await get(port, host: "evil.example").hasPrefix("HTTP/1.1 403"))
            #expect(try await get(port, host: "127.0.0.1.evil.example").hasPrefix("HTTP/1.1 403"))
            #expect(try await get(port, more: "Origin: http://evil.example\r\n").hasPrefix("HTTP/1.1 403"))
            #expect(try await get(port, host: "[::1]:80").hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `a scrape that never asks, or never reads, is cut off`() async throws {
        try await withPort(patience: .milliseconds(200)) { _, port async throws in
            // It ends though nothing was sent, and though only half was.
            #expect(try await TCPSocket.exchange(port, "") == "")
            #expect(try await TCPSocket.exchange(port, "GET /metrics HT") == "")
        }
        // Time for an answer, on a busy machine too.
        try await withPort(patience: .seconds(20)) { _, port async throws in
            // One that keeps the connection has it closed by the server.
            let kept = try await TCPSocket.exchange(port, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            #expect(kept.hasPrefix("HTTP/1.1 200") && kept.hasSuffix("# EOF\n"))
        }
    }

    @Test func `one connection too many is told so, and the next is answered again`() async throws {
        try await withPort(limit: 2) { _, port async throws in
            let silent = try [TCPSocket.connected(port), TCPSocket.connected(port)]
            // They count once the server has accepted them.
            var answer = ""
            repeat { answer = try await get(port) } while answer.hasPrefix("HTTP/1.1 200")
            #expect(answer.hasPrefix("HTTP/1.1 503"))
            silent.forEach { _ = close($0) }
            repeat { answer = try await get(port) } while answer.hasPrefix("HTTP/1.1 503")
            #expect(answer.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `a port alone is this device's, and an empty host is none`() {
        typealias Address = AgentConfiguration.ListenAddress
        #expect(Address(guarded: "21819")?.description == "127.0.0.1:21819")
        #expect(Address(guarded: "21819")?.isLoopback == true)
        #expect(Address(guarded: "[::1]:9")?.isLoopback == true)
        #expect(Address(guarded: "192.168.1.4:9")?.isLoopback == false)
        #expect(Address(guarded: "127.0.0.1.example:9")?.isLoopback == false)
        for text in ["", ":9", "[[::1]]:9", "host", "host:", "1.2.3.4:70000", "-1"] {
            #expect(Address(guarded: text) == nil)
        }
    }
}

extension MetricsServerTests {
    @Test(
        arguments: [
            ("metrics = 21819", "127.0.0.1:21819"), ("metrics = \"21819\"", "127.0.0.1:21819"),
            ("metrics = '[fd00::1]:9'", "[fd00::1]:9"), ("name = \"a\"", nil),
        ] as [(String, String?)])
    func `the address is read from a file, and written so that it gives the same`(text: String, address: String?) throws
    {
        func read(_ text: String) throws -> AgentConfiguration {
            let layer = try ConfigurationLayer(text: text, path: "c.toml")
            return try AgentConfiguration(layers: [layer], environment: [:], hostName: "h")
        }
        let configuration = try read(text)
        #expect(configuration.metrics?.description == address)
        #expect(try read(configuration.toml) == configuration)
    }

    @Test func `an address that is none is refused with what may be written`() {
        let error = #expect(throws: ConfigurationError.self) {
            try AgentConfiguration(
                layers: [ConfigurationLayer([.metrics: ":21819"])], environment: [:], hostName: "h")
        }
        #expect(
            error?.description
                == "metrics is \":21819\"; allowed: PORT for this device alone, HOST:PORT or [IPV6]:PORT")
    }
}
