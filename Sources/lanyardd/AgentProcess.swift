import ArgumentParser
import ControlAPI
import ControlServer
import Foundation
import Logging
import NIOPosix
import ServiceLifecycle
import SyncAgent
import Synchronization
import UnixSignals

/// The agent as a process: signals, the service manager, the control socket.
struct AgentProcess {
    /// Makes the configuration from flags, environment and file.
    let read: @Sendable () throws(ConfigurationError) -> AgentConfiguration
    private(set) var configuration: AgentConfiguration

    init(read: @escaping @Sendable () throws(ConfigurationError) -> AgentConfiguration) throws(ConfigurationError) {
        self.read = read
        configuration = try read()
    }

    /// The system service's place is for its group; any other belongs to the user who started the agent.
    private var isServiceSocket: Bool { configuration.socketPath.hasPrefix("/run/lanyard/") }

    /// Sends this process the signal of a clean stop once standard input has ended.
    static func stopWhenInputEnds() {
        Thread.detachNewThread {
            while let read = try? FileHandle.standardInput.read(upToCount: 4_096), !read.isEmpty {}
            kill(getpid(), SIGTERM)
        }
    }

    /// Runs the agent until it is stopped; anew after a wipe, which leaves a device in a home of its own.
    mutating func run() async throws {
        while try await runOnce() {}
    }

    /// - Returns: true if the device's data was wiped.
    private mutating func runOnce() async throws -> Bool {
        // Writing to a peer or a reader that left is an error to handle, not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        // Until the agent runs there is nothing to read again.
        let reloadsOnHangup = !Terminal.isControlling
        if reloadsOnHangup { signal(SIGHUP, SIG_IGN) }
        // Keys are in memory: a core dump must not carry them to disk.
        var none = rlimit()
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        let log = AgentLog(directory: configuration.dataDirectory, format: configuration.logFormat)
        let notifier = SystemdNotifier(environment: ProcessInfo.processInfo.environment)
        let socket = ControlSocket(path: configuration.socketPath, audience: isServiceSocket ? .group : .owner)
        let upgrade = UpgradeServer(
            socket: socket, eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: log.logger(level: configuration.logLevel))
        let agent: Agent
        do {
            agent = try await Agent.start(
                configuration, version: LanyardVersion.current, log: log, reread: read
            ) { progress in
                notifier?.send(upgraded: progress.share)
                upgrade.record(progress)
            }
        } catch {
            await upgrade.stop()
            Lanyardd.complain("\(error.code): \(error.message)", hint: error.hint)
            throw error.isFinal ? ExitCode(4) : ExitCode.failure
        }
        await upgrade.stop()
        let servers = ConfiguredServers(
            agent: agent, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: agent.loggers.control)
        let server = ControlServer(
            agent: agent, socket: socket,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: agent.loggers.control,
            dashboard: { await servers.dashboard }, onListening: { notifier?.send(.ready) })
        let watch = WipeWatch(agent: agent)
        var services: [any Service] = [server, MemoryTrim { agent.rest() }, servers]
        if reloadsOnHangup { services.append(ReloadOnHangup(agent: agent)) }
        if let notifier, let interval = notifier.watchdogIntervalNanoseconds {
            services.append(Watchdog(agent: agent, notifier: notifier, intervalNanoseconds: interval))
        }
        var quiet = agent.logger
        quiet.logLevel = max(quiet.logLevel, .warning)
        let group = ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0) }
                    + [.init(service: watch, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        let outcome: Result<Void, any Error>
        do {
            try await group.run()
            outcome = .success(())
        } catch {
            Lanyardd.complain("the control socket failed: \(error)", hint: "choose another place with --socket")
            outcome = .failure(ExitCode.failure)
        }
        let isWiped = watch.isWiped.load(ordering: .relaxed)
        configuration = agent.configuration
        if !isWiped { notifier?.send(.stopping) }
        await agent.stop()
        try outcome.get()
        return isWiped
    }
}

/// Reads the configuration again at each SIGHUP, as services do. An agent at a terminal ends with it instead.
private struct ReloadOnHangup: Service {
    let agent: Agent

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        await cancelWhenGracefulShutdown {
            for await _ in signals { await agent.reloadInTurn() }
        }
    }
}

private enum Terminal {
    /// True if the process ends with a terminal.
    static var isControlling: Bool {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        if terminal >= 0 { close(terminal) }
        return terminal >= 0
    }
}

/// Ends the services once the device's data was wiped.
private final class WipeWatch: Service {
    private let agent: Agent
    let isWiped = Atomic(false)

    init(agent: Agent) { self.agent = agent }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in self.agent.wipes {
                self.isWiped.store(true, ordering: .relaxed)
                return
            }
        }
    }
}

/// Says "alive" to the service manager for as long as the agent's loop answers.
private struct Watchdog: Service {
    let agent: Agent
    let notifier: SystemdNotifier
    let intervalNanoseconds: Int64

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                if (try? await agent.snapshot()) != nil { notifier.send(.watchdog) }
                try? await Task.sleep(for: .nanoseconds(intervalNanoseconds))
            }
        }
    }
}
