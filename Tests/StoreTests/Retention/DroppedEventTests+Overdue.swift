import LawHistories
import SyncModel
import SyncStore
import Testing

// Why events are still here that are older than their stream keeps them.
extension DroppedEventTests {
    private func overdue(
        _ store: SQLiteStore, _ stream: String = "s", at day: Int64, stable: VersionVector? = nil,
        superseded: UInt64? = nil
    ) throws -> OverdueEvents? {
        let terms = RetentionTerms(stable: try stable ?? store.vector, supersededMilliseconds: superseded)
        let summary = try #require(try store.streams(of: .home).first { $0.name == stream })
        return try store.overdueEvents(of: summary, terms, space: .home, wallMilliseconds: day * Self.day)
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `whoever has not acknowledged old events is what keeps them`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 2)
        try emit(stores[0], 1...6)
        #expect(try overdue(stores[0], at: 900) == nil, "no stream says that events go")
        try set(stores[0], days: 32, at: 7)
        #expect(try overdue(stores[0], at: 34, stable: VersionVector()) == nil, "a sixteenth of 32 days is not over")
        let found = try #require(try overdue(stores[0], at: 36, stable: VersionVector()))
        #expect(found == OverdueEvents(hindrance: .members, sinceMilliseconds: 33 * Self.day))
        #expect(try overdue(stores[0], at: 36)?.hindrance == OverdueEvents.Hindrance.none)
        let terms = RetentionTerms(stable: try stores[0].vector, supersededMilliseconds: nil)
        #expect(try stores[0].dropEvents(terms, of: .home, wallMilliseconds: 36 * Self.day).droppedCount == 3)
        #expect(try overdue(stores[0], at: 36, stable: VersionVector()) == nil)
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `a snapshot that lacks old events is what keeps them`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 2)
        try emit(stores[0], 1...6)
        try set(stores[0], days: 1, at: 7)
        let file = AttachedFile.named("state")
        let record = SnapshotRecord(
            space: .home, stream: "s", schema: 1, consumer: "c", isCanonical: false, key: nil, vector: VersionVector(),
            blob: file.blob, wallMilliseconds: 0)
        let key = ObjectKey(collection: SnapshotRecord.collection, id: "one")
        _ = try stores[0].append(
            [.planned([.put(key, .init(fields: record.fields)), .attach(key, file)])], wallMilliseconds: Self.day)
        #expect(try overdue(stores[0], at: 90)?.hindrance == .snapshot, "its bytes are not here")
        try stores[0].bring("state")
        #expect(try overdue(stores[0], at: 90)?.hindrance == .snapshot, "it holds nothing")
        _ = try stores[0].append([.planned([.delete(key, ifVersion: nil)])], wallMilliseconds: Self.day)
        #expect(try overdue(stores[0], at: 90)?.hindrance == OverdueEvents.Hindrance.none)
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `what a stream of the latest shows is never overdue, nor is anything where a peer says never`(
        kind: StoreKind
    ) throws {
        let stores = try introduced(kind, count: 1)
        try set(stores[0], "lamp", latestOnly: true, days: 1, at: 1)
        try emit(stores[0], 1...3, "lamp", type: "door")
        #expect(try overdue(stores[0], "lamp", at: 90)?.hindrance == OverdueEvents.Hindrance.none)
        let terms = RetentionTerms(stable: try stores[0].vector, supersededMilliseconds: nil)
        #expect(try stores[0].dropEvents(terms, of: .home, wallMilliseconds: 90 * Self.day).droppedCount == 2)
        #expect(try overdue(stores[0], "lamp", at: 90) == nil)
        let setting = Operation.StreamSetting(stream: "lamp", latestOnly: true, retainMilliseconds: .max - 1)
        _ = try stores[0].append([.planned([.setStream(setting)])], wallMilliseconds: Self.day)
        #expect(try overdue(stores[0], "lamp", at: 90) == nil)
    }
}
