import ControlAPI
import HTTPTypes
import HummingbirdCore
package import Logging
package import NIOCore
import ServiceLifecycle
package import SyncAgent

/// The control API on a Unix socket: HTTP/1.1 and JSON in, calls of the agent out.
///
/// Run it in the agent's service group after the store is open; a graceful shutdown ends follow streams and waiting
/// calls, lets short answers finish, and removes the socket's file.
package struct ControlServer: Service {
    private let socket: ControlSocket
    private let responder: ControlResponder
    private let schedule: BackupSchedule
    private let eventLoopGroup: any EventLoopGroup
    private let logger: Logger
    private let onListening: @Sendable () async -> Void
    private let connections: ControlConnections

    /// - Parameters:
    ///   - connectionLimit: nil for a share of the descriptors this process may have.
    ///   - dashboard: the browsers of the dashboard, which commands sign in here; nil where none is served just now.
    ///   - onListening: called once, when commands can connect.
    package init(
        agent: Agent, socket: ControlSocket, eventLoopGroup: any EventLoopGroup, logger: Logger,
        connectionLimit: Int? = nil, dashboard: @escaping @Sendable () async -> DashboardAccess? = { nil },
        onListening: @escaping @Sendable () async -> Void = {}
    ) {
        self.socket = socket
        connections = ControlConnections(limit: connectionLimit)
        responder = ControlResponder(agent: agent, logger: logger, dashboard: dashboard)
        schedule = BackupSchedule(agent: agent, logger: agent.loggers.store)
        self.eventLoopGroup = eventLoopGroup
        self.logger = logger
        self.onListening = onListening
    }

    /// Returns after a graceful shutdown. Throws `ControlError` when the socket cannot be had.
    package func run() async throws {
        try socket.prepare()
        let (responder, connections) = (responder, connections)
        let channel = AdmittedChannel(rule: AdmissionRule(socket: socket), connections: connections) { origin in
            { request, writer, channel in
                connections.beginRequest(channel)
                defer { connections.endRequest(channel) }
                let upload = RequestUpload(request)
                if request.headers[.expect]?.lowercased() == "100-continue" {
                    if let refusal = await responder.refusal(of: request, upload: upload, over: origin) {
                        try await writer.write(response: refusal.head, body: refusal.body)
                        return
                    }
                    try await writer.writeInformationalHead(HTTPResponse(status: .continue))
                }
                let response = await responder.respond(to: request, upload: upload, over: origin)
                try await writer.write(response: response.head, body: response.body)
                if response.status.code >= 400 { await upload.drain() }
            }
        }
        // The library logs each start at `info`; what matters at that level the agent says itself.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let (socket, logger, onListening) = (socket, logger, onListening)
        let server = channel.server(
            configuration: ServerConfiguration(address: .unixDomainSocket(path: socket.path)),
            onServerRunning: { channel in
                await socket.handleListening(channel, logger: logger)
                await onListening()
            },
            eventLoopGroup: eventLoopGroup, logger: quiet)
        defer { socket.remove() }
        let schedule = schedule
        let backups = Task { await schedule.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await server.run()) } catch { result = .failure(error) }
        backups.cancel()
        await backups.value
        try result.get()
    }
}

extension ControlSocket {
    /// Prepares the channel that listens on the socket: it outlives a lack of descriptors, and the file has its mode.
    func handleListening(_ channel: any Channel, logger: Logger) async {
        // Out of descriptors: try again in a second. Unheard, the error would end the server.
        try? await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(
                AcceptBackoffHandler(shouldForwardIOErrorCaught: false), position: .first)
        }.get()
        do throws(ControlError) {
            try restrict()
        } catch {
            logger.warning(
                "the control socket keeps a wide mode", metadata: ["error.code": "\(error.code.rawValue)"])
        }
    }
}

extension ControlServer: CustomStringConvertible {
    /// The name of the service in logs and errors of its group, which would print every route by reflection otherwise.
    package var description: String { "control server" }
}
