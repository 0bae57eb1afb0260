import ControlAPI
import HTTPTypes
import HummingbirdCore
package import Logging
package import NIOCore
import ServiceLifecycle

/// The control API on a Unix socket: HTTP/1.1 and JSON in, calls of `AgentControl` out.
///
/// Run it in the agent's service group after the store is open; a graceful shutdown ends follow streams and waiting
/// calls, lets short answers finish, and removes the socket's file.
package struct ControlServer: Service {
    private let socket: ControlSocket
    private let responder: ControlResponder
    private let eventLoopGroup: any EventLoopGroup
    private let logger: Logger
    private let onListening: @Sendable () async -> Void

    /// `onListening` is called once, when commands can connect.
    package init(
        agent: any AgentControl, socket: ControlSocket, eventLoopGroup: any EventLoopGroup, logger: Logger,
        onListening: @escaping @Sendable () async -> Void = {}
    ) {
        self.socket = socket
        responder = ControlResponder(agent: agent, logger: logger)
        self.eventLoopGroup = eventLoopGroup
        self.logger = logger
        self.onListening = onListening
    }

    /// Returns after a graceful shutdown. Throws `ControlError` when the socket cannot be had.
    package func run() async throws {
        try socket.prepare()
        let responder = responder
        let channel = AdmittedChannel(rule: AdmissionRule(socket: socket)) { origin in
            { request, writer, _ in
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
            onServerRunning: { _ in
                do throws(ControlError) {
                    try socket.restrict()
                } catch {
                    logger.warning(
                        "the control socket keeps a wide mode", metadata: ["error.code": "\(error.code.rawValue)"])
                }
                await onListening()
            },
            eventLoopGroup: eventLoopGroup, logger: quiet)
        defer { socket.remove() }
        try await server.run()
    }
}
