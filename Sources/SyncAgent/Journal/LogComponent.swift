package import Logging

/// A part of the agent whose lines a person may want more of. Lines of the agent as a whole (start, stop, levels) have none.
package enum LogComponent: String, Sendable, Hashable, CaseIterable {
    /// mDNS: the daemon, records that come and go.
    case discovery
    /// Dials, connections and refusals.
    case transport
    /// Tickets and codes.
    case pairing
    /// Sessions with peers, their frames, members.
    case sync
    /// Commits, dropped history, backups.
    case store
    /// The bytes of attachments.
    case attachments
    /// Requests on the control socket; the ports of the dashboard and of the metrics.
    case control
}

/// The loggers of an agent, one a component.
package struct AgentLoggers: Sendable {
    package let discovery: Logger
    package let transport: Logger
    package let pairing: Logger
    package let sync: Logger
    package let store: Logger
    package let attachments: Logger
    package let control: Logger

    package init(_ log: AgentLog, level: AgentConfiguration.LogLevel) {
        discovery = log.logger(level: level, component: .discovery)
        transport = log.logger(level: level, component: .transport)
        pairing = log.logger(level: level, component: .pairing)
        sync = log.logger(level: level, component: .sync)
        store = log.logger(level: level, component: .store)
        attachments = log.logger(level: level, component: .attachments)
        control = log.logger(level: level, component: .control)
    }
}

/// The levels that a person set while the agent runs, packed into one word, so that no line takes a lock to read them: four bits
/// each, that of all components first, that of a configuration read again last. 0: none is set.
struct PackedLogLevels: Sendable, Equatable {
    var bits: UInt64 = 0

    /// The level set for a component, or for all of them with nil; nil: none is.
    subscript(component: LogComponent?) -> Logger.Level? {
        get { level(at: Self.shift(component)) }
        set { set(newValue, at: Self.shift(component)) }
    }

    /// The level that counts in place of the one that a logger was made with.
    var configured: Logger.Level? {
        get { level(at: Self.configuredShift) }
        set { set(newValue, at: Self.configuredShift) }
    }

    private static let configuredShift: UInt64 = 60

    private func level(at shift: UInt64) -> Logger.Level? {
        let place = Int(bits >> shift & 0xF) - 1
        return Logger.Level.allCases.indices.contains(place) ? Logger.Level.allCases[place] : nil
    }

    private mutating func set(_ level: Logger.Level?, at shift: UInt64) {
        let place = level.flatMap { Logger.Level.allCases.firstIndex(of: $0) }.map { UInt64($0) + 1 } ?? 0
        bits = bits & ~(0xF << shift) | place << shift
    }

    private static func shift(_ component: LogComponent?) -> UInt64 {
        guard let component, let index = LogComponent.allCases.firstIndex(of: component) else { return 0 }
        return UInt64(index + 1) * 4
    }
}
