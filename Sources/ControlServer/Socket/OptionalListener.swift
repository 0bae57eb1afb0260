import Glibc
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import SyncAgent

/// A TCP port for the dashboard or the metrics. It is a convenience: where it cannot be opened, the agent goes on, and `status`
/// says why.
struct OptionalListener: Sendable {
    /// The option of `lanyardd` that asks for it, which is also its name: `dashboard` or `metrics`.
    let option: String
    let agent: Agent
    let address: AgentConfiguration.ListenAddress
    let eventLoopGroup: any EventLoopGroup
    let logger: Logger

    /// The code of the warning that the port could not be opened.
    static func failureCode(of option: String) -> String { "\(option)_unavailable" }

    /// Serves connections until a graceful shutdown.
    ///
    /// - Parameter onListening: called once, when a client can connect.
    func run(
        _ channel: some ServerChildChannel, onListening: @escaping @Sendable (any Channel) -> Void
    ) async throws {
        do {
            try await serve(channel, onListening)
        } catch {
            logger.warning(
                "A port cannot be opened.", metadata: ["listen.address": "\(address)", "listen.option": "\(option)"])
            agent.addStartWarning(
                .init(
                    code: Self.failureCode(of: option),
                    message: "The \(option) cannot listen at \(address): \(Self.reason(error)).",
                    hint: "Stop the other program, or choose another port with lanyardd --\(option) PORT."))
            try? await gracefulShutdown()
        }
    }

    private static func reason(_ error: any Error) -> String {
        (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "the host has no address"
    }

    private func serve(
        _ channel: some ServerChildChannel, _ onListening: @escaping @Sendable (any Channel) -> Void
    ) async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let server = channel.server(
            configuration: ServerConfiguration(address: .hostname(address.host, port: Int(address.port))),
            onServerRunning: { channel in
                // Out of descriptors: try again in a second. Unheard, the error would end the server.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false), position: .first)
                }.get()
                onListening(channel)
            }, eventLoopGroup: eventLoopGroup, logger: quiet)
        try await server.run()
    }
}
