package import SyncModel

extension SQLiteStore {
    /// Keeps the newest of each member; an older one than what is kept changes nothing. Signatures are the caller's.
    package func keep(_ acknowledgements: [SignedAcknowledgement]) throws(StoreError) {
        try update { access throws(StoreError) in
            guard let rows = try LogRows(access, space: space) else { throw .corrupt(detail: "the space has no row") }
            try rows.keep(acknowledgements)
        }
    }

    /// The chain heads at these counters, in their order; nil where no change ends or nothing is held.
    package func heads(at entries: [VersionVector.Entry]) throws(StoreError) -> [ChainHead?] {
        try readLog(space) { rows throws(StoreError) in
            var heads: [ChainHead?] = []
            for entry in entries { heads.append(try rows.chainHead(of: entry.replica, at: entry.next)) }
            return heads
        } ?? entries.map { _ in nil }
    }
}
