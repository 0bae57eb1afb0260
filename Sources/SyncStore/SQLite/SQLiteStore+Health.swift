import Synchronization

// The health of the store, and its end.
extension SQLiteStore {
    /// Returns the writing connection's own `PRAGMA synchronous`; 2 is FULL.
    package func synchronousLevel() throws(StoreError) -> Int64 {
        try writing.withLock { writing throws(StoreError) in
            guard let writer = writing.writer else { throw .closed }
            return try writer.synchronousLevel()
        }
    }

    /// Sizes and condition, cheap.
    package func health() -> StoreHealth {
        let (condition, isClosed) = published.withLock { ($0.condition, $0.isClosed) }
        let disk = files.disk
        return StoreHealth(
            bytes: files.byteCount, condition: isClosed ? .refusing(.closed) : condition,
            logBytes: files.writeAheadLogBytes, freeDiskBytes: disk?.free, diskBytes: disk?.size)
    }

    /// Writes, syncs and removes a probe: whether a write would succeed now. Clears a past disk-full refusal if so.
    package func probe() throws(StoreError) {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            do throws(StoreError) {
                if let free = files.freeBytes, free < configuration.reserveBytes { throw .diskFull }
                try files.probe()
                if writing.writer == nil { _ = try reopen(&writing) }
                published.withLock { $0.condition = .ok }
            } catch {
                recordRefusal(error, &writing)
                throw error
            }
        }
    }

    /// Lets go of memory that is only held to be faster the next time.
    package func rest() { writing.withLock { $0.hot.forget() } }

    /// Checkpoints and closes; later calls throw `.closed`. Idempotent.
    package func close() { end(sealing: true) }

    /// Ends as a killed process does, here and now: what is open stays open, and the next process finds it so.
    package func abandon() { end(sealing: false) }

    private func end(sealing: Bool) {
        writing.withLock { writing in
            guard !writing.isClosed else { return }
            if sealing { try? seal(&writing) }
            writing.isClosed = true
            published.withLock { $0.isClosed = true }
            readers.close()
            try? writing.writer?.use { access throws(StoreError) in try access.run("PRAGMA wal_checkpoint(TRUNCATE)") }
            writing.writer?.close()
            writing.writer = nil
            writing.own.release()
            lock.release()
        }
    }
}
