import Glibc
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import SyncAgent
import SyncTransport

/// A TCP port for the dashboard or the metrics.
struct OptionalListener: Sendable {
    /// The reason why a port cannot be opened.
    struct Failure: Error, Hashable {
        let reason: String
        /// True if a program listens there already.
        let isInUse: Bool

        init(reason: String, isInUse: Bool) { (self.reason, self.isInUse) = (reason, isInUse) }

        fileprivate init(_ error: any Error) {
            let code = (error as? IOError)?.errnoCode
            self.init(
                reason: code.map { String(cString: strerror($0)) } ?? "the host has no address",
                isInUse: code == EADDRINUSE)
        }
    }

    let address: AgentConfiguration.ListenAddress
    let eventLoopGroup: any EventLoopGroup
    let logger: Logger

    /// Serves connections until a graceful shutdown.
    ///
    /// - Parameter onListening: called once, when a client can connect.
    func run(
        _ channel: some ServerChildChannel, onListening: @escaping @Sendable (any Channel) -> Void
    ) async throws(Failure) {
        do { try await serve(channel, onListening) } catch { throw Failure(error) }
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
                    try channel.pipeline.syncOperations.addHandlers(
                        PortReleaseHandler(), AcceptBackoffHandler(shouldForwardIOErrorCaught: false), position: .first)
                }.get()
                onListening(channel)
            }, eventLoopGroup: eventLoopGroup, logger: quiet)
        try await server.run()
    }
}
