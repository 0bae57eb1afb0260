import Dispatch
import NIOCore
import SyncCore
import SyncModel
import SyncStore

/// The result of a pass of compaction.
package struct CompactedLog: Sendable, Hashable {
    package var changes: Int64 = 0
    /// The bytes that they took in the log.
    package var bytes: Int64 = 0
}

/// The driver of the core's compaction effects: it drops changes from the store, a step at a time, on a thread of its own. Most
/// of a step is read and computed beside writers.
///
/// Used on the event loop; answers come back there.
final class CompactionDriver {
    private let store: SQLiteStore
    private let eventLoop: any EventLoop
    /// Counts from the next step on.
    var retention: HistoryRetention
    private let queue = DispatchQueue(label: "lanyard.compaction", qos: .utility)
    /// The current pass; used on `queue` alone.
    private let current = CurrentPass()
    private var sum = CompactedLog()
    private var waiting: [EventLoopPromise<CompactedLog>] = []
    /// Called with answers, on the loop.
    var answer: (Input) -> Void = { _ in }
    /// Called with the number of changes dropped until now, by all steps of all passes.
    var dropped: (Int64) -> Void = { _ in }

    init(store: SQLiteStore, eventLoop: any EventLoop, retention: HistoryRetention) {
        self.store = store
        self.eventLoop = eventLoop
        self.retention = retention
    }

    /// Returns the result of the pass that is under way, or else of the next one.
    func finished() -> EventLoopFuture<CompactedLog> {
        let promise = eventLoop.makePromise(of: CompactedLog.self)
        waiting.append(promise)
        return promise.futureResult
    }

    func step(upTo stable: VersionVector) {
        guard case .seconds(let seconds) = retention else { return }
        let oldest = UInt64(max(0, WallClock.milliseconds - seconds * 1_000))
        let before = seconds == 0 ? Stamp(rawValue: .max) : Stamp(rawValue: oldest << 16)
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        let promise = eventLoop.makePromise(of: CompactionStep.self)
        queue.async { [store, current] in
            do {
                var pass = try current.pass ?? store.beginCompaction(stable: stable, before: before)
                var step = try store.compact(&pass)
                current.dropped += step.changes
                current.pass = step.isLast ? nil : pass
                if step.isLast {
                    // A pass takes no more than it can remember: what it left is for the next one.
                    step.isLast = current.dropped == 0
                    current.dropped = 0
                }
                promise.succeed(step)
            } catch {
                (current.pass, current.dropped) = (nil, 0)
                promise.fail(error)
            }
        }
        promise.futureResult.whenComplete { result in loop.value.handle(result) }
    }

    private func handle(_ result: Result<CompactionStep, any Error>) {
        switch result {
        case .success(let step):
            sum.changes += step.changes
            sum.bytes += step.bytes
            if step.changes > 0 { dropped(step.droppedChanges) }
            answer(.compacted(firstHeld: step.firstHeld, isLast: step.isLast))
            if step.isLast { finish(.success(sum)) }
        case .failure(let error):
            answer(.compactFailed(code: StoreDriver.code(of: error)))
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<CompactedLog, any Error>) {
        sum = CompactedLog()
        for promise in waiting { promise.completeWith(result) }
        waiting = []
    }

    /// Waits for the step under way, and ends.
    func close() {
        queue.sync {}
        finish(.failure(StoreError.closed))
    }
}

private final class CurrentPass: @unchecked Sendable {
    var pass: CompactionPass?
    /// The number of changes that this pass dropped.
    var dropped: Int64 = 0
}
