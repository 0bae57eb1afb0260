package import ControlAPI
package import SyncAgent
import SyncModel

// The backups that the agent makes by itself: their plan, and what a person should know of them.
extension Agent {
    /// The word for this device in the names of backups.
    package var backupName: String { device.shortID }

    /// The plan and its outcome.
    package var backupsResponse: BackupsResponse { Self.response(backups.view, now: WallClock.milliseconds) }

    private static func response(_ view: BackupBoard.View, now: Int64) -> BackupsResponse {
        let record = view.record
        return BackupsResponse(
            plan: view.plan.map {
                BackupPlanEntry(directory: $0.directory, everySeconds: Int($0.everySeconds), keep: $0.keep)
            }, configured: view.isConfigured, running: view.isRunning,
            lastGood: record.lastGood.map {
                .init(file: $0.file, bytes: $0.bytes, time: Timestamp(millisecondsSinceEpoch: $0.milliseconds))
            },
            lastFailure: record.lastFailure.map {
                .init(
                    code: $0.code, message: $0.message, hint: $0.hint,
                    time: Timestamp(millisecondsSinceEpoch: $0.milliseconds))
            },
            next: view.plan.map { plan in
                Timestamp(millisecondsSinceEpoch: view.isAsked ? now : max(now, record.due(plan, now: now)))
            })
    }

    /// Warns if the last try failed, and if the newest good backup is older than two intervals.
    func backupWarnings(now: Int64) -> [StatusResponse.Warning] {
        let view = backups.view
        var warnings: [StatusResponse.Warning] = []
        if let failure = view.record.lastFailure {
            let kept = view.record.lastGood == nil ? "There is no good one yet." : "Older ones stay."
            warnings.append(
                .init(
                    code: "backup_failed", message: "The last backup failed: \(failure.message) \(kept)",
                    hint: failure.hint))
        }
        if let plan = view.plan, view.record.isOverdue(plan, now: now) {
            let text = TimeText(now: Timestamp(millisecondsSinceEpoch: now))
            let newest =
                view.record.lastGood.map { good in
                    "The newest good backup is from \(text.age(Timestamp(millisecondsSinceEpoch: good.milliseconds)))"
                } ?? "There is no good backup yet"
            let every = TimeText.interval(seconds: Int(plan.everySeconds))
            warnings.append(
                .init(
                    code: "backup_overdue", message: "\(newest); there should be one every \(every).",
                    hint: "Make one at once: lanyard backup --now"))
        }
        return warnings
    }

    /// Sets the plan, and returns when the first try has ended: good, or with its failure in the answer. Throws `invalid_argument`, `forbidden` where the configuration has a plan, and
    /// what keeps files from being written in the folder.
    package func setBackups(_ entry: BackupPlanEntry) async throws(ControlError) -> BackupsResponse {
        try checkIsNotConfigured()
        guard entry.directory.hasPrefix("/"), entry.directory.utf8.count <= 4_096, !entry.directory.utf8.contains(0)
        else {
            throw ControlError(
                .invalidArgument, "The folder for backups is no absolute path.", hint: "Begin it with a slash.")
        }
        guard BackupPlan.everySeconds.contains(Int64(entry.everySeconds)), BackupPlan.keep.contains(entry.keep) else {
            throw ControlError(
                .invalidArgument, "A backup is made every 1s to 365d, and 1 to 10,000 are kept.",
                hint: "For example: --every 1d --keep 7")
        }
        let data = configuration.dataDirectory
        guard entry.directory != data, !entry.directory.hasPrefix(data + "/") else {
            throw ControlError(
                .invalidArgument, "A backup inside the data directory is lost together with it.",
                hint: "Give a folder on another disk.")
        }
        try await BackupFolder.check(entry.directory, device: backupName)
        let before = backups.view.tries
        _ = try setPlan(
            BackupPlan(directory: entry.directory, everySeconds: Int64(entry.everySeconds), keep: entry.keep))
        try await untilTried(beyond: before)
        return backupsResponse
    }

    /// Ends the plan; backups that are there stay. Throws `forbidden` where the configuration has it.
    package func endBackups() throws(ControlError) -> BackupsResponse {
        try checkIsNotConfigured()
        return try setPlan(nil)
    }

    private func setPlan(_ plan: BackupPlan?) throws(ControlError) -> BackupsResponse {
        do { try backups.set(plan) } catch {
            throw ControlError(
                .storeFailed, "The plan could not be stored in \(configuration.dataDirectory); nothing was changed.",
                hint: "Look at the disk: lanyard doctor")
        }
        return backupsResponse
    }

    private func checkIsNotConfigured() throws(ControlError) {
        guard backups.view.isConfigured else { return }
        throw ControlError(
            .forbidden, "The plan of the backups stands in the agent's configuration.",
            hint: "Change backup-to, backup-every and backup-keep there; then: lanyard reload")
    }

    /// Returns when a try has ended that was under way or began now.
    ///
    /// - Throws: `not_found` without a plan, and the failure of the try.
    package func backUpNow() async throws(ControlError) -> BackupsResponse {
        guard backups.view.plan != nil else {
            throw ControlError(
                .notFound, "The agent makes no backups by itself.",
                hint: "Set a plan: lanyard backup --to FOLDER --every 1d")
        }
        let before = backups.view.tries
        backups.ask()
        try await untilTried(beyond: before)
        if let failure = backups.view.record.lastFailure {
            throw ControlError(
                ErrorCode(rawValue: failure.code) ?? .internalFault, failure.message, hint: failure.hint)
        }
        return backupsResponse
    }

    private func untilTried(beyond tries: UInt64) async throws(ControlError) {
        while true {
            let version = backups.signal.version
            if backups.view.tries > tries { return }
            guard backups.view.plan != nil else {
                throw ControlError(
                    .cancelled, "The plan of the backups was ended meanwhile.",
                    hint: "Set it again: lanyard backup --to FOLDER --every 1d")
            }
            if backups.signal.isFinished || Task.isCancelled {
                throw ControlError(.stopping, "The agent stops.", hint: "Ask again when it runs.")
            }
            await backups.signal.wait(beyond: version)
        }
    }
}
