package import Logging
package import NIOCore
import ServiceLifecycle
package import SyncAgent

/// The servers over TCP that a person turns on by a setting: `metrics` and `dashboard`. Each is opened, moved and closed while the
/// agent runs.
///
/// Run it in the agent's service group. Where a server cannot listen, the agent goes on: `status` says why, or the answer to
/// `reload`.
package actor ConfiguredServers: Service {
    package typealias Address = AgentConfiguration.ListenAddress
    package typealias Key = ConfigurationLayer.Key

    /// A server that listens.
    private struct Running {
        /// The address as it is configured: port 0 is any that is free.
        var address: Address
        /// The channel that accepts connections.
        let socket: any Channel
        /// Its port. The channel knows none once it is closed.
        let port: UInt16
        let group: ServiceGroup
        let ended: Task<Void, any Error>
        /// The browsers of the dashboard.
        let access: DashboardAccess?
    }

    private let agent: Agent
    private let eventLoopGroup: any EventLoopGroup
    private let logger: Logger
    private var running: [Key: Running] = [:]
    /// Servers that accept nothing more, and finish their answers.
    private var leaving: [Int: Task<Void, Never>] = [:]
    private var leftCount = 0
    private var isStopping = false
    /// The first opening, at the addresses that the agent began with. The first to need it begins it.
    private lazy var opening = Task { await open() }

    package init(agent: Agent, eventLoopGroup: any EventLoopGroup, logger: Logger) {
        self.agent = agent
        self.eventLoopGroup = eventLoopGroup
        self.logger = logger
        agent.moveServers { [weak self] key, address in await self?.move(key, to: address) ?? .asBefore }
    }

    /// The browsers of the dashboard; nil where none is served.
    package var dashboard: DashboardAccess? {
        get async {
            await opening.value
            return running[.dashboard]?.access
        }
    }

    /// The address at which a server listens, with its port; nil where it does not.
    package func address(of key: Key) async -> SocketAddress? {
        await opening.value
        return running[key]?.socket.localAddress
    }

    /// Returns after a graceful shutdown.
    package func run() async throws {
        await opening.value
        try? await gracefulShutdown()
        isStopping = true
        let servers = Array(running.values)
        for server in servers { await server.group.triggerGracefulShutdown() }
        for server in servers { _ = try? await server.ended.value }
        for task in leaving.values { await task.value }
    }

    private func open() async {
        let configuration = agent.configuration
        for (key, address) in [(Key.metrics, configuration.metrics), (.dashboard, configuration.dashboard)] {
            guard case .failed(let message, let hint) = await change(key, to: address) else { continue }
            agent.setStartWarnings([.init(code: Self.failureCode(of: key), message: message, hint: hint)])
        }
    }

    /// Gives a server its address; nil: it is to be closed. A caller that is cancelled does not stop it half-way.
    private func move(_ key: Key, to address: Address?) async -> ServerMove {
        await opening.value
        return await Task { await change(key, to: address) }.value
    }

    private func change(_ key: Key, to address: Address?) async -> ServerMove {
        let old = running[key]
        guard !isStopping, address != old?.address else {
            if address == nil { showWarnings(of: key, at: nil) }
            return .asBefore
        }
        guard let address else {
            running[key] = nil
            if let old { await close(old) }
            showWarnings(of: key, at: nil)
            return .moved
        }
        do {
            running[key] = try await start(key, at: address)
            if let old { await close(old) }
        } catch {
            // The port of the server itself at another host: it is in its own way.
            guard let old, error.isInUse, address.port == old.port else {
                return failure(of: key, at: address, error, goesOn: old?.address)
            }
            await close(old)
            do {
                running[key] = try await start(key, at: address)
            } catch {
                running[key] = try? await start(key, at: Address(host: old.address.host, port: old.port), old.access)
                running[key]?.address = old.address
                let failed = failure(of: key, at: address, error, goesOn: running[key]?.address)
                if running[key] == nil, case .failed(let message, let hint) = failed {
                    showWarnings(of: key, at: nil)
                    agent.setStartWarnings([.init(code: Self.failureCode(of: key), message: message, hint: hint)])
                }
                return failed
            }
        }
        showWarnings(of: key, at: address)
        return .moved
    }

    /// Starts a server, and returns when a client can connect.
    private func start(
        _ key: Key, at address: Address, _ known: DashboardAccess? = nil
    ) async throws(OptionalListener.Failure) -> Running {
        let (sockets, listening) = AsyncStream<any Channel>.makeStream()
        let onListening = { @Sendable (socket: any Channel) in
            listening.yield(socket)
            listening.finish()
        }
        let service: any Service
        var access: DashboardAccess?
        if key == .dashboard {
            let browsers = known ?? DashboardAccess(host: address.host)
            access = browsers
            service = DashboardServer(
                agent: agent, address: address, access: browsers, eventLoopGroup: eventLoopGroup, logger: logger,
                onListening: onListening)
        } else {
            service = MetricsServer(
                agent: agent, address: address, eventLoopGroup: eventLoopGroup, logger: logger,
                onListening: onListening)
        }
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: quiet))
        // Of its own: it outlives the request that asked for it.
        let ended = Task.detached {
            defer { listening.finish() }
            try await group.run()
        }
        for await socket in sockets {
            return Running(
                address: address, socket: socket, port: UInt16(clamping: socket.localAddress?.port ?? 0), group: group,
                ended: ended, access: access)
        }
        do { try await ended.value } catch let failure as OptionalListener.Failure { throw failure } catch {}
        throw OptionalListener.Failure(reason: "it ended before", isInUse: false)
    }

    /// Closes a server: when this returns, no client can connect. Answers under way are finished, and live ones ended.
    private func close(_ server: Running) async {
        await server.group.triggerGracefulShutdown()
        try? await server.socket.closeFuture.get()
        leftCount += 1
        let number = leftCount
        leaving[number] = Task {
            _ = try? await server.ended.value
            leaving[number] = nil
        }
    }

    // MARK: What a person is told

    static func failureCode(of key: Key) -> String { "\(key.rawValue)_unavailable" }

    private static let exposureCode = "dashboard_exposed"

    private func failure(
        of key: Key, at address: Address, _ failure: OptionalListener.Failure, goesOn old: Address?
    ) -> ServerMove {
        logger.warning(
            "A port cannot be opened.", metadata: ["listen.address": "\(address)", "listen.option": "\(key.rawValue)"])
        return .failed(
            message: "The \(key.rawValue) cannot listen at \(address): \(failure.reason)."
                + (old.map { " It goes on at \($0)." } ?? ""),
            hint: failure.isInUse
                ? "Stop the other program, or write another port into lanyardd.toml (\(key.rawValue) = PORT); then: lanyard reload"
                : "Write an address that can be had into lanyardd.toml (\(key.rawValue) = PORT); then: lanyard reload")
    }

    /// Shows what there is to say of a server that listens at this address; nil: there is none.
    private func showWarnings(of key: Key, at address: Address?) {
        guard key == .dashboard else {
            return agent.setStartWarnings([], inPlaceOf: [Self.failureCode(of: key)])
        }
        let exposed = address.flatMap { $0.isLoopback ? nil : Self.exposure(at: $0) }
        agent.setStartWarnings(
            exposed.map { [$0] } ?? [], inPlaceOf: [Self.failureCode(of: key), Self.exposureCode])
    }

    private static func exposure(at address: Address) -> Agent.Warning {
        .init(
            code: exposureCode,
            message:
                "The dashboard is open to the network at \(address), over plain HTTP: a listener on the way can "
                + "read what it shows, and act in place of a browser that is signed in.",
            hint: "On a network that you do not trust, give --dashboard the port alone, and reach it through: "
                + "ssh -L \(address.port):127.0.0.1:\(address.port) HOST")
    }
}

extension ConfiguredServers: CustomStringConvertible {
    /// The name of the service in logs and errors of its group.
    package nonisolated var description: String { "configured servers" }
}
