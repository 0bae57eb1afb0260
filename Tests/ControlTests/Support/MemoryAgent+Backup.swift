import ControlAPI
import ControlServer
import NIOCore
import Synchronization

/// What a backup of a `MemoryAgent` holds.
struct MemoryBackup {
    static let blob = String(repeating: "ab", count: 32)

    var schema = BackupFormat.schemaVersion
    var version = BackupFormat.version
    var files: [(name: String, bytes: [UInt8])] = [
        (BackupFormat.identity, Array("keys".utf8)), (BackupFormat.blob(blob), [UInt8](repeating: 7, count: 300_000)),
        (BackupFormat.database, [UInt8](repeating: 1, count: 70_001)),
    ]
    var leftOut: [String] = []
    /// The agent's disk fails before this file.
    var failsAt: Int?
}

extension MemoryAgent {
    func setBackup(_ backup: MemoryBackup) { self.backup = backup }

    func beginBackup() throws(ControlError) -> any BackupReading { OutgoingMemoryBackup(backup) }
}

private final class OutgoingMemoryBackup: BackupReading {
    let header: BackupHeader
    let leftOut: [String]
    private let steps: Mutex<[Result<BackupStep, ControlError>]>

    init(_ backup: MemoryBackup) {
        header = BackupHeader(
            lanyardBackup: backup.version, schema: backup.schema,
            device: .init(id: MemoryAgent.device, shortID: "AAAAAAA", name: "memory"),
            time: Timestamp(millisecondsSinceEpoch: 1_763_700_000_000), estimatedBytes: 370_005)
        leftOut = backup.leftOut
        var steps: [Result<BackupStep, ControlError>] = []
        for (number, file) in backup.files.enumerated() {
            if number == backup.failsAt {
                steps.append(.failure(ControlError(.storeFailed, "The disk fails.", hint: "Get another.")))
            }
            steps.append(.success(.file(TarEntry(file.name, size: UInt64(file.bytes.count)))))
            for start in stride(from: 0, to: file.bytes.count, by: 65_536) {
                let part = file.bytes[start..<min(start + 65_536, file.bytes.count)]
                steps.append(.success(.bytes(ByteBuffer(bytes: part))))
            }
        }
        self.steps = Mutex(steps)
    }

    func next() async throws(ControlError) -> BackupStep? {
        try steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }?.get()
    }

    func close() { steps.withLock { $0 = [] } }
}
