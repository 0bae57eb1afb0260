import Dispatch
import SyncStore

/// One after the other, on a thread that may block: calls of a `BlobStore` are made here and never on the event loop.
final class BlobThread: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

    /// Waits for its turn and for the disk. Work that was begun is not cancelled.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(BlobError) -> Value
    ) async throws(BlobError) -> Value {
        try await result(body).get()
    }

    func result<Value: Sendable>(
        _ body: @escaping @Sendable () throws(BlobError) -> Value
    ) async -> Result<Value, BlobError> {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(BlobError) in try body() }) }
        }
    }

    func start(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Returns when all that was begun is done. Not to be called from its own work.
    func finish() { queue.sync {} }
}
