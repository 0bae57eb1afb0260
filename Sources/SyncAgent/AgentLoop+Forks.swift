import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncStore

// Taking a history back for another, and doing again what this device did in it.
extension AgentLoop {
    func takeBack(_ other: OtherHistory) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.write { store throws(StoreError) in
            try store.takeBack(other, wallMilliseconds: WallClock.milliseconds) ? try store.state() : nil
        }.whenComplete { result in
            switch result {
            case .success(let state?):
                loop.value.handleTakenBack(state)
                loop.value.step(.takenBack(.done(StoredHistory(state))))
            case .success(nil): loop.value.step(.takenBack(.nothing))
            case .failure(StoreError.notApplicable): loop.value.step(.takenBack(.impossible))
            case .failure(let error): loop.value.step(.takenBack(.refused(code: StoreDriver.code(of: error))))
            }
        }
    }

    func redoTakenBack(limit: Int) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.write { store throws(StoreError) in
            try store.redoTakenBack(limit: limit, wallMilliseconds: WallClock.milliseconds)
        }.whenComplete { result in
            switch result {
            case .success(let step):
                loop.value.handleAppended(step.commit)
                loop.value.step(.redone(hasMore: step.hasMore, isWaiting: step.isWaiting))
            case .failure(let error): loop.value.step(.redoFailed(code: StoreDriver.code(of: error)))
            }
        }
    }
}

extension StoredHistory {
    init(_ state: StoreState) {
        self.init(
            tips: state.tips, additions: state.additions, stateDigest: state.digest,
            acknowledgements: state.acknowledgements, floor: state.floor, firstHeld: state.firstHeld,
            cuts: state.cuts, isIncomplete: state.isIncomplete, settled: state.settled, gaveWay: state.gaveWay,
            awaited: state.awaited, hasTakenBack: state.hasTakenBack)
    }
}
