import NIOCore
import Synchronization

/// A reader of a body that goes on while earlier bytes are being written, so that the next commit takes all that arrived since:
/// one commit per piece of the network's would wait for the disk several times as often.
///
/// Holds at most `limitBytes` and one piece more. There is one reader and one taker; the reader ends with the body, with
/// the connection, or when the taker is cancelled.
final class ReadAhead: Sendable {
    private static let limitBytes = 256 << 10

    private struct State {
        /// The bytes that were read and not taken.
        var bytes = ByteBuffer()
        var end: Result<Void, any Error>?
        var taker: CheckedContinuation<Void, Never>?
        var reader: CheckedContinuation<Void, Never>?

        var isFull: Bool { bytes.readableBytes >= ReadAhead.limitBytes }
        var hasNews: Bool { bytes.readableBytes > 0 || end != nil }
    }

    private let state = Mutex(State())
    private let reading = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter next: gives the next piece, nil behind the last; called by one task at a time.
    init(_ next: @escaping @Sendable () async throws -> ByteBuffer?) {
        let task = Task {
            do {
                while let piece = try await next() { await self.add(piece) }
                self.end(.success(()))
            } catch {
                self.end(.failure(error))
            }
        }
        reading.withLock { $0 = task }
    }

    /// All that came since it was asked last, as soon as there is any; nil behind the end.
    func take() async throws -> ByteBuffer? {
        try await withTaskCancellationHandler {
            await news()
            let (bytes, end, reader) = state.withLock { state in
                defer {
                    state.bytes = ByteBuffer()
                    state.reader = nil
                }
                return (state.bytes, state.end, state.reader)
            }
            reader?.resume()
            if bytes.readableBytes > 0 { return bytes }
            try end?.get()
            return nil
        } onCancel: {
            reading.withLock { $0 }?.cancel()
        }
    }

    private func news() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if !state.hasNews { state.taker = continuation }
                return state.hasNews
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits while there is enough.
    private func add(_ piece: ByteBuffer) async {
        var piece = piece
        change { $0.bytes.writeBuffer(&piece) }
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.isFull { state.reader = continuation }
                return !state.isFull
            }
            if hasRoom { continuation.resume() }
        }
    }

    private func end(_ result: Result<Void, any Error>) { change { $0.end = result } }

    /// Changes the state and wakes the waiting side.
    private func change(_ body: (inout State) -> Void) {
        let taker = state.withLock { state in
            body(&state)
            defer { if state.hasNews { state.taker = nil } }
            return state.hasNews ? state.taker : nil
        }
        taker?.resume()
    }
}
