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
    /// The settings that could not be taken over.
    package var failed: [ConfigurationFailure] = []

    fileprivate var isEmpty: Bool { taken.isEmpty && needsRestart.isEmpty && failed.isEmpty }
}

/// A setting that could not be taken over, and the next step.
package struct ConfigurationFailure: Sendable, Hashable {
    package let change: ConfigurationChange
    package let message: String
    package let hint: String
}

extension Agent {
    /// Reads the configuration again, and takes over what can change while the agent runs.
    ///
    /// - Throws: `ConfigurationError`, and `AgentError.alreadyReloading`; nothing is changed then.
    package func reload() async throws -> ConfigurationReload {
        guard beginReload(orAfterwards: false) else { throw AgentError.alreadyReloading }
        defer { finishReload() }
        return try await readConfiguration()
    }

    /// The same for one who waits for no answer, as a signal does not: if the configuration is being read, it is read once more
    /// afterwards. The log says what came of it.
    package func reloadInTurn() async {
        guard beginReload(orAfterwards: true) else { return }
        defer { finishReload() }
        _ = try? await readConfiguration()
    }

    private func finishReload() {
        if endReload() { Task { await reloadInTurn() } }
    }

    private func readConfiguration() async throws -> ConfigurationReload {
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
        var moves = await moveServers(to: wanted)
        // Last: it can have a port that a server leaves.
        moves[.listen] = try await moveListener(to: wanted)
        let (next, result) = Self.step(from: before, to: wanted, moves)
        setConfiguration(next)
        try await eventLoop.submit { [self, next] in carryOut(next, after: before) }.get()
        if next.backups != before.backups { backups.configure(next.backups) }
        if !result.isEmpty {
            func names(_ changes: [ConfigurationChange]) -> String {
                changes.map(\.key.rawValue).joined(separator: ",")
            }
            logger.notice(
                "The configuration was read again.",
                metadata: [
                    "taken": "\(names(result.taken))", "needs.restart": "\(names(result.needsRestart))",
                    "failed": "\(names(result.failed.map(\.change)))",
                ])
        }
        return result
    }

    /// Returns the configuration with what can be taken over of another one, and what became of each setting.
    ///
    /// - Parameter moves: what came of the addresses; without those of the servers if nothing moves them.
    private static func step(
        from before: AgentConfiguration, to wanted: AgentConfiguration, _ moves: [ConfigurationLayer.Key: ServerMove]
    ) -> (AgentConfiguration, ConfigurationReload) {
        var (next, result) = (before, ConfigurationReload())
        (next.file, next.filePlaces) = (wanted.file, wanted.filePlaces)
        let changes = Dictionary(uniqueKeysWithValues: before.differences(to: wanted).map { ($0.key, $0) })
        for key in ConfigurationLayer.Key.allCases {
            // A server that could not listen when the agent began has an address already.
            func change() -> ConfigurationChange {
                changes[key] ?? ConfigurationChange(key: key, before: nil, after: wanted.value(of: key))
            }
            switch (key, moves[key]) {
            case (_, .failed(let message, let hint)?):
                result.failed.append(ConfigurationFailure(change: change(), message: message, hint: hint))
            case (_, .moved?):
                _ = next.take(key, of: wanted)
                result.taken.append(change())
            case (.metrics, nil), (.dashboard, nil):
                if let change = changes[key] { result.needsRestart.append(change) }
            case (_, .asBefore?), (_, nil):
                guard let change = changes[key] else { continue }
                if next.take(key, of: wanted) {
                    result.taken.append(change)
                } else {
                    result.needsRestart.append(change)
                }
            }
        }
        return (next, result)
    }

    /// Runs on the agent's loop.
    private func carryOut(_ next: AgentConfiguration, after before: AgentConfiguration) {
        if next.logFormat != before.logFormat { log.setFormat(next.logFormat) }
        if next.name != before.name {
            presence.rename(next.name)
            running.loop.step(.renamed(next.name))
            peerSignal.touch()
        }
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
        running.discovery.move(to: listenPort)
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
