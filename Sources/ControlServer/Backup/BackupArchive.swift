import ControlAPI
import Crypto
import NIOCore

/// A place that takes the bytes of a backup, in their order.
protocol BackupSink: Sendable {
    mutating func write(_ bytes: ByteBuffer) async throws
}

/// The bytes of a backup on their way to a sink: counted and hashed, for the checksum that only their end can know.
///
/// Unchecked: used by one task.
struct BackupArchive<Sink: BackupSink>: @unchecked Sendable {
    var sink: Sink
    private var count: UInt64 = 0
    private var hash = SHA256()

    init(sink: Sink) { self.sink = sink }

    /// Writes all of a backup. Whatever is thrown before the end: without its checksum, no reader takes the part for a backup.
    mutating func write(_ reading: OutgoingBackup) async throws {
        try await add(BackupFormat.header, JSONEncoding.bytes(reading.header))
        var padding: [UInt8] = []
        while let step = try await reading.next() {
            try Task.checkCancellation()
            switch step {
            case .file(let entry):
                try await write(ByteBuffer(bytes: padding + entry.header))
                padding = entry.padding
            case .bytes(let bytes): try await write(bytes)
            }
        }
        try await write(ByteBuffer(bytes: padding))
        let checksum = BackupChecksum(
            bytes: count, sha256: Hexadecimal.text(hash.finalize()), leftOut: reading.leftOut)
        try await add(BackupFormat.checksum, JSONEncoding.bytes(checksum))
        try await write(ByteBuffer(bytes: TarEntry.end))
    }

    private mutating func write(_ bytes: ByteBuffer) async throws {
        guard bytes.readableBytes > 0 else { return }
        count += UInt64(bytes.readableBytes)
        bytes.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        try await sink.write(bytes)
    }

    private mutating func add(_ name: String, _ bytes: [UInt8]) async throws {
        let entry = TarEntry(name, size: UInt64(bytes.count))
        try await write(ByteBuffer(bytes: entry.header + bytes + entry.padding))
    }
}

/// The hash that backups are checked with.
struct BackupSHA256: BackupHash {
    private var hash = SHA256()

    mutating func update(_ bytes: [UInt8]) { hash.update(data: bytes) }

    var hexadecimal: String { Hexadecimal.text(hash.finalize()) }
}
