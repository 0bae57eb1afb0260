import NIOCore
import SyncModel
import SyncStore

/// The writer that makes durable changes of applications' writes. A write never waits for company: it commits at once, and the
/// writes that arrive meanwhile are the next group.
///
/// Confined to the agent's event loop.
final class LocalWriter {
    private struct Request {
        let writes: [LocalWrite]
        let promise: EventLoopPromise<[Result<WriteOutcome, WriteRefusal>]>
    }

    private let loop: AgentLoop
    private var waiting: [Request] = []
    private var isCommitting = false

    init(loop: AgentLoop) { self.loop = loop }

    /// Makes one change per write, in this order, all in one commit; at most `Limits.changesPerGroup` writes. A refused write
    /// does not affect the others.
    func write(_ writes: [LocalWrite]) -> EventLoopFuture<[Result<WriteOutcome, WriteRefusal>]> {
        precondition(writes.count <= Limits.changesPerGroup, "a commit takes \(writes.count) changes")
        if loop.journal.isIdentityShared {
            return loop.eventLoop.makeFailedFuture(AgentError.duplicateIdentity)
        }
        let promise = loop.eventLoop.makePromise(of: [Result<WriteOutcome, WriteRefusal>].self)
        waiting.append(Request(writes: writes, promise: promise))
        commit()
        return promise.futureResult
    }

    private func commit() {
        guard !isCommitting, !waiting.isEmpty else { return }
        var batch: [Request] = []
        var count = 0
        while let next = waiting.first, batch.isEmpty || count + next.writes.count <= Limits.changesPerGroup {
            count += next.writes.count
            batch.append(waiting.removeFirst())
        }
        isCommitting = true
        let bound = NIOLoopBound((writer: self, batch: batch), eventLoop: loop.eventLoop)
        loop.store.append(batch.flatMap(\.writes)).whenComplete { result in
            bound.value.writer.finish(bound.value.batch, result)
        }
    }

    private func finish(_ batch: [Request], _ result: Result<AppendResult, any Error>) {
        isCommitting = false
        switch result {
        case .success(let result):
            var outcomes = result.outcomes[...]
            for request in batch {
                request.promise.succeed(Array(outcomes.prefix(request.writes.count)))
                outcomes = outcomes.dropFirst(request.writes.count)
            }
            loop.noteAppended(result.commit)
        case .failure(let error):
            loop.journal.note(code: StoreDriver.code(of: error))
            for request in batch { request.promise.fail(error) }
        }
        commit()
    }
}
