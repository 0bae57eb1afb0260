import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// A request's body, and whether it was read to its end.
///
/// A client that sends all before it reads anything would wait for ever for us to take the rest of a body we refused
/// early, and we for it to hang up. So after an early refusal the rest is read and dropped.
///
/// Unchecked: only the one task that answers the request reads, first the route, then `drain`; once it reads ahead, only
/// that reader does. The library lets a body be iterated once, so all share the one iterator.
final class RequestUpload: AsyncSequence, @unchecked Sendable {
    typealias Element = ByteBuffer

    private var chunks: RequestBody.AsyncIterator
    private var isAtEnd: Bool
    /// The bytes still missing of the announced length; nil if none was announced. At zero there is no end to wait for.
    private var missingBytes: Int?
    private var ahead: ReadAhead?
    /// The body of a request that was read as a whole.
    private(set) var collected: [UInt8] = []

    init(_ request: Request) {
        chunks = request.body.makeAsyncIterator()
        missingBytes = request.headers[.contentLength].flatMap(Int.init)
        // What was not announced does not come.
        isAtEnd = (missingBytes ?? 0) == 0 && request.headers[.transferEncoding] == nil
    }

    /// Reads a body that is used as a whole. Throws as the library's `collect`.
    func collectAll(upTo byteCount: Int) async throws -> [UInt8] {
        collected = Array(buffer: try await collect(upTo: byteCount))
        return collected
    }

    /// Reads the rest of the body.
    func drain() async {
        do {
            while !isAtEnd { _ = try await next() }
        } catch {
            // The client went away: there is nothing to read any more.
        }
    }

    /// Begins to read pieces while none is asked for; they are handed over together.
    func readAhead() {
        if ahead == nil, !isAtEnd { ahead = ReadAhead { try await self.chunks.next() } }
    }

    /// - Throws: `CancellationError` when the agent stops: it does not wait for a client that may never end.
    private func next() async throws -> ByteBuffer? {
        // The reader that reads ahead looks for the end; a second one must not.
        if missingBytes == 0, ahead == nil {
            isAtEnd = true
            return nil
        }
        let chunk = try await cancelWhenGracefulShutdown {
            if let ahead = self.ahead { try await ahead.take() } else { try await self.chunks.next() }
        }
        if let chunk {
            missingBytes? -= chunk.readableBytes
        } else {
            // A body that is cancelled reads as one that ended.
            guard !Task.isShuttingDownGracefully else { throw CancellationError() }
            isAtEnd = true
        }
        return chunk
    }

    func makeAsyncIterator() -> Iterator { Iterator(upload: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let upload: RequestUpload

        mutating func next() async throws -> ByteBuffer? { try await upload.next() }
    }
}
