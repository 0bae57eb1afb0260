import Logging
import NIOCore
import SyncCore
import SyncDiscovery
import SyncStore

/// The outcome of reading the configuration again.
package struct ConfigurationReload: Sendable, Hashable {
    /// The settings that were taken over.
    package var taken: [ConfigurationChange] = []
    /// The settings that differ, and count from the next start on.
    package var needsRestart: [ConfigurationChange] = []
}

extension Agent {
    /// Reads the configuration again, and takes over what can change while the agent runs.
    ///
    /// - Throws: `ConfigurationError`, and `AgentError.alreadyReloading`; nothing is changed then.
    package func reload() async throws -> ConfigurationReload {
        guard beginReload() else { throw AgentError.alreadyReloading }
        defer { endReload() }
        let wanted: AgentConfiguration
        do {
            let reread = reread
            // A file may be on a disk that hangs.
            wanted = try await driver.reads.run { () throws(any Error) in
                try reread()
            } refused: { _ -> any Error in
                AgentError.stopping
            }
        } catch {
            if let error = error as? ConfigurationError {
                logger.warning("The configuration cannot be read again.", metadata: ["error": "\(error)"])
            }
            throw error
        }
        let before = configuration
        var next = before
        var result = ConfigurationReload()
        for change in before.differences(to: wanted) {
            if next.take(change.key, of: wanted) {
                result.taken.append(change)
            } else {
                result.needsRestart.append(change)
            }
        }
        setConfiguration(next)
        try await eventLoop.submit { [self, next] in carryOut(next, after: before) }.get()
        if next.backups != before.backups { backups.configure(next.backups) }
        if !result.taken.isEmpty || !result.needsRestart.isEmpty {
            func names(_ changes: [ConfigurationChange]) -> String {
                changes.map(\.key.rawValue).joined(separator: ",")
            }
            logger.notice(
                "The configuration was read again.",
                metadata: [
                    "taken": "\(names(result.taken))", "needs.restart": "\(names(result.needsRestart))",
                ])
        }
        return result
    }

    /// Runs on the agent's loop.
    private func carryOut(_ next: AgentConfiguration, after before: AgentConfiguration) {
        if next.logFormat != before.logFormat { log.setFormat(next.logFormat) }
        if next.logLevel != before.logLevel { temporaryLogLevels.configure(next.logLevel) }
        let running = running
        if next.uploadLimit != before.uploadLimit || next.downloadLimit != before.downloadLimit {
            running.bulk.step(
                .limitsChanged(
                    upload: next.uploadLimit?.bytesPerSecond, download: next.downloadLimit?.bytesPerSecond))
        }
        if next.historyRetention != before.historyRetention {
            running.loop.supersededMilliseconds = next.historyRetention.milliseconds
            running.loop.compaction?.retention = next.historyRetention
        }
        if next.usesMDNS != before.usesMDNS || next.announce != before.announce {
            running.discovery.restart(DiscoveryConfiguration(next))
        }
    }
}

extension DiscoveryConfiguration {
    init(_ configuration: AgentConfiguration) {
        self.init(
            usesMulticast: configuration.usesMDNS, announceAddresses: configuration.announce.map { [$0] } ?? [])
    }
}
