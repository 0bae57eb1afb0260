import NIOCore
package import SyncModel
import SyncStore

/// Turns what applications write into durable changes. A write never waits for company: it commits at once, and what
/// arrives meanwhile is the next group.
///
/// Confined to the agent's event loop.
final class LocalWriter {
    private struct Request {
        let groups: [[SyncModel.Operation]]
        let promise: EventLoopPromise<WriteReceipt>
    }

    private let loop: AgentLoop
    private var waiting: [Request] = []
    private var isCommitting = false

    init(loop: AgentLoop) { self.loop = loop }

    /// One change per group, in this order, all in one commit; at most `Limits.changesPerGroup` groups.
    func write(_ groups: [[SyncModel.Operation]]) -> EventLoopFuture<WriteReceipt> {
        precondition(groups.count <= Limits.changesPerGroup, "a commit takes \(groups.count) changes")
        let promise = loop.eventLoop.makePromise(of: WriteReceipt.self)
        waiting.append(Request(groups: groups, promise: promise))
        commit()
        return promise.futureResult
    }

    private func commit() {
        guard !isCommitting, !waiting.isEmpty else { return }
        var batch: [Request] = []
        var count = 0
        while let next = waiting.first, batch.isEmpty || count + next.groups.count <= Limits.changesPerGroup {
            count += next.groups.count
            batch.append(waiting.removeFirst())
        }
        isCommitting = true
        let bound = NIOLoopBound((writer: self, batch: batch), eventLoop: loop.eventLoop)
        loop.store.append(batch.flatMap(\.groups)).whenComplete { result in
            bound.value.writer.finish(bound.value.batch, result)
        }
    }

    private func finish(_ batch: [Request], _ result: Result<Commit, any Error>) {
        isCommitting = false
        switch result {
        case .success(let commit):
            answer(batch, commit)
            loop.noteAppended(commit)
        case .failure(let error):
            loop.journal.note(code: StoreDriver.code(of: error))
            for request in batch { request.promise.fail(error) }
        }
        commit()
    }

    private func answer(_ batch: [Request], _ commit: Commit) {
        guard let first = commit.segments.first?.segment else { preconditionFailure("a commit of nothing") }
        var counter = first.start
        for request in batch {
            let count = request.groups.reduce(0) { $0 + $1.reduce(0) { $0 + $1.span } }
            request.promise.succeed(
                WriteReceipt(
                    first: Dot(replica: first.replica, counter: counter),
                    last: Dot(replica: first.replica, counter: counter + count - 1)))
            counter += count
        }
    }
}

/// What a durable write got: the dots of its first and last operation.
package struct WriteReceipt: Sendable, Hashable {
    package let first: Dot
    package let last: Dot
}
