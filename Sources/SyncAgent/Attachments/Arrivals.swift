import NIOCore
import SyncModel
import Synchronization

/// The blobs that arrive now, their rates, and the callers that wait for them. Updated by the bulk loop, read from any thread.
///
/// Memory: some samples for each blob that is being fetched, of which the core bounds the number.
final class Arrivals: Sendable {
    enum News: Sendable {
        case progress(BlobProgress)
        case here
        case failed(FetchError)
    }

    /// A caller that waits for a blob. The newest news is all it needs.
    struct Waiter {
        let id: UInt64
        let news: AsyncStream<News>.Continuation
    }

    private struct State {
        var arriving: [BlobName: Arrival] = [:]
        var waiting: [BlobName: [Waiter]] = [:]
        var lastWaiter: UInt64 = 0
        var isStopped = false
    }

    private let state = Mutex(State())

    /// The progress of all arriving blobs, in the order of their names.
    var all: [BlobProgress] {
        let now = NIODeadline.now()
        return state.withLock { state in state.arriving.map { $1.progress(of: $0, at: now) } }
            .sorted { $0.blob < $1.blob }
    }

    /// Nil while nothing of it arrives.
    func progress(of blob: BlobName) -> BlobProgress? {
        state.withLock { $0.arriving[blob]?.progress(of: blob, at: .now()) }
    }

    // MARK: Waiting

    /// The stream ends with `here` or `failed`, at once if the agent stops.
    func wait(for blob: BlobName) -> (id: UInt64, news: AsyncStream<News>) {
        let (news, continuation) = AsyncStream.makeStream(of: News.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.lastWaiter += 1
            let waiter = Waiter(id: state.lastWaiter, news: continuation)
            if state.isStopped {
                waiter.end(.failed(.stopped))
            } else {
                state.waiting[blob, default: []].append(waiter)
            }
            return waiter.id
        }
        return (id, news)
    }

    func leave(_ id: UInt64, _ blob: BlobName) {
        state.withLock { state in
            state.waiting[blob]?.removeAll { $0.id == id }
            if state.waiting[blob]?.isEmpty == true { state.waiting[blob] = nil }
        }
    }

    func isAwaited(_ blob: BlobName) -> Bool { state.withLock { $0.waiting[blob] != nil } }

    // MARK: News of the bulk loop

    /// Records that a fetch began; the stored part of the blob is not known yet.
    func began(_ blob: BlobName) {
        state.withLock { state in
            if state.arriving[blob] == nil { state.arriving[blob] = Arrival() }
        }
    }

    /// Records the bytes that an earlier fetch left. They do not count in the rate.
    func resumed(_ blob: BlobName, _ present: ChunkSet) {
        progressed(blob, to: blob.layout.byteCount(of: present))
    }

    func progressed(_ blob: BlobName, to presentBytes: UInt64) {
        state.withLock { state in
            let now = NIODeadline.now()
            guard var arrival = state.arriving.removeValue(forKey: blob) else { return }
            arrival.record(presentBytes, at: now)
            state.arriving[blob] = arrival
            let progress = arrival.progress(of: blob, at: now)
            for waiter in state.waiting[blob] ?? [] { waiter.news.yield(.progress(progress)) }
        }
    }

    /// Records that the fetch is over.
    func ended(_ blob: BlobName) { state.withLock { $0.arriving[blob] = nil } }

    func arrived(_ blob: BlobName) {
        state.withLock { state in
            state.arriving[blob] = nil
            for waiter in state.waiting[blob] ?? [] { waiter.end(.here) }
        }
    }

    /// Tells the waiting callers of a failure; the blob may go on arriving.
    func failed(_ blob: BlobName, _ error: FetchError) {
        state.withLock { state in
            for waiter in state.waiting[blob] ?? [] { waiter.end(.failed(error)) }
        }
    }

    /// Ends all waits, now and later.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.arriving = [:]
            for waiter in state.waiting.values.joined() { waiter.end(.failed(.stopped)) }
        }
    }
}

extension Arrivals.Waiter {
    fileprivate func end(_ last: Arrivals.News) {
        news.yield(last)
        news.finish()
    }
}

/// A blob that arrives.
private struct Arrival {
    /// The time over which the rate is measured.
    private static let window = TimeAmount.seconds(3)

    private var samples: [(at: NIODeadline, presentBytes: UInt64)] = []

    mutating func record(_ presentBytes: UInt64, at now: NIODeadline) {
        samples.removeAll { now - $0.at > Self.window }
        samples.append((now, presentBytes))
    }

    func progress(of blob: BlobName, at now: NIODeadline) -> BlobProgress {
        var rate: UInt64 = 0
        if let first = samples.first, let last = samples.last, now - last.at <= Self.window {
            let nanoseconds = max((now - first.at).nanoseconds, 1)
            let came = last.presentBytes - min(first.presentBytes, last.presentBytes)
            rate = UInt64(Double(came) * 1e9 / Double(nanoseconds))
        }
        return BlobProgress(blob: blob, presentBytes: samples.last?.presentBytes ?? 0, bytesPerSecond: rate)
    }
}

extension BlobLayout {
    /// Returns the number of bytes in these chunks together.
    fileprivate func byteCount(of chunks: ChunkSet) -> UInt64 {
        let last = chunkCount - 1
        guard chunks.contains(last) else { return UInt64(chunks.presentCount) * UInt64(Self.chunkBytes) }
        return UInt64(chunks.presentCount - 1) * UInt64(Self.chunkBytes) + UInt64(range(of: last).count)
    }
}
