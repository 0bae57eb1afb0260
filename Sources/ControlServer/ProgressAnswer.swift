import ControlAPI
import HTTPTypes
import HummingbirdCore

extension ControlRequest {
    typealias Tell = @Sendable (ByteProgress) -> Void

    /// Runs a long operation. As one JSON document the answer is its result; as a stream, its progress, and at last the result
    /// or the error. When the client goes away it is cancelled.
    func progressing<Value: Codable & Sendable>(
        _ work: @escaping @Sendable (@escaping Tell) async throws(ControlError) -> Value
    ) async throws(ControlError) -> Response {
        switch format {
        case .lines: return stream(.lines) { try await Self.write(work, to: &$0) }
        case .serverSentEvents: return stream(.serverSentEvents) { try await Self.write(work, to: &$0) }
        case .page:
            let value = try await whileClientListens { () throws(ControlError) in try await work { _ in } }
            var response = Response.json(value)
            response.headers[.connection] = "close"
            return response
        }
    }

    /// A screen shows no more of them.
    private static let shortestPause = Duration.milliseconds(250)

    /// A reader that is slower than the news is told the newest, four times a second at most.
    private static func write<Value: Codable & Sendable>(
        _ work: @escaping @Sendable (@escaping Tell) async throws(ControlError) -> Value,
        to writer: inout StreamWriter
    ) async throws {
        let (news, tell) = AsyncStream<ByteProgress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let working = Task {
            defer { tell.finish() }
            return try await work { tell.yield($0) }
        }
        try await withTaskCancellationHandler {
            do {
                var last: ContinuousClock.Instant?
                for await progress in news {
                    let now = ContinuousClock.now
                    if let last, now - last < Self.shortestPause { continue }
                    last = now
                    try await writer.write(JSONEncoding.bytes(ProgressLine<Value>.progress(progress)))
                }
            } catch {
                working.cancel()
                _ = await working.result
                throw error
            }
            try await writer.write(JSONEncoding.bytes(ProgressLine.result(try await working.value)))
        } onCancel: {
            working.cancel()
        }
    }
}
