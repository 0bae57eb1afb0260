package import SyncModel
import Synchronization

// Acknowledgements and collection

extension MemoryStore {
    package func acknowledge(_ acknowledgement: Acknowledgement) throws(StoreError) -> SignedAcknowledgement {
        try running.withLock { running throws(StoreError) in
            let log = try snapshot().log
            let signed = SignedAcknowledgement(log.completing(acknowledgement), space: log.space, sign: sign)
            try write(&running) { $0.keep([signed]) }
            return signed
        }
    }

    package func keep(_ acknowledgements: [SignedAcknowledgement]) throws(StoreError) {
        try update { $0.keep(acknowledgements) }
    }

    package func heads(at entries: [VersionVector.Entry]) throws(StoreError) -> [ChainHead?] {
        let contents = try snapshot()
        return entries.map { contents.chainHead(of: $0.replica, at: $0.next) }
    }

    package func collect(upTo stable: VersionVector, after: Dot?, limit: Int) throws(StoreError) -> CollectionStep {
        try running.withLock { running throws(StoreError) in
            if let tail = running.tail { throw .notApplicable(tail.replica, at: tail.sealedTip.next) }
            let contents = try snapshot()
            let plan = try CollectionPlan(stable, on: contents.log, contents) { () throws(StoreError) in
                contents.deletions(upTo: stable, after: after, limit: limit)
            }
            // Collected deletions are of objects not shown: no attachment goes with them.
            if plan.isChanged { try write(&running) { $0.write(plan.log, plan.objects, at: 0) } }
            return plan.step(limit: limit)
        }
    }
}
