import LawHistories
import SyncModel
import SyncStore
import Testing

/// Events that the retention of their stream lets go (Decisions/10), on every node alike.
@Suite("Store contract: dropped events")
struct DroppedEventTests {
    static let day: Int64 = 86_400_000

    /// One event a day, from day 1 on.
    func emit(
        _ store: SQLiteStore, _ days: ClosedRange<Int64>, _ stream: String = "s", type: String? = nil
    )
        throws
    {
        for day in days {
            _ = try store.append([[.event(stream, "\(day)", type: type)]], wallMilliseconds: day * Self.day)
        }
    }

    func set(
        _ store: SQLiteStore, _ stream: ExactString = "s", latestOnly: Bool = false, days: Int64?, at day: Int64
    ) throws {
        let setting = Operation.StreamSetting(
            stream: stream, latestOnly: latestOnly, retainMilliseconds: days.map { UInt64($0 * Self.day) })
        _ = try store.append([.planned([.setStream(setting)])], wallMilliseconds: day * Self.day)
    }

    @discardableResult
    private func drop(
        _ store: SQLiteStore, at day: Int64, stable: VersionVector? = nil, superseded: Int64? = nil,
        limit: Int = 4_096
    ) throws -> RetentionStep {
        let terms = RetentionTerms(
            stable: try stable ?? store.vector, supersededMilliseconds: superseded.map { UInt64($0 * Self.day) },
            limit: limit)
        return try store.dropEvents(terms, of: .home, wallMilliseconds: day * Self.day)
    }

    private func said(_ store: SQLiteStore, _ stream: String = "s") throws -> [String] {
        let events = try store.allEvents(stream)
        #expect(try store.canonicalEvents(stream).map(\.dot).sorted() == events.map(\.dot).sorted())
        #expect(try store.eventCount(stream: stream, space: .home, after: 0) == Int64(events.count))
        for (number, event) in events.enumerated() {
            #expect(
                try store.eventCount(stream: stream, space: .home, after: event.position)
                    == Int64(events.count - number - 1))
        }
        return events.map { String(decoding: $0.payload, as: UTF8.self) }
    }

    private func expectSound(_ stores: [SQLiteStore], sourceLocation: SourceLocation = #_sourceLocation) throws {
        for store in stores {
            #expect(
                try store.recomputedDigest(of: .home) == store.state().digest, sourceLocation: sourceLocation)
            #expect(try store.state().digest == stores[0].state().digest, sourceLocation: sourceLocation)
            #expect(
                try store.state().counts.events == stores[0].state().counts.events, sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `what is older than the retention goes everywhere, and what is younger stays where it was`(kind: StoreKind)
        throws
    {
        let bed = StoreBed(kind)
        let stores = try introduced([bed, StoreBed(.memory, device: TestDevice(2))])
        try emit(stores[0], 1...5)
        try stores[1].pull(from: stores[0])
        try emit(stores[1], 6...20)
        try converge(stores)
        let positions = try stores[0].allEvents("s").map(\.position)
        #expect(try drop(stores[0], at: 20).commit == nil, "no stream says that events go")
        try set(stores[1], days: 10, at: 20)
        try converge(stores)
        let step = try drop(stores[0], at: 20)
        #expect(step.droppedCount == 9 && !step.hasMore)
        #expect(try said(stores[0]) == (10...20).map { "\($0)" })
        #expect(try stores[0].allEvents("s").map(\.position) == Array(positions.suffix(11)))
        #expect(try stores[0].state().counts.events == 11)
        try converge(stores)
        #expect(try said(stores[1]) == (10...20).map { "\($0)" })
        try expectSound(stores)
        bed.crash(stores[0])
        let again = try bed.open()
        #expect(try said(again) == (10...20).map { "\($0)" })
        try expectSound([again, stores[1]])
        try emit(again, 21...21)
        #expect(try said(again).last == "21")
        // Who comes now gets all changes, and shows what the others show.
        let late = try StoreBed(kind, device: TestDevice(3)).open()
        try late.pull(from: again)
        #expect(try said(late) == (10...21).map { "\($0)" })
        try expectSound([again, late])
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `nothing goes that some member has not acknowledged, and nothing before it is worth a change`(kind: StoreKind)
        throws
    {
        let stores = try introduced(kind, count: 2)
        try set(stores[0], days: 32, at: 1)
        try emit(stores[0], 1...4)
        let stable = try stores[0].vector
        try emit(stores[0], 5...9)
        #expect(try drop(stores[0], at: 34, stable: VersionVector()).commit == nil)
        #expect(try drop(stores[0], at: 34).commit == nil, "a sixteenth of 32 days is not over")
        #expect(try drop(stores[0], at: 60, stable: stable).droppedCount == 4)
        #expect(try said(stores[0]) == (5...9).map { "\($0)" })
        #expect(try drop(stores[0], at: 60, stable: stable).commit == nil)
        try expectSound([stores[0]])
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `a step lets so many go, the oldest first, and says whether there are more`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 2)
        for number in 1...6 { try emit(stores[number % 2], Int64(number)...Int64(number)) }
        try converge(stores)
        try set(stores[0], days: 1, at: 7)
        let first = try drop(stores[0], at: 30, limit: 4)
        #expect(first.droppedCount == 4 && first.hasMore)
        #expect(try said(stores[0]).sorted() == ["5", "6"])
        let second = try drop(stores[0], at: 30, limit: 4)
        #expect(second.droppedCount == 2 && !second.hasMore)
        #expect(try said(stores[0]).isEmpty)
        try converge(stores)
        try expectSound(stores)
        #expect(try stores[0].streams(of: .home).map(\.name) == ["s"], "it is still said how the stream is kept")
        try emit(stores[1], 31...31)
        try converge(stores)
        for store in stores { #expect(try said(store) == ["31"]) }
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `of a latest-only stream the greatest per type stays, and what was superseded does not come back`(
        kind: StoreKind
    ) throws {
        let stores = try introduced(kind, count: 2)
        try set(stores[0], "l", latestOnly: true, days: nil, at: 1)
        try emit(stores[0], 1...1, "l", type: "hall")
        try emit(stores[0], 2...4, "l", type: "door")
        try converge(stores)
        try emit(stores[1], 30...30, "l", type: "door")
        try converge(stores)
        #expect(try drop(stores[0], at: 31).commit == nil, "for ever, where nobody says how long")
        #expect(try drop(stores[0], at: 31, superseded: 7).droppedCount == 3)
        #expect(try said(stores[0], "l") == ["1", "30"])
        try set(stores[1], "l", days: nil, at: 32)
        try converge(stores)
        for store in stores { #expect(try said(store, "l") == ["1", "30"]) }
        try expectSound(stores)
        try set(stores[1], "l", latestOnly: true, days: 3, at: 33)
        try emit(stores[1], 34...34, "l", type: "hall")
        try converge(stores)
        #expect(try drop(stores[0], at: 90).droppedCount == 1)
        try converge(stores)
        for store in stores { #expect(try said(store, "l") == ["30", "34"]) }
        try expectSound(stores)
    }

    /// By hand: nobody who follows the rules drops what is shown.
    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `where the greatest of a type goes the next one is shown`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 2)
        try set(stores[0], "l", latestOnly: true, days: nil, at: 1)
        try emit(stores[0], 2...5, "l", type: "hall")
        let dots = try stores[0].keptEvents(of: "l", space: .home, after: nil, limit: 9).map(\.dot)
        let events = DroppedEvents(before: try stores[0].vector, but: [dots[1]])
        _ = try stores[0].append(
            [.operations([.dropEvents(.init(stream: "l", events: events))])], wallMilliseconds: 6 * Self.day)
        try converge(stores)
        for store in stores { #expect(try said(store, "l") == ["3"]) }
        try expectSound(stores)
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `a drop is about what its author had seen, whatever it says`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 3)
        try emit(stores[1], 1...2)
        let replica = try #require(try stores[1].state().ownReplica)
        let greedy = DroppedEvents(before: VersionVector([.init(replica: replica, next: Limits.counters)]))
        _ = try stores[2].append(
            [.operations([.dropEvents(.init(stream: "s", events: greedy))])], wallMilliseconds: 1)
        try converge(stores)
        for store in stores { #expect(try said(store) == ["1", "2"]) }
        _ = try stores[2].append(
            [.operations([.dropEvents(.init(stream: "s", events: greedy))])], wallMilliseconds: 1)
        try emit(stores[1], 3...3)
        try converge(stores)
        for store in stores { #expect(try said(store) == ["3"]) }
        try expectSound(stores)
    }

    // Readers

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `a reader goes on where it was, in either order`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 2)
        try emit(stores[0], 1...9)
        let events = try stores[0].allEvents("s")
        try stores[0].acknowledge(
            consumer: "c", stream: "s", space: .home, position: events[5].position, rewinding: false)
        try set(stores[0], days: 1, at: 10)
        try drop(stores[0], at: 5)
        #expect(try said(stores[0]) == (4...9).map { "\($0)" })
        let consumer = try stores[0].consumer("c", stream: "s", space: .home)
        let page = try stores[0].read(
            ConsumerQuery(
                space: .home, stream: "s", cursor: consumer.cursor, limit: 99, byteBudget: .max))
        #expect(page.events.map(\.dot) == events[6...].map(\.dot))
        let canonical = try stores[0].canonicalEvents("s", after: events[1].canonicalKey)
        #expect(canonical.map(\.dot) == events[3...].map(\.dot))
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `what was dropped is nobody's to give, so a state counts as one that holds it`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 2)
        try emit(stores[0], 1...6)
        try emit(stores[1], 3...4)
        try converge(stores)
        func vector(_ position: Int64) throws -> VersionVector {
            try stores[0].vector(of: ConsumerCursor(position: position), stream: "s", space: .home)
        }
        let events = try stores[0].allEvents("s")
        let last = try #require(events.last).position
        let whole = try vector(last)
        #expect(try vector(0).isEmpty)
        try set(stores[0], days: 1, at: 6)
        try drop(stores[0], at: 5)
        #expect(try said(stores[0]).sorted() == ["4", "4", "5", "6"])
        #expect(try vector(last) == whole)
        let begun = try vector(0)
        #expect(whole.covers(begun) && begun != whole)
        for event in events { #expect(begun.covers(event.dot) == (event.stamp.milliseconds < 4 * Self.day)) }
        try drop(stores[0], at: 90)
        #expect(try vector(0) == whole)
    }

    // Snapshots

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `what a snapshot does not hold stays, and all stays until its bytes are here`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 2)
        try emit(stores[0], 1...6)
        let events = try stores[0].allEvents("s")
        let file = AttachedFile.named("state")
        let record = SnapshotRecord(
            space: .home, stream: "s", schema: 1, consumer: "c", isCanonical: false, key: nil,
            vector: VersionVector([.init(replica: events[0].dot.replica, next: events[3].dot.counter + 1)]),
            blob: file.blob, wallMilliseconds: 0)
        let key = ObjectKey(collection: SnapshotRecord.collection, id: "one")
        let before = try stores[0].vector
        _ = try stores[0].append(
            [.planned([.put(key, .init(fields: record.fields)), .attach(key, file)])], wallMilliseconds: Self.day)
        try set(stores[0], days: 1, at: 7)
        #expect(try drop(stores[0], at: 90, stable: before).commit == nil, "not everybody knows of it")
        #expect(try drop(stores[0], at: 90).commit == nil)
        try stores[0].bring("state")
        #expect(try drop(stores[0], at: 90).droppedCount == 4)
        #expect(try said(stores[0]) == ["5", "6"])
        _ = try stores[0].append([.planned([.delete(key, ifVersion: nil)])], wallMilliseconds: 91 * Self.day)
        #expect(try drop(stores[0], at: 91).droppedCount == 2)
        try expectSound([stores[0]])
    }

    // Forks

    /// The machine that let events go is put back to before that while it runs, and writes something else there.
    @Test(arguments: StoreKind.allCases)
    func `what was dropped stays so where the history goes that said it`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let stores = try introduced([bed, StoreBed(.memory, device: TestDevice(2))])
        try emit(stores[0], 1...6)
        try set(stores[0], days: 1, at: 7)
        try converge(stores)
        let replica = try #require(try stores[0].state().ownReplica)
        stores[0].close()
        let image = bed.copy(sharingLeases: false)
        var store = try bed.open()
        try emit(store, 8...8)
        try stores[1].pull(from: store)
        store.close()
        bed.restore(image)
        store = try bed.open(faults: .reuseCounterAfterCrash)
        #expect(try drop(store, at: 20).droppedCount == 6)
        try emit(store, 21...21)
        #expect(try store.takeBack(OtherHistory(of: replica, in: stores[1]), wallMilliseconds: 90))
        #expect(try said(store) == ["8"])
        while try store.redoTakenBack(limit: 1, wallMilliseconds: 22 * Self.day).hasMore {}
        #expect(try said(store) == ["8", "21"])
        try converge([store, stores[1]])
        #expect(try said(stores[1]) == ["8", "21"])
        try expectSound([store, stores[1]])
    }
}
