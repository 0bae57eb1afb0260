import Glibc
import HTTPTypes
import HummingbirdCore
package import Logging
package import NIOCore
import ServiceLifecycle
package import SyncAgent

/// The metrics over TCP, for a Prometheus that knows no Unix sockets. `GET /metrics` is answered, and nothing else: a
/// program that reaches this port can read figures and names of devices, and change nothing.
///
/// `ConfiguredServers` runs it in a service group of its own.
package struct MetricsServer: Service {
    private let listener: OptionalListener
    private let channel: MetricsChannel
    private let onListening: @Sendable (any Channel) -> Void

    /// - Parameters:
    ///   - connectionLimit: one more is told that there are too many.
    ///   - patience: the time from accepting a connection to closing it, whatever was read or written by then.
    ///   - onListening: called once, with the channel that accepts, when a client can connect.
    package init(
        agent: Agent, address: AgentConfiguration.ListenAddress, eventLoopGroup: any EventLoopGroup, logger: Logger,
        connectionLimit: Int = 16, patience: TimeAmount = .seconds(10),
        onListening: @escaping @Sendable (any Channel) -> Void = { _ in }
    ) {
        listener = OptionalListener(
            address: address, eventLoopGroup: eventLoopGroup, logger: logger)
        let reader = MetricsReader(agent: agent)
        self.onListening = onListening
        let isLocal = address.isLoopback
        channel = MetricsChannel(limit: connectionLimit, patience: patience) { request in
            await Self.answer(request, reader, isLocal: isLocal)
        }
    }

    /// Returns after a graceful shutdown. Throws `OptionalListener.Failure` where it cannot listen.
    package func run() async throws {
        try await listener.run(channel, onListening: onListening)
    }

    /// Returns the answer to a request; its body is not read.
    ///
    /// - Parameter isLocal: only this device reaches the port. A page of the web in its browser must not, under a name of
    ///   its own that leads here (DNS rebinding).
    static func answer(_ request: Request, _ reader: MetricsReader, isLocal: Bool) async -> Response {
        guard request.uri.path == "/metrics" else { return .plain(.notFound, "Only /metrics is here.\n") }
        guard request.method == .get else { return .plain(.methodNotAllowed, "Only GET is answered.\n") }
        let isOfPage = request.headers[.origin] != nil
        guard !isOfPage, !isLocal || isLocalName(request.head.authority ?? "") else {
            return .plain(.forbidden, "Ask from a program, by the address 127.0.0.1 or localhost.\n")
        }
        let format = MetricsText.Format(accept: request.headers[.accept])
        guard let text = try? await reader.read() else {
            return .plain(.serviceUnavailable, "The agent is stopping.\n")
        }
        return .metrics(text.text(format), as: format)
    }

    /// True for `localhost` and addresses of this device, with or without a port.
    private static func isLocalName(_ authority: String) -> Bool {
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        let host = authority.hasPrefix("[") ? String(authority.prefix { $0 != "]" }.dropFirst()) : String(parts[0])
        return AgentConfiguration.ListenAddress(host: host.lowercased(), port: 0).isLoopback
    }
}

extension MetricsServer: CustomStringConvertible {
    /// The name of the service in logs and errors of its group.
    package var description: String { "metrics server" }
}

extension Response {
    static func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
