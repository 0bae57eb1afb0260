import ControlAPI
import Glibc
import HTTPTypes
import HummingbirdCore
package import Logging
package import NIOCore
import ServiceLifecycle
package import SyncAgent

/// The dashboard: static files, and some routes of the control API (`DashboardReach`), over HTTP/1.1 for browsers.
///
/// `ConfiguredServers` runs it in a service group of its own.
package struct DashboardServer: Service {
    private let listener: OptionalListener
    private let access: DashboardAccess
    private let responder: ControlResponder
    private let connections: ControlConnections
    private let patience: TimeAmount
    private let onListening: @Sendable (any Channel) -> Void

    /// - Parameters:
    ///   - access: must be the one that the control server hands out tokens from.
    ///   - connectionLimit: a page has one for what is live, and up to five others for a moment.
    ///   - patience: the time in which a reader must take what was written for it.
    ///   - onListening: called once, with the channel that accepts, when a browser can connect.
    package init(
        agent: Agent, address: AgentConfiguration.ListenAddress, access: DashboardAccess,
        eventLoopGroup: any EventLoopGroup, logger: Logger, connectionLimit: Int = 64,
        patience: TimeAmount = .seconds(30), onListening: @escaping @Sendable (any Channel) -> Void = { _ in }
    ) {
        listener = OptionalListener(
            address: address, eventLoopGroup: eventLoopGroup, logger: logger)
        self.access = access
        responder = ControlResponder(agent: agent, logger: logger, dashboard: { access })
        connections = ControlConnections(limit: connectionLimit)
        self.patience = patience
        self.onListening = onListening
    }

    /// The number of open connections.
    package var connectionCount: Int { connections.count }

    /// Returns after a graceful shutdown. Throws `OptionalListener.Failure` where it cannot listen.
    package func run() async throws {
        let (access, connections, onListening) = (access, connections, onListening)
        let channel = DashboardChannel(connections: connections, patience: patience) {
            [self] request, writer, channel in
            connections.beginRequest(channel)
            defer { connections.endRequest(channel) }
            let response = await answer(request, at: channel.localAddress)
            try await writer.write(response: response.head, body: response.body)
        }
        try await listener.run(channel) { channel in
            access.listens(at: channel.localAddress?.port ?? 0) { connections.closeAll() }
            onListening(channel)
        }
    }

    private func answer(_ request: Request, at local: SocketAddress?) async -> Response {
        switch DashboardGate(access: access).verdict(on: request, at: local) {
        case .refused(let status): return .dashboardRefusal(status)
        case .signedOut: return .dashboardFile(DashboardFile.signedOut, status: .unauthorized)
        case .isSignedIn(let token):
            access.withdraw(token)
            return .dashboardEntry(cookie: nil)
        case .signsIn(let token):
            guard let session = access.exchange(token) else {
                return .dashboardFile(DashboardFile.signedOut, status: .unauthorized)
            }
            return .dashboardEntry(cookie: "\(access.cookieName)=\(session)")
        case .file(let path):
            guard let file = DashboardFile.named(path) else { return .dashboardRefusal(.notFound) }
            return .dashboardFile(file)
        case .route:
            let upload = RequestUpload(request)
            var response = await responder.respond(to: request, upload: upload, over: .page)
            // The rest of a body that was refused is not read.
            if response.status.code >= 400 { response.headers[.connection] = "close" }
            response.protect(isPage: false)
            return response
        }
    }
}

extension DashboardServer: CustomStringConvertible {
    /// The name of the service in logs and errors of its group.
    package var description: String { "dashboard" }
}
