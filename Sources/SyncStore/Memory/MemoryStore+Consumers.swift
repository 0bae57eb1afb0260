package import SyncModel

// The pages of consumers, read by looking at every event.
extension MemoryStore {
    package func read(_ query: ConsumerQuery) throws(StoreError) -> ConsumerPage {
        guard let contents = try snapshot(of: query.space) else { return ConsumerPage() }
        return query.page(of: try contents.shownEvents(of: query.stream), newest: contents.log.lastPosition)
    }

    package func eventCount(
        stream: String, space: SpaceID, beyond cursor: ConsumerCursor
    ) throws(StoreError) -> Int64 {
        guard let contents = try snapshot(of: space) else { return 0 }
        return Int64(try contents.shownEvents(of: stream).count { !cursor.holds($0) })
    }

    package func vector(
        of cursor: ConsumerCursor, stream: String, space: SpaceID
    ) throws(StoreError) -> VersionVector {
        var vector = cursor.snapshot
        guard let contents = try snapshot(of: space) else { return vector }
        let events = try contents.events(of: ExactString(stream))
        for event in events where cursor.holds(event) {
            vector.advance(event.dot.replica, to: event.dot.counter + 1)
        }
        // Events dropped before the first that it does not hold cannot be given.
        for entry in contents.log.dropped[ExactString(stream)].vector.entries {
            let lacked = events.filter { $0.dot.replica == entry.replica && !cursor.holds($0) }.map(\.dot.counter).min()
            vector.advance(entry.replica, to: min(entry.next, lacked ?? entry.next))
        }
        return vector
    }
}
