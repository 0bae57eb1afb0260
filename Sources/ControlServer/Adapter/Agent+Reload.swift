package import ControlAPI
package import SyncAgent

// The configuration of the running agent, read again.
extension Agent {
    /// Reads the configuration again, and takes over what can change while the agent runs.
    ///
    /// Throws `file_unreadable` and `invalid_argument` for a configuration that cannot be read, and `already_running`.
    package func reloadConfiguration() async throws(ControlError) -> ReloadResponse {
        let outcome = try await controlled { try await reload() }
        return ReloadResponse(
            taken: outcome.taken.map(SettingChange.init), needsRestart: outcome.needsRestart.map(SettingChange.init),
            failed: outcome.failed.map(SettingFailure.init), file: configuration.file,
            filePlaces: configuration.filePlaces)
    }
}

extension SettingFailure {
    fileprivate init(_ failure: ConfigurationFailure) {
        let change = failure.change
        self.init(
            setting: change.key.rawValue, before: change.before, after: change.after, message: failure.message,
            hint: failure.hint)
    }
}

extension SettingChange {
    fileprivate init(_ change: ConfigurationChange) {
        self.init(setting: change.key.rawValue, before: change.before, after: change.after)
    }
}
