import ControlAPI
import Logging
import NIOCore
import NIOPosix
import SyncAgent

/// Makes the backups of the agent's plan, one at a time, for as long as the control server runs.
struct BackupSchedule: Sendable {
    /// The wall clock may be set, and stands still while the machine sleeps: it is looked at this often.
    private static let lookEverySeconds: Int64 = 60

    let agent: Agent
    let logger: Logger

    /// Returns when the agent stops or the task is cancelled; a backup that is being made is removed.
    func run() async {
        let board = agent.backups
        while !Task.isCancelled, !board.signal.isFinished {
            let version = board.signal.version
            let view = board.view
            guard let plan = view.plan else {
                await board.signal.wait(beyond: version)
                continue
            }
            let now = WallClock.milliseconds
            let rest = view.isAsked ? 0 : view.record.due(plan, now: now) - now
            guard rest <= 0 else {
                let patience = min(rest, Self.lookEverySeconds * 1_000)
                await board.signal.wait(beyond: version, atMost: .milliseconds(patience))
                continue
            }
            await make(plan)
        }
    }

    private func make(_ plan: BackupPlan) async {
        agent.backups.begin()
        let time = WallClock.milliseconds
        do {
            let made = try await save(plan)
            let time = made.time.millisecondsSinceEpoch
            agent.backups.end(plan, .success(.init(file: made.file, bytes: made.bytes, milliseconds: time)))
            logger.info("A backup was made.", metadata: ["backup.bytes": "\(made.bytes)"])
        } catch is CancellationError {
            agent.backups.end(plan, nil)
        } catch {
            let fault =
                error as? ControlError
                ?? ControlError(.internalFault, "The backup met an error.", hint: "See: lanyard logs")
            agent.backups.end(
                plan,
                .failure(
                    .init(code: fault.code.rawValue, message: fault.message, hint: fault.hint, milliseconds: time)))
            logger.warning("A backup failed.", metadata: ["error.code": "\(fault.code.rawValue)"])
        }
    }

    private struct Saved {
        let file: String
        let bytes: UInt64
        let time: Timestamp
    }

    /// Writes a backup, reads it back as a restore will, gives it its name, and only then removes old ones.
    private func save(_ plan: BackupPlan) async throws -> Saved {
        let device = agent.backupName
        let folder = try await Self.blocking { () throws(ControlError) in
            let folder = try BackupFolder(plan.directory, device: device)
            folder.removeUnfinished()
            // Fewer are kept than before: this makes room for the next one, on a disk that may be full.
            folder.rotate(keep: plan.keep, now: Timestamp(millisecondsSinceEpoch: WallClock.milliseconds))
            return folder
        }
        let file = try await Self.blocking { () throws(ControlError) in try folder.create() }
        // Once it is published, there is nothing under the other name.
        defer { file.remove() }
        let reading = try await agent.backup()
        defer { reading.close() }
        let time = reading.header.time
        var archive = BackupArchive(sink: FileSink(file: file))
        try await archive.write(reading)
        try await Self.blocking { () throws(ControlError) in try file.sync() }
        let bytes = try await Self.check(file)
        let path = try await Self.blocking { () throws(ControlError) in
            let path = try folder.publish(file, time: time)
            folder.rotate(keep: plan.keep, now: time)
            return path
        }
        return Saved(file: path, bytes: bytes, time: time)
    }

    /// Returns the length of the file if all of it is a whole backup.
    private static func check(_ file: BackupFile) async throws -> UInt64 {
        var reader = BackupReader<BackupSHA256>()
        var size: UInt64 = 0
        while true {
            try Task.checkCancellation()
            let offset = size
            let bytes = try await blocking { () throws(ControlError) in try file.read(at: offset) }
            guard !bytes.isEmpty else { break }
            size += UInt64(bytes.count)
            do throws(ControlError) {
                reader.append(bytes)
                while try reader.next() != nil {}
            } catch { throw Self.isDamaged }
        }
        do throws(ControlError) { try reader.finish() } catch { throw Self.isDamaged }
        return size
    }

    private static let isDamaged = ControlError(
        .damaged, "What was read back from the disk is not what was written.",
        hint: "Look at that disk, or give another folder: lanyard backup --to FOLDER --every 1d")

    /// Runs `body` on a thread that may wait for a disk.
    fileprivate static func blocking<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ControlError) -> Value
    ) async throws -> Value {
        try await BackupFolder.threads.runIfActive { try body() }
    }
}

private struct FileSink: BackupSink {
    let file: BackupFile

    func write(_ bytes: ByteBuffer) async throws {
        let file = file
        try await BackupSchedule.blocking { () throws(ControlError) in try file.write(bytes) }
    }
}
