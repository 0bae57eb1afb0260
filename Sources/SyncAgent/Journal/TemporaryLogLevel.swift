import Logging
import NIOCore
import Synchronization

/// The level of the log while a person wants another one than the configured. It ends at a deadline of the event loop, or with the
/// agent: nothing of it is stored.
final class TemporaryLogLevel: Sendable {
    private struct State {
        var level: AgentConfiguration.LogLevel?
        var untilMilliseconds: Int64?
        var end: Scheduled<Void>?
    }

    private let configured: AgentConfiguration.LogLevel
    private let log: AgentLog
    private let logger: Logger
    private let eventLoop: any EventLoop
    private let state = Mutex(State())

    init(configured: AgentConfiguration.LogLevel, log: AgentLog, eventLoop: any EventLoop) {
        self.configured = configured
        self.log = log
        self.eventLoop = eventLoop
        logger = log.logger(level: configured)
    }

    var view: LogLevelView {
        state.withLock {
            LogLevelView(
                level: $0.level ?? configured, configured: configured, untilMilliseconds: $0.untilMilliseconds)
        }
    }

    /// Sets the level for some time; the configured one ends an earlier setting. On the event loop only.
    func set(_ level: AgentConfiguration.LogLevel, forMilliseconds milliseconds: Int64) {
        eventLoop.assertInEventLoop()
        guard level != configured else { return end() }
        move(to: level, metadata: ["log.seconds": "\(milliseconds / 1_000)"])
        let end = eventLoop.scheduleTask(in: .milliseconds(milliseconds)) { [weak self] () -> Void in self?.end() }
        let earlier = state.withLock { state in
            defer {
                state = State(
                    level: level, untilMilliseconds: WallClock.milliseconds + milliseconds, end: end)
            }
            return state.end
        }
        earlier?.cancel()
    }

    /// Goes back to the configured level. On the event loop only.
    private func end() {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.end?.cancel()
        if ended.level != nil { move(to: configured, metadata: [:]) }
    }

    /// Cancels the deadline. On the event loop only.
    func stop() { state.withLock { $0.end }?.cancel() }

    /// Says so under the level that logs more: the log shows where more or fewer lines begin.
    private func move(to level: AgentConfiguration.LogLevel, metadata: Logger.Metadata) {
        let (old, new) = (log.temporaryLevel ?? Logger.Level(configured), Logger.Level(level))
        log.temporaryLevel = min(old, new)
        let line = metadata.merging(["log.level": "\(level.rawValue)"]) { $1 }
        logger.notice("The level of the log changed.", metadata: line)
        log.temporaryLevel = level == configured ? nil : new
    }
}

/// The level of the log now.
package struct LogLevelView: Sendable, Hashable {
    package let level: AgentConfiguration.LogLevel
    package let configured: AgentConfiguration.LogLevel
    /// The time from which the configured level counts again, in milliseconds since 1970; nil: it counts now.
    package let untilMilliseconds: Int64?
}

extension Agent {
    /// The level of the log now.
    package var logLevel: LogLevelView { temporaryLogLevel.view }

    /// Sets the level of the log for some time; afterwards, and after a restart, the configured one counts again.
    package func setLogLevel(
        _ level: AgentConfiguration.LogLevel, forMilliseconds milliseconds: Int64
    ) async throws -> LogLevelView {
        try await eventLoop.submit { [temporaryLogLevel] in
            temporaryLogLevel.set(level, forMilliseconds: milliseconds)
            return temporaryLogLevel.view
        }.get()
    }
}
