import ControlAPI
import HTTPTypes
import HummingbirdCore
package import Logging
package import NIOCore
package import SyncAgent
import Synchronization

/// Answers on the control socket while the store of an older program is upgraded, before there is an agent to run a
/// `ControlServer`. It listens only if the upgrade takes longer than a command would wait.
package final class UpgradeServer: Sendable {
    private enum Phase {
        /// The time of the first report; nil before it.
        case waiting(since: ContinuousClock.Instant?)
        case listening(Server<AdmittedChannel>, Task<Void, Never>)
        case ended
    }

    /// The time that long answers have when the agent wants the socket.
    private static let farewell = Duration.seconds(2)

    private let socket: ControlSocket
    private let connections = ControlConnections(limit: nil)
    private let answers: UpgradeAnswers
    private let eventLoopGroup: any EventLoopGroup
    private let logger: Logger
    private let patience: Duration
    private let onListening: @Sendable () async -> Void
    private let phase = Mutex(Phase.waiting(since: nil))

    /// - Parameters:
    ///   - patience: an upgrade that is done sooner is not worth another socket.
    ///   - onListening: called once commands can connect.
    package init(
        socket: ControlSocket, eventLoopGroup: any EventLoopGroup, logger: Logger,
        patience: Duration = .milliseconds(200), onListening: @escaping @Sendable () async -> Void = {}
    ) {
        self.patience = patience
        self.onListening = onListening
        self.socket = socket
        self.eventLoopGroup = eventLoopGroup
        self.logger = logger
        answers = UpgradeAnswers(logger: logger)
    }

    /// Takes how far the upgrade is. The agent holds the lock of its data directory by then.
    package func record(_ upgrade: AgentUpgrade) {
        answers.record(upgrade)
        phase.withLock { phase in
            guard case .waiting(let since) = phase else { return }
            let now = ContinuousClock.now
            guard let since else {
                logger.notice("The store of an older version is being upgraded.")
                phase = .waiting(since: now)
                return
            }
            if now - since >= patience { phase = begun() }
        }
    }

    private func begun() -> Phase {
        do throws(ControlError) {
            try socket.prepare()
        } catch {
            // The agent will say so when it wants the socket.
            logger.warning(
                "Nothing is answered during the upgrade.", metadata: ["error.code": "\(error.code.rawValue)"])
            return .ended
        }
        let server = server()
        return .listening(server, Task { try? await server.run() })
    }

    private func server() -> Server<AdmittedChannel> {
        let (answers, connections, socket, logger, onListening) = (answers, connections, socket, logger, onListening)
        let channel = AdmittedChannel(rule: AdmissionRule(socket: socket), connections: connections) { origin in
            { request, writer, channel in
                connections.beginRequest(channel)
                defer { connections.endRequest(channel) }
                let upload = RequestUpload(request)
                let response = await answers.respond(to: request, upload: upload, over: origin)
                try await writer.write(response: response.head, body: response.body)
                if response.status.code >= 400 { await upload.drain() }
            }
        }
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(address: .unixDomainSocket(path: socket.path)),
            onServerRunning: { channel in
                await socket.handleListening(channel, logger: logger)
                await onListening()
            }, eventLoopGroup: eventLoopGroup, logger: quiet)
    }

    /// Lets answers that have begun end, for two seconds at most, and leaves the socket's place to the agent. To be called once
    /// the upgrade has ended, however it did.
    package func stop() async {
        let last = phase.withLock { phase in
            defer { phase = .ended }
            return phase
        }
        guard case .listening(let server, let running) = last else { return }
        let closing = Task { [connections] in
            try await Task.sleep(for: Self.farewell)
            connections.closeAll()
        }
        try? await server.shutdownGracefully()
        await running.value
        closing.cancel()
        // The listening channel removes its file when it is closed.
    }
}
