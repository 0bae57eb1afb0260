import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// A backup as the body of an answer: the archive, as the client takes it.
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
                var archive = BackupArchive(sink: AnswerSink(writer: writer))
                // The agent does not wait at its end for who takes a backup.
                archive = try await cancelWhenGracefulShutdown { [archive] in
                    var archive = archive
                    try await archive.write(reading)
                    return archive
                }
                try await archive.sink.writer.finish(nil)
            })
    }
}

/// The body of an answer. Unchecked: used by the one task that answers the request.
private struct AnswerSink: BackupSink, @unchecked Sendable {
    var writer: any ResponseBodyWriter

    mutating func write(_ bytes: ByteBuffer) async throws { try await writer.write(bytes) }
}
