import ControlAPI
import Crypto
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// A backup as the body of an answer: the archive, as the client takes it, with the checksum that only its end can know.
///
/// A failure in the middle ends the connection before the checksum, so that no client takes the part for a backup.
struct BackupAnswer: Sendable {
    private let reading: OutgoingBackup

    init(_ reading: OutgoingBackup) { self.reading = reading }

    func response() -> Response {
        let reading = reading
        return Response(
            status: .ok,
            headers: [.contentType: "application/x-tar", .cacheControl: "no-store", .connection: "close"],
            body: ResponseBody { writer in
                defer { reading.close() }
                var archive = Archive(writer: writer)
                // The agent does not wait at its end for who takes a backup.
                archive = try await cancelWhenGracefulShutdown { [archive] in
                    var archive = archive
                    try await Self.write(reading, to: &archive)
                    return archive
                }
                try await archive.writer.finish(nil)
            })
    }

    private static func write(_ reading: OutgoingBackup, to archive: inout Archive) async throws {
        try await archive.add(BackupFormat.header, JSONEncoding.bytes(reading.header))
        var padding: [UInt8] = []
        while let step = try await reading.next() {
            try Task.checkCancellation()
            switch step {
            case .file(let entry):
                try await archive.write(ByteBuffer(bytes: padding + entry.header))
                padding = entry.padding
            case .bytes(let bytes): try await archive.write(bytes)
            }
        }
        try await archive.write(ByteBuffer(bytes: padding))
        let checksum = BackupChecksum(
            bytes: archive.count, sha256: archive.digest, leftOut: reading.leftOut)
        try await archive.add(BackupFormat.checksum, JSONEncoding.bytes(checksum))
        try await archive.write(ByteBuffer(bytes: TarEntry.end))
    }
}

/// Writes, counts and hashes. Unchecked: used by the one task that answers the request.
private struct Archive: @unchecked Sendable {
    var writer: any ResponseBodyWriter
    var count: UInt64 = 0
    private var hash = SHA256()

    init(writer: any ResponseBodyWriter) { self.writer = writer }

    mutating func write(_ bytes: ByteBuffer) async throws {
        guard bytes.readableBytes > 0 else { return }
        count += UInt64(bytes.readableBytes)
        bytes.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        try await writer.write(bytes)
    }

    mutating func add(_ name: String, _ bytes: [UInt8]) async throws {
        let entry = TarEntry(name, size: UInt64(bytes.count))
        try await write(ByteBuffer(bytes: entry.header + bytes + entry.padding))
    }

    /// The SHA-256 of all bytes written, in hexadecimal.
    var digest: String { Hexadecimal.text(hash.finalize()) }
}
