import Logging
import NIOCore
import Synchronization

/// The levels of the log while a person wants others than the configured one, for all of the agent or for components. Each ends at
/// a deadline of the event loop, or with the agent: nothing of it is stored.
final class TemporaryLogLevels: Sendable {
    private struct Setting {
        let level: AgentConfiguration.LogLevel
        let untilMilliseconds: Int64
        let end: Scheduled<Void>
    }

    /// The settings by component; nil: for all that have none of their own.
    private typealias Settings = [LogComponent?: Setting]

    private let configuredLevel: Mutex<AgentConfiguration.LogLevel>
    private let log: AgentLog
    private let eventLoop: any EventLoop
    private let settings = Mutex(Settings())

    init(configured: AgentConfiguration.LogLevel, log: AgentLog, eventLoop: any EventLoop) {
        configuredLevel = Mutex(configured)
        self.log = log
        self.eventLoop = eventLoop
    }

    private var configured: AgentConfiguration.LogLevel { configuredLevel.withLock(\.self) }

    var view: LogLevelView {
        let settings = settings.withLock(\.self)
        let all = settings[nil]
        return LogLevelView(
            level: all?.level ?? configured, configured: configured, untilMilliseconds: all?.untilMilliseconds,
            components: LogComponent.allCases.compactMap { component in
                settings[component].map {
                    LogLevelView.Component(
                        component: component, level: $0.level, untilMilliseconds: $0.untilMilliseconds)
                }
            })
    }

    /// Sets the level for some time, for a component, or with nil for all in place of every earlier setting. The configured level
    /// ends an earlier setting, that of a component only while nothing is set for all. On the event loop only.
    func set(_ level: AgentConfiguration.LogLevel, of component: LogComponent?, forMilliseconds milliseconds: Int64) {
        eventLoop.assertInEventLoop()
        if component == nil {
            for each in LogComponent.allCases { end(each) }
        }
        let isForAll = settings.withLock { $0[nil] != nil }
        if level == configured, component == nil || !isForAll { return end(component) }
        move(component, to: level, metadata: ["log.seconds": "\(milliseconds / 1_000)"])
        let deadline = eventLoop.scheduleTask(in: .milliseconds(milliseconds)) { [weak self] () -> Void in
            self?.end(component)
        }
        let setting = Setting(level: level, untilMilliseconds: WallClock.milliseconds + milliseconds, end: deadline)
        settings.withLock { $0.updateValue(setting, forKey: component) }?.end.cancel()
    }

    /// Replaces the level of the configuration. What was set for some time counts on. On the event loop only.
    func configure(_ level: AgentConfiguration.LogLevel) {
        eventLoop.assertInEventLoop()
        let before = configuredLevel.withLock { configured in
            defer { configured = level }
            return configured
        }
        log.setConfiguredLevel(min(Logger.Level(before), Logger.Level(level)))
        log.logger(level: level).notice(
            "The configured level of the log changed.", metadata: ["log.level": "\(level.rawValue)"])
        log.setConfiguredLevel(Logger.Level(level))
    }

    /// Cancels the deadlines. On the event loop only.
    func stop() { settings.withLock(\.self).values.forEach { $0.end.cancel() } }

    /// Ends a setting. On the event loop only.
    private func end(_ component: LogComponent?) {
        guard let ended = settings.withLock({ $0.removeValue(forKey: component) }) else { return }
        ended.end.cancel()
        move(component, to: nil, metadata: [:])
    }

    /// The level that counts where nothing is set for the component itself.
    private func otherLevel(than component: LogComponent?) -> AgentConfiguration.LogLevel {
        component == nil ? configured : settings.withLock { $0[nil]?.level } ?? configured
    }

    /// Says so under the level that logs more: the log shows where more or fewer lines begin.
    ///
    /// - Parameter level: nil ends the setting.
    private func move(
        _ component: LogComponent?, to level: AgentConfiguration.LogLevel?, metadata: Logger.Metadata
    ) {
        let logger = log.logger(level: configured, component: component)
        let next = level ?? otherLevel(than: component)
        log.setTemporaryLevel(min(logger.logLevel, Logger.Level(next)), of: component)
        let line = metadata.merging(["log.level": "\(next.rawValue)"]) { $1 }
        logger.notice("The level of the log changed.", metadata: line)
        log.setTemporaryLevel(level.map(Logger.Level.init), of: component)
    }
}

/// The levels of the log now.
package struct LogLevelView: Sendable, Hashable {
    /// A level that was set for one component.
    package struct Component: Sendable, Hashable {
        package let component: LogComponent
        package let level: AgentConfiguration.LogLevel
        package let untilMilliseconds: Int64
    }

    /// The level for all that have none of their own.
    package let level: AgentConfiguration.LogLevel
    package let configured: AgentConfiguration.LogLevel
    /// The time from which the configured level counts again, in milliseconds since 1970; nil: it counts now.
    package let untilMilliseconds: Int64?
    /// The levels of single components, in the order of `LogComponent`.
    package let components: [Component]
}

extension Agent {
    /// The levels of the log now.
    package var logLevel: LogLevelView { temporaryLogLevels.view }

    /// Sets the level of the log for some time, of a component or of all; afterwards, and after a restart, the configured one counts
    /// again.
    package func setLogLevel(
        _ level: AgentConfiguration.LogLevel, of component: LogComponent? = nil, forMilliseconds milliseconds: Int64
    ) async throws -> LogLevelView {
        try await eventLoop.submit { [temporaryLogLevels] in
            temporaryLogLevels.set(level, of: component, forMilliseconds: milliseconds)
            return temporaryLogLevels.view
        }.get()
    }
}
