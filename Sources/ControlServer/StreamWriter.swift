import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// Writes JSON values one after another as the client asked for them. Each call is flushed, and returns when the socket
/// took the bytes: a slow reader slows down the writer.
struct StreamWriter {
    let format: StreamFormat
    var body: any ResponseBodyWriter

    /// Writes a value without line breaks.
    mutating func write(_ json: [UInt8]) async throws {
        var writer = JSONWriter(capacity: json.count + 16)
        open(&writer, id: nil)
        writer.raw(json)
        close(&writer)
        try await flush(writer)
    }

    /// A page, in one flush.
    mutating func write(_ events: [EventLine]) async throws {
        var writer = JSONWriter(capacity: events.count * 320)
        for event in events {
            open(&writer, id: event.position.text)
            event.write(to: &writer)
            close(&writer)
        }
        try await flush(writer)
    }

    /// Writes a rewind: events read from behind its position are undone.
    mutating func write(_ rewind: RewindLine) async throws {
        var writer = JSONWriter()
        switch format {
        case .page, .lines: break
        case .serverSentEvents: writer.raw("event: rewind\n")
        }
        open(&writer, id: rewind.position.text)
        writer.raw(JSONEncoding.bytes(rewind))
        close(&writer)
        try await flush(writer)
    }

    /// Objects that changed, in one flush.
    mutating func write(_ changes: [ObjectChange]) async throws {
        var writer = JSONWriter(capacity: changes.count * 320)
        for change in changes {
            open(&writer, id: String(change.position))
            writer.raw(JSONEncoding.bytes(change))
            close(&writer)
        }
        try await flush(writer)
    }

    /// Some lines of a live query, in one flush.
    mutating func write(_ lines: [[UInt8]]) async throws {
        var writer = JSONWriter(capacity: lines.reduce(0) { $0 + $1.count + 16 })
        append(lines, to: &writer)
        try await flush(writer)
    }

    /// A difference of a live query, in one flush. Its last line has the position, for the browser as well.
    mutating func write(_ difference: LiveLines) async throws {
        var writer = JSONWriter(capacity: difference.lines.reduce(128) { $0 + $1.count + 16 })
        append(difference.lines, to: &writer)
        open(&writer, id: difference.position)
        writer.raw(JSONEncoding.bytes(QueryChange.complete(position: difference.position)))
        close(&writer)
        try await flush(writer)
    }

    private func append(_ lines: [[UInt8]], to writer: inout JSONWriter) {
        for line in lines {
            open(&writer, id: nil)
            writer.raw(line)
            close(&writer)
        }
    }

    /// A page of a list, in one flush.
    mutating func write(_ entries: [some PageEntry]) async throws {
        var writer = JSONWriter(capacity: entries.count * 320)
        for entry in entries {
            open(&writer, id: nil)
            entry.write(to: &writer)
            close(&writer)
        }
        try await flush(writer)
    }

    /// Writes an error as the last value: the answer has begun, so its status cannot say it.
    mutating func write(_ error: ControlError) async throws {
        var writer = JSONWriter()
        switch format {
        case .page, .lines: break
        case .serverSentEvents: writer.raw("event: error\n")
        }
        open(&writer, id: nil)
        writer.raw(ErrorResponse(error).bytes)
        close(&writer)
        try await flush(writer)
    }

    private func open(_ writer: inout JSONWriter, id: String?) {
        switch format {
        case .page, .lines: return
        case .serverSentEvents:
            if let id {
                writer.raw("id: ")
                writer.raw(Array(id.utf8))
                writer.byte(0x0A)
            }
            writer.raw("data: ")
        }
    }

    private func close(_ writer: inout JSONWriter) {
        writer.byte(0x0A)
        switch format {
        case .page, .lines: return
        case .serverSentEvents: writer.byte(0x0A)
        }
    }

    private mutating func flush(_ writer: JSONWriter) async throws {
        // Safe: one task at a time holds this value, and the library's writer is a value over a sendable channel.
        nonisolated(unsafe) var body = body
        try await body.write(ByteBuffer(bytes: writer.bytes))
    }
}

extension ControlRequest {
    /// An answer that goes on until `write` returns, the client goes away, or the agent stops. Noticing that the client
    /// went away uses up the connection's reading side, so it cannot carry another request.
    func stream(
        _ format: StreamFormat, _ write: @escaping @Sendable (inout StreamWriter) async throws -> Void
    ) -> Response {
        let type = format == .lines ? ContentType.lines : ContentType.serverSentEvents
        let (body, origin) = (request.body, origin)
        return Response(
            status: .ok, headers: [.contentType: type, .cacheControl: "no-store", .connection: "close"],
            body: ResponseBody { bodyWriter in
                let sink = WriterBox(StreamWriter(format: format, body: bodyWriter))
                try? await Self.whileListening(body, origin) {
                    do {
                        try await write(&sink.writer)
                    } catch let error as ControlError where error != .waitEnded {
                        try await sink.writer.write(error)
                    }
                }
                try await bodyWriter.finish(nil)
            })
    }

    /// Runs `operation`; cancels it when the client goes away or the agent stops.
    func whileClientListens<Value: Sendable>(
        _ operation: @Sendable @escaping () async throws(ControlError) -> Value
    ) async throws(ControlError) -> Value {
        do {
            return try await Self.whileListening(request.body, origin) { try await operation() }
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError.waitEnded
        }
    }

    private static func whileListening<Value: Sendable>(
        _ body: RequestBody, _ origin: Origin, _ operation: @Sendable @escaping () async throws -> Value
    ) async throws -> Value {
        try await cancelWhenGracefulShutdown {
            switch origin {
            case .memory: try await operation()
            case .owner, .group, .page:
                try await body.consumeWithCancellationOnInboundClose { _ in try await operation() }
            }
        }
    }
}

extension ControlError {
    static let waitEnded = ControlError(
        .stopping, "The wait was ended.", hint: "The agent is stopping, or the client went away.")
}

/// A box by which the one task that writes an answer hands its writer into the closure that fills it.
private final class WriterBox: @unchecked Sendable {
    var writer: StreamWriter
    init(_ writer: StreamWriter) { self.writer = writer }
}
