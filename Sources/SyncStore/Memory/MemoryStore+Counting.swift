package import SyncModel

extension MemoryStore {
    package func changeCount(beyond vector: VersionVector) throws(StoreError) -> Int64 {
        let contents = try snapshot()
        return contents.log.held.entries(beyond: vector).reduce(0) { sum, entry in
            let start = vector.next(of: entry.replica)
            return (contents.segments[entry.replica] ?? []).reduce(sum) { sum, stored in
                let segment = stored.verified.segment
                if segment.end <= start { return sum }
                if stored.verified.changeCount == 0 { return sum + Int64(segment.end - max(start, segment.start)) }
                return sum
                    + (segment.start >= start
                        ? Int64(stored.verified.changeCount) : segment.changeCount(from: start))
            }
        }
    }
}
