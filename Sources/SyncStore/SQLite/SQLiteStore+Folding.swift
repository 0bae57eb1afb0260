import SyncModel

extension SQLiteStore {
    /// The tail as it is after folding, in place of its rows.
    func rewrite(
        _ tail: OpenTail, _ writing: inout Writing, sign: @escaping ([UInt8]) -> [UInt8]
    ) throws(StoreError) -> Sealing {
        let current = writing.log
        let hot = writing.hot
        return try write(&writing) { access throws(StoreError) in
            let rows = try spaceRows(access)
            let objects = ObjectRows(rows, hot: hot)
            try rows.remove(tail)
            let sealing = try Sealing(
                tail, current: current, isLatestOnly: current.isLatestOnly, objects, faults: faults.model, sign: sign)
            try rows.write(sealing, objects)
            return sealing
        }
    }

    /// Makes room in a full tail, so that it stays open: what is sealed cannot be folded with what comes behind it.
    func foldFullTail(_ writing: inout Writing) throws(StoreError) {
        guard let tail = writing.tail, tail.isFullAndFoldable(isLatestOnly: writing.log.isLatestOnly) else { return }
        let sealing = try rewrite(tail, &writing) { _ in [] }
        writing.log = sealing.after
        writing.own.folded(tail.replica, sealing.tip, sealed: tail.sealedTip)
        writing.tail = tail.folded(as: sealing)
        publish(writing, movesOwn: false)
    }
}
