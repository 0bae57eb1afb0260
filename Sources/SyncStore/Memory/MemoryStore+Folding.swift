import SyncModel

extension MemoryStore {
    /// The tail as it is after folding, in place of what was there of it.
    func rewrite(
        _ tail: OpenTail, _ running: inout Running, sign: @escaping ([UInt8]) -> [UInt8]
    ) throws(StoreError) -> Sealing {
        var contents = try snapshot()
        contents.remove(tail)
        let sealing = try Sealing(
            tail, current: contents.log, isLatestOnly: contents.log.isLatestOnly, contents, faults: faults.model,
            sign: sign)
        try write(&running) { durable in
            durable.remove(tail)
            durable.write(sealing)
        }
        return sealing
    }

    /// Makes room in a full tail, so that it stays open: what is sealed cannot be folded with what comes behind it.
    func foldFullTail(_ running: inout Running) throws(StoreError) {
        guard let tail = running.tail, tail.isFullAndFoldable(isLatestOnly: try snapshot().log.isLatestOnly) else {
            return
        }
        let sealing = try rewrite(tail, &running) { _ in [] }
        running.own.folded(tail.replica, sealing.tip, sealed: tail.sealedTip)
        running.tail = tail.folded(as: sealing)
    }
}
