import ControlAPI
import ControlServer
import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SyncAgent
import Testing

/// A real agent and its dashboard, at a free port of the loopback interface, for the time of one test.
struct LiveDashboard: Sendable {
    let live: LiveAgent
    let server: DashboardServer
    let access: DashboardAccess

    var host: String { "127.0.0.1:\(access.port ?? 0)" }
    var origin: String { "http://\(host)" }

    /// Runs an agent and its dashboard for as long as `body`; the server ends before the agent.
    static func with<Value: Sendable>(
        connectionLimit: Int = 64, patience: TimeAmount = .seconds(30),
        address: AgentConfiguration.ListenAddress = .init(host: "127.0.0.1", port: 0),
        _ body: (LiveDashboard) async throws -> Value
    ) async throws -> Value {
        try await LiveAgent.with { live async throws in
            try await with(live, connectionLimit: connectionLimit, patience: patience, address: address, body)
        }
    }

    static func with<Value: Sendable>(
        _ live: LiveAgent, connectionLimit: Int = 64, patience: TimeAmount = .seconds(30),
        address: AgentConfiguration.ListenAddress = .init(host: "127.0.0.1", port: 0),
        _ body: (LiveDashboard) async throws -> Value
    ) async throws -> Value {
        let (listening, isListening) = AsyncStream<Void>.makeStream()
        let access = DashboardAccess(host: address.host)
        let server = DashboardServer(
            agent: live.agent, address: address, access: access,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "test"),
            connectionLimit: connectionLimit, patience: patience, onListening: { _ in isListening.finish() })
        let group = ServiceGroup(services: [server], logger: Logger(label: "test"))
        let ended = Task {
            defer { isListening.finish() }
            try await group.run()
        }
        for await _ in listening {}
        let running = LiveDashboard(live: live, server: server, access: access)
        let result: Result<Value, any Error>
        do { result = .success(try await body(running)) } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        try await ended.value
        return try result.get()
    }

    /// Signs a browser in, and returns its cookie as it sends it.
    func signIn() async throws -> String {
        let link = try #require(access.link(alsoAt: []))
        let answer = try await request("GET", try path(of: link.url))
        return String(try #require(answer.headers["set-cookie"]).prefix { $0 != ";" })
    }

    func path(of url: String) throws -> String {
        try #require(url.hasPrefix(origin), "\(url) does not begin with \(origin)")
        return String(url.dropFirst(origin.count))
    }

    /// Sends a request as a program would: with these headers and no others but the host.
    func request(
        _ method: String, _ path: String, _ headers: [(String, String)] = [], body: String? = nil,
        host: String? = nil
    ) async throws -> Answer {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: \(host ?? self.host)\r\nConnection: close\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        let bytes = Array((text + "\r\n" + (body ?? "")).utf8)
        return try RawSocket.parse(try await exchange(bytes))
    }

    /// Sends bytes, and returns all that comes until the server closes.
    func exchange(_ request: [UInt8]) async throws -> [UInt8] {
        let descriptor = try connected()
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                defer { close(descriptor) }
                // A server that answers early stops reading; its answer is still to be read.
                _ = send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
                var (bytes, block) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
                while case let count = read(descriptor, &block, block.count), count > 0 { bytes += block[..<count] }
                continuation.resume(returning: bytes)
            }
        }
    }

    /// - Parameter receiveBytes: the size of the receive buffer; nil: the usual one.
    func connected(receiveBytes: CInt? = nil) throws -> CInt {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(access.port ?? 0).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return descriptor
    }

    /// Follows the overview on a connection of its own, until `end` has come; the connection stays open.
    func follow(_ cookie: String, until end: String, on descriptor: CInt) async throws -> String {
        let head =
            "GET /v1/overview HTTP/1.1\r\nHost: \(host)\r\nCookie: \(cookie)\r\nAccept: text/event-stream\r\n\r\n"
        return try await RawSocket.text(descriptor, Array(head.utf8), until: end)
    }
}
