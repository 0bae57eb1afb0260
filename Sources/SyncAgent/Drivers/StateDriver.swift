import Dispatch
import NIOCore
import SyncCore
import SyncModel
import SyncStore

/// The driver of the core's state effects. Received states go down the thread that writes, in order; sent states are read on a
/// thread of its own, so that a large state delays neither local reads nor those for other peers.
///
/// Used on the event loop; answers come back there.
final class StateDriver {
    private let driver: StoreDriver
    private let store: SQLiteStore
    private let eventLoop: any EventLoop
    private let reader = DispatchQueue(label: "lanyard.state.read", qos: .utility)
    /// The states that are read; used on `reader` alone.
    private let sources = StateSources()
    /// The state that is received; used on the store's writing thread alone.
    private let reception = StateReception()
    /// Called with answers, on the loop.
    var answer: (StateInput) -> Void = { _ in }
    /// Called with the commit of a join, before the core hears of it.
    var committed: (Commit) -> Void = { _ in }

    init(driver: StoreDriver, store: SQLiteStore, eventLoop: any EventLoop) {
        self.driver = driver
        self.store = store
        self.eventLoop = eventLoop
    }

    func perform(_ effect: StateEffect) {
        let store = store
        let reception = reception
        switch effect {
        case .begin(let id, let claims):
            write(id) { _ throws(StoreError) in
                let begun = try store.beginStaging(from: claims)
                reception.current = begun
                return .begun(
                    id, since: begun.request.since, stagedEvents: begun.request.stagedEvents,
                    hasObjects: begun.request.asks)
            }
        case .stage(let id, let items):
            write(id) { _ throws(StoreError) in
                guard var current = reception.current else { throw .refused(.incomplete) }
                try store.stage(items, of: &current)
                reception.current = current
                return .staged(id, isComplete: current.isComplete)
            }
        case .lookUp(let id, let announcements):
            write(id) { _ throws(StoreError) in .lookedUp(id, try store.areStaged(announcements)) }
        case .review(let id):
            write(id) { _ throws(StoreError) in
                let (facts, tips, trust) = try store.stagedHistories()
                return .reviewed(id, facts: facts, tips: tips, trust: trust)
            }
        case .join(let id): join(id)
        case .discard:
            write(nil) { _ throws(StoreError) in
                reception.current = nil
                try store.discardStaging()
                return nil
            }
        case .weigh(let id, let since):
            read(id) { _ throws(StoreError) in .weighed(id, try store.weigh(since: since)) }
        case .open(let id, let since, let stagedEvents, let asks, let claims):
            read(id) { sources throws(StoreError) in
                let request = StateSource.Request(
                    since: since, stagedEvents: stagedEvents, asks: asks, claims: claims)
                let source = try store.stateSource(request)
                sources.open[id] = source
                return .opened(id, vector: source.vector)
            }
        case .read(let id, let bytes, let staged):
            read(id) { sources throws(StoreError) in
                guard let source = sources.open[id] else { throw .closed }
                return .chunkRead(id, try source.chunk(byteBudget: bytes, staged: staged))
            }
        case .close(let id):
            reader.async { [sources] in sources.open.removeValue(forKey: id)?.close() }
        }
    }

    /// Closes the sources after everything that was asked for; nothing is handed over afterwards.
    func close() { reader.sync { [sources] in sources.close() } }

    private func join(_ id: StateID) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        let store = store
        driver.write { _ throws(StoreError) -> (Commit, JoinedState) in
            let commit = try store.joinStaged(wallMilliseconds: WallClock.milliseconds)
            return (commit, try JoinedState(commit, store))
        }.whenComplete { result in
            switch result {
            case .success(let (commit, joined)):
                loop.value.committed(commit)
                loop.value.answer(.joined(id, joined))
            case .failure(let error): loop.value.answer(Self.failure(id, error))
            }
        }
    }

    private func write(
        _ id: StateID?, _ body: @escaping @Sendable (SQLiteStore) throws(StoreError) -> StateInput?
    ) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        driver.write(body).whenComplete { result in
            switch result {
            case .success(let input): if let input { loop.value.answer(input) }
            case .failure(let error): if let id { loop.value.answer(Self.failure(id, error)) }
            }
        }
    }

    private func read(_ id: StateID, _ body: @escaping @Sendable (StateSources) throws(StoreError) -> StateInput) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        let promise = eventLoop.makePromise(of: StateInput.self)
        reader.async { [sources] in
            do { promise.succeed(try body(sources)) } catch { promise.fail(error) }
        }
        promise.futureResult.whenComplete { result in
            switch result {
            case .success(let input): loop.value.answer(input)
            case .failure(let error): loop.value.answer(Self.failure(id, error))
            }
        }
    }

    private static func failure(_ id: StateID, _ error: any Error) -> StateInput {
        if let error = error as? StoreError, case .refused(let refusal) = error { return .refused(id, refusal) }
        return .failed(id, code: StoreDriver.code(of: error))
    }
}

/// States that are being read, by the number that the core gave them.
private final class StateSources: @unchecked Sendable {
    var open: [StateID: StateSource] = [:]

    func close() {
        for source in open.values { source.close() }
        open = [:]
    }
}

/// The state that is being received.
private final class StateReception: @unchecked Sendable {
    var current: StagingStream?
}

extension JoinedState {
    fileprivate init(_ commit: Commit, _ store: SQLiteStore) throws(StoreError) {
        let state = try store.state()
        self.init(
            tips: state.tips.map { TipTable.Entry(replica: $0.replica, tip: $0.tip) }, firstHeld: state.firstHeld,
            floor: state.floor, change: StoreChange(commit))
    }
}
