import Foundation
import Synchronization

/// The plan of the backups that the agent makes by itself, and their outcome: what a person set with a command, kept in a file of
/// the data directory, or what the configuration says, which wins.
package final class BackupBoard: Sendable {
    package struct View: Sendable {
        package var plan: BackupPlan?
        /// The configuration has the plan.
        package var isConfigured: Bool
        package var record: BackupRecord
        package var isRunning: Bool
        /// The number of tries of the plan that have ended since the agent started.
        package var tries: UInt64
        /// A backup is wanted now.
        package var isAsked: Bool
    }

    private struct File: Codable {
        var plan: BackupPlan?
        /// The folder that the record is about.
        var directory: String?
        var record: BackupRecord
    }

    /// Touched when the plan changes, a backup is asked for, and after each try.
    package let signal = ChangeSignal()
    private let path: String
    private let state: Mutex<View>

    init(dataDirectory: String, configured: BackupPlan?) {
        path = dataDirectory + "/backups.json"
        state = Mutex(Self.read(path, configured: configured))
    }

    /// Returns the plan and its outcome as they are at a start with this configuration.
    private static func read(_ path: String, configured: BackupPlan?) -> View {
        let now = WallClock.milliseconds
        var view = View(
            plan: configured, isConfigured: configured != nil, record: BackupRecord(since: now), isRunning: false,
            tries: 0, isAsked: false)
        if let data = FileManager.default.contents(atPath: path) {
            if let file = try? JSONDecoder().decode(File.self, from: data), file.plan.map(Self.isSound) ?? true {
                view.plan = configured ?? file.plan
                if view.plan?.directory == file.directory { view.record = file.record }
            } else if configured == nil {
                // A person believes that there are backups: the failure says that there are none.
                view.record.lastFailure = BackupRecord.Failure(
                    code: "damaged", message: "The plan of the backups in \(path) cannot be read.",
                    hint: "Set it again: lanyard backup --to FOLDER --every 1d", milliseconds: now)
            }
        }
        return view
    }

    /// Takes the plan of a configuration that was read again; without one that of a person counts.
    func configure(_ plan: BackupPlan?) {
        state.withLock { view in
            var next = Self.read(path, configured: plan)
            (next.isRunning, next.tries) = (view.isRunning, view.tries)
            view = next
        }
        signal.touch()
    }

    private static func isSound(_ plan: BackupPlan) -> Bool {
        plan.directory.hasPrefix("/") && BackupPlan.everySeconds.contains(plan.everySeconds)
            && BackupPlan.keep.contains(plan.keep)
    }

    package var view: View { state.withLock(\.self) }

    /// Sets or ends the plan of a person. Durable when it returns; throws `CocoaError` or `POSIXError`, and changes nothing then.
    package func set(_ plan: BackupPlan?) throws {
        try state.withLock { view in
            var next = view
            next.plan = plan
            if plan?.directory != view.plan?.directory || plan == nil {
                next.record = BackupRecord(since: WallClock.milliseconds)
            }
            // A person who sets a plan wants to see whether it works.
            next.isAsked = plan != nil
            next.record.failures = 0
            try save(next)
            view = next
        }
        signal.touch()
    }

    /// Asks for a backup now. One that is under way will do.
    package func ask() {
        state.withLock { if !$0.isRunning { $0.isAsked = true } }
        signal.touch()
    }

    package func begin() {
        state.withLock { ($0.isRunning, $0.isAsked) = (true, false) }
        signal.touch()
    }

    /// Records the end of a try of this plan: good, failed, or stopped (nil). The outcome of a plan that was replaced meanwhile is
    /// not recorded.
    package func end(_ plan: BackupPlan, _ outcome: Result<BackupRecord.Good, BackupRecord.Failure>?) {
        state.withLock { view in
            view.isRunning = false
            guard view.plan?.directory == plan.directory else { return }
            view.tries += 1
            guard let outcome else { return }
            switch outcome {
            case .success(let good):
                view.record.lastGood = good
                view.record.lastFailure = nil
                view.record.failures = 0
            case .failure(let failure):
                view.record.lastFailure = failure
                view.record.failures += 1
            }
            // Lost, it is only not known after a restart: then a backup is made at once.
            try? save(view)
        }
        signal.touch()
    }

    private func save(_ view: View) throws {
        let file = File(
            plan: view.isConfigured ? nil : view.plan, directory: view.plan?.directory, record: view.record)
        let bytes = try JSONEncoder().encode(file)
        let temporary = path + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        let isWritten = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) == $0.count }
        guard isWritten, fsync(descriptor) == 0, rename(temporary, path) == 0 else {
            let code = POSIXErrorCode(rawValue: errno) ?? .EIO
            unlink(temporary)
            throw POSIXError(code)
        }
    }
}

extension BackupRecord.Failure: Error {}
