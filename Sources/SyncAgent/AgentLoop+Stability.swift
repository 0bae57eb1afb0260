import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncStore

// Acknowledgements and collection: what the store is asked for, and how its answers come back.
extension AgentLoop {
    func readHeads(_ id: ReadID, _ entries: [VersionVector.Entry]) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.heads(at: entries).whenComplete { result in
            switch result {
            case .success(let heads):
                loop.value.step(.headsRead(id, heads))
                // An acknowledgement may count now.
                loop.value.peersChanged()
            case .failure(let error):
                loop.value.journal.record(code: StoreDriver.code(of: error))
                loop.value.step(.headsRead(id, []))
            }
        }
    }

    func acknowledge(_ acknowledgement: Acknowledgement) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.write { store throws(StoreError) in try store.acknowledge(acknowledgement) }.whenComplete { result in
            switch result {
            case .success(let signed): loop.value.step(.acknowledged(signed))
            case .failure(let error): loop.value.step(.acknowledgeFailed(code: StoreDriver.code(of: error)))
            }
        }
    }

    /// Drops expired events. Does nothing while this clock and a peer's differ by minutes: events dropped by a wrong clock
    /// would be lost everywhere.
    func dropEvents(_ stable: VersionVector) {
        guard !journal.isClockDisputed else { return step(.droppedEvents(hasMore: false)) }
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        let terms = RetentionTerms(stable: stable, supersededMilliseconds: supersededMilliseconds)
        store.write { store throws(StoreError) in
            try store.dropEvents(terms, of: .home, wallMilliseconds: WallClock.milliseconds)
        }.whenComplete { result in
            switch result {
            case .success(let step):
                if let commit = step.commit {
                    loop.value.loggers.store.info("Events went.", metadata: ["events": "\(step.droppedCount)"])
                    loop.value.handleAppended(commit)
                }
                loop.value.step(.droppedEvents(hasMore: step.hasMore))
            case .failure(let error):
                loop.value.journal.record(code: StoreDriver.code(of: error))
                loop.value.step(.droppedEvents(hasMore: false))
            }
        }
    }

    /// Readmits a retired device, at most with this device's own role, until the time that holds. The result arrives as an
    /// appended change; the core tries again after a failure.
    func readmit(_ fact: MemberFact) {
        logger.notice("A retired device is back.", metadata: ["device": "\(fact.device.shortID)"])
        let until = (try? store.store.logState()).flatMap { $0.cuts.until(of: fact.device, in: $0.members) }
        state(.addMember(fact.limited(to: ownRole).following(founder).ending(at: until)))
    }

    func take(_ statements: [PlacedStatement]) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.write { store throws(StoreError) in
            try store.takeStatements(statements, wallMilliseconds: WallClock.milliseconds)
        }.whenComplete { result in
            switch result {
            case .success(let commit): loop.value.handleAppended(commit)
            case .failure(let error): loop.value.journal.record(code: StoreDriver.code(of: error))
            }
        }
    }

    func settle(_ cut: Dot) { state(.settleCut(.init(cut))) }

    private func state(_ operation: SyncModel.Operation) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.append([.operations([operation])]).whenComplete { result in
            switch result {
            case .success(let result): loop.value.handleAppended(result.commit)
            case .failure(let error): loop.value.journal.record(code: StoreDriver.code(of: error))
            }
        }
    }

    func rewriteVoid(limit: Int) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.write { store throws(StoreError) in
            try store.rewriteVoid(limit: limit, wallMilliseconds: WallClock.milliseconds)
        }.whenComplete { result in
            switch result {
            case .success(let step):
                loop.value.handleAppended(step.commit)
                loop.value.step(.rewritten(hasMore: step.hasMore))
            case .failure(let error): loop.value.step(.rewriteFailed(code: StoreDriver.code(of: error)))
            }
        }
    }

    func collect(upTo stable: VersionVector, after: Dot?, limit: Int) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.write { store throws(StoreError) in
            try store.collect(upTo: stable, after: after, limit: limit)
        }.whenComplete { result in
            switch result {
            case .success(let step):
                if step.objects > 0 { loop.value.handleCollected(step.counts) }
                loop.value.step(.collected(next: step.next, hasForgotten: step.objects > 0))
            case .failure(let error): loop.value.step(.collectFailed(code: StoreDriver.code(of: error)))
            }
        }
    }
}
