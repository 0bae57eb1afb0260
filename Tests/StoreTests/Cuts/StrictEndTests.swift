import SyncModel
import SyncStore
import Testing

/// Stores with a history of which everything counts up to a strict end only. 1 is under test, 2 writes beyond the end,
/// and 3 never sees what lies beyond it.
@Suite("Store contract: strict ends")
struct StrictEndTests {
    /// A history that is about to end.
    struct Ending {
        let stores: [SQLiteStore]
        let replica: ReplicaID
        /// Behind what all three hold.
        let end: UInt64

        var ends: [ReplicaID: UInt64] { [replica: end] }
        /// Under test.
        var store: SQLiteStore { stores[0] }
        var author: SQLiteStore { stores[1] }
        var oracle: SQLiteStore { stores[2] }

        func judge(_ store: SQLiteStore, _ ends: [ReplicaID: UInt64]) throws {
            _ = try store.apply([], judging: ends, wallMilliseconds: 0)
        }
    }

    static func set(_ store: SQLiteStore, _ stream: ExactString, latestOnly: Bool) throws {
        let setting = SyncModel.Operation.StreamSetting(stream: stream, latestOnly: latestOnly, retainMilliseconds: nil)
        _ = try store.append([.planned([.setStream(setting)])], wallMilliseconds: 2)
    }

    static func emit(_ store: SQLiteStore, _ stream: String, _ payload: String, type: String? = nil) throws {
        let result = try store.append([.operations([.event(stream, payload, type: type)])], wallMilliseconds: 2)
        for case .failure(let refusal) in result.outcomes { Issue.record("\(refusal.reason): \(payload)") }
    }

    /// Streams `s`, `l` that shows the latest, `m` that shows all; a schema of `n`.
    private func begin(_ stores: [SQLiteStore]) throws -> Ending {
        try stores[0].write(.schema("n", #"{"fields":{"title":"text"}}"#), .putting("n/1", #"{"x":1}"#))
        try Self.set(stores[0], "l", latestOnly: true)
        for payload in ["1", "2"] { try Self.emit(stores[0], "m", payload) }
        try stores[1].pull(from: stores[0])
        for payload in ["1", "2"] { try Self.emit(stores[1], "s", payload) }
        try Self.emit(stores[1], "l", "1", type: "a")
        try converge(stores)
        let replica = try #require(try stores[1].state().ownReplica)
        return Ending(stores: stores, replica: replica, end: try stores[1].vector.next(of: replica))
    }

    private func begin(_ kind: StoreKind) throws -> Ending { try begin(introduced(kind, count: 3)) }

    /// Everything but a drop of events: of those nothing comes back.
    private func writeBeyond(_ author: SQLiteStore) throws {
        for payload in ["3", "4"] { try Self.emit(author, "s", payload) }
        try Self.emit(author, "t", "5")
        try Self.emit(author, "l", "6", type: "a")
        try Self.emit(author, "l", "7", type: "b")
        try Self.set(author, "m", latestOnly: true)
        try author.write(.schema("n", #"{"fields":{"plays":"counter"}}"#), .schema("o", #"{"indexed":["x"]}"#))
        try author.write(.putting("n/1", #"{"x":2}"#), .putting("n/2", #"{"x":2}"#))
        try author.write(.schema("n", #"{"indexed":["x"]}"#))
    }

    private func payloads(_ store: SQLiteStore, _ stream: String) throws -> [String] {
        try store.allEvents(stream).map { String(decoding: $0.payload, as: UTF8.self) }.sorted()
    }

    static func expectSound(_ store: SQLiteStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try store.recomputedDigest(of: .home) == store.state().digest, sourceLocation: sourceLocation)
        for stream in try store.streams(of: .home) {
            let events = try store.allEvents(stream.name)
            #expect(events.count == Int(stream.events), sourceLocation: sourceLocation)
            #expect(
                try store.canonicalEvents(stream.name).map(\.dot).sorted() == events.map(\.dot).sorted(),
                sourceLocation: sourceLocation)
            for (number, event) in events.enumerated() {
                #expect(
                    try store.eventCount(stream: stream.name, space: .home, after: event.position)
                        == Int64(events.count - number - 1), sourceLocation: sourceLocation)
            }
        }
    }

    /// Both show the same, by all the ways in which it can be asked for.
    static func expectSame(
        _ store: SQLiteStore, as other: SQLiteStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for one in [store, other] { try expectSound(one, sourceLocation: sourceLocation) }
        let (state, others) = (try store.state(), try other.state())
        #expect(state.digest == others.digest, sourceLocation: sourceLocation)
        #expect(state.counts.events == others.counts.events, sourceLocation: sourceLocation)
        #expect(state.counts.objects == others.counts.objects, sourceLocation: sourceLocation)
        let (streams, otherStreams) = (try store.streams(of: .home), try other.streams(of: .home))
        #expect(streams.map(\.name) == otherStreams.map(\.name), sourceLocation: sourceLocation)
        #expect(streams.map(\.setting) == otherStreams.map(\.setting), sourceLocation: sourceLocation)
        for stream in streams {
            #expect(
                try store.canonicalEvents(stream.name).map(\.dot) == other.canonicalEvents(stream.name).map(\.dot),
                sourceLocation: sourceLocation)
        }
        for collection in ["n", "o"] as [ExactString] {
            #expect(
                try store.schema(of: collection, space: .home)?.json
                    == other.schema(of: collection, space: .home)?.json, sourceLocation: sourceLocation)
        }
    }

    // MARK: Arrival

    @Test(arguments: StoreKind.allCases)
    func `what comes from behind the end is held and shown nowhere`(kind: StoreKind) throws {
        let ending = try begin(kind)
        try ending.judge(ending.store, ending.ends)
        try writeBeyond(ending.author)
        try ending.store.pull(from: ending.author)
        try Self.expectSame(ending.store, as: ending.oracle)
        #expect(try ending.store.vector == ending.author.vector)
        #expect(try ending.store.segments(of: ending.replica, from: ending.end, byteBudget: .max).isEmpty == false)
        #expect(try payloads(ending.store, "s") == ["1", "2"])
        #expect(try payloads(ending.store, "l") == ["1"])
        #expect(try ending.store.streams(of: .home).contains { $0.name == "t" } == false)
        // Positions are taken: what comes next stands behind them.
        let taken = try ending.store.state().lastPosition
        try Self.emit(ending.store, "s", "9")
        #expect(try ending.store.allEvents("s").last?.position == taken + 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `a fact ends what comes in the same transaction`(kind: StoreKind) throws {
        let ending = try begin(kind)
        try writeBeyond(ending.author)
        _ = try ending.store.apply(
            try ending.store.missing(from: ending.author), judging: ending.ends, wallMilliseconds: 0)
        #expect(try ending.store.vector == ending.author.vector)
        try Self.expectSame(ending.store, as: ending.oracle)
    }

    @Test(arguments: StoreKind.allCases)
    func `of a change beside the end some events count`(kind: StoreKind) throws {
        let ending = try begin(kind)
        _ = try ending.author.append(
            [[.event("s", "3"), .event("t", "4"), .event("s", "5"), .event("s", "6")]], wallMilliseconds: 2)
        try ending.store.pull(from: ending.author)
        let whole = try ending.store.state().digest
        try ending.judge(ending.store, [ending.replica: ending.end + 3])
        #expect(try payloads(ending.store, "s") == ["1", "2", "3", "5"])
        #expect(try payloads(ending.store, "t") == ["4"])
        try Self.expectSound(ending.store)
        try ending.judge(ending.store, [ending.replica: ending.end + 1])
        #expect(try payloads(ending.store, "s") == ["1", "2", "3"])
        #expect(try payloads(ending.store, "t").isEmpty)
        try Self.expectSound(ending.store)
        try ending.judge(ending.store, [:])
        #expect(try ending.store.state().digest == whole)
        try Self.expectSound(ending.store)
    }

    // MARK: Ends that move

    @Test(arguments: StoreKind.allCases)
    func `an end that falls hides what was shown, and one that rises shows it again`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let beds = [bed, StoreBed(.memory, device: TestDevice(2)), StoreBed(.memory, device: TestDevice(3))]
        let ending = try begin(introduced(beds))
        try writeBeyond(ending.author)
        try ending.store.pull(from: ending.author)
        try Self.expectSame(ending.store, as: ending.author)
        #expect(try payloads(ending.store, "m") == ["2"])
        #expect(try payloads(ending.store, "l") == ["6", "7"])
        let events = try ending.store.allEvents("s")
        try ending.judge(ending.store, ending.ends)
        #expect(try payloads(ending.store, "s") == ["1", "2"])
        #expect(try payloads(ending.store, "m") == ["1", "2"])
        #expect(try payloads(ending.store, "l") == ["1"])
        #expect(try ending.store.schema(of: "o", space: .home) == nil)
        #expect(try ending.store.json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try ending.store.find("n", where: "x", is: .integer(1)) == ["n/1"])
        #expect(try !ending.store.state().isIncomplete)
        try Self.expectSame(ending.store, as: ending.oracle)
        // It is so after a start, too.
        bed.crash(ending.store)
        let store = try bed.open()
        try Self.expectSame(store, as: ending.oracle)
        try ending.judge(store, [:])
        try Self.expectSame(store, as: ending.author)
        #expect(try store.allEvents("s") == events, "each at its place")
        #expect(try store.json("n/2") == JSONValue(json: #"{"x":2}"#))
        #expect(try store.find("n", where: "x", is: .integer(2)) == ["n/1", "n/2"])
    }

    @Test(arguments: StoreKind.allCases)
    func `what is written meanwhile stands beside what is void, and beside what counts again`(kind: StoreKind) throws {
        let ending = try begin(kind)
        try writeBeyond(ending.author)
        try ending.store.pull(from: ending.author)
        try ending.judge(ending.store, ending.ends)
        try ending.store.write(.schema("n", #"{"fields":{"tags":"set"}}"#))
        try Self.set(ending.store, "s", latestOnly: true)
        try Self.emit(ending.store, "t", "9")
        // 3 hears of the end before all of it.
        try ending.judge(ending.oracle, ending.ends)
        try ending.oracle.pull(from: ending.store)
        try Self.expectSame(ending.store, as: ending.oracle)
        try ending.judge(ending.store, [:])
        try ending.author.pull(from: ending.store)
        try Self.expectSame(ending.store, as: ending.author)
        #expect(try ending.store.schema(of: "n", space: .home)?.fieldNames == ["plays", "tags", "title"])
        #expect(try payloads(ending.store, "t") == ["5", "9"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a retirement said beyond the end holds no more, until the end rises`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 3)
        try stores[2].write(.putting("n/3", #"{"x":3}"#))
        try stores[0].pull(from: stores[2])
        let replica = try #require(try stores[1].state().ownReplica)
        let end = try stores[1].vector.next(of: replica)
        _ = try stores[1].append([.retire(TestDevice(3).id)], wallMilliseconds: 3)
        try stores[0].pull(from: stores[1])
        #expect(try stores[0].json("n/3") == nil)
        #expect(try stores[0].state().cuts.isAway(TestDevice(3).id))
        _ = try stores[0].apply([], judging: [replica: end], wallMilliseconds: 0)
        #expect(try stores[0].json("n/3") != nil)
        #expect(try !stores[0].state().cuts.isAway(TestDevice(3).id))
        try Self.expectSound(stores[0])
        _ = try stores[0].apply([], judging: [:], wallMilliseconds: 0)
        #expect(try stores[0].json("n/3") == nil)
        #expect(try stores[0].state().cuts.isAway(TestDevice(3).id))
        try Self.expectSound(stores[0])
    }

    @Test(arguments: StoreKind.allCases)
    func `a device writes nothing again that is void by a strict end, and goes on under another history`(
        kind: StoreKind
    ) throws {
        let stores = try introduced(kind, count: 2)
        let replica = try #require(try stores[0].state().ownReplica)
        let ends = [replica: try stores[0].vector.next(of: replica)]
        try Self.emit(stores[0], "s", "1")
        try stores[0].write(.putting("n/1", #"{"x":1}"#))
        try stores[1].pull(from: stores[0])
        for store in stores { _ = try store.apply([], judging: ends, wallMilliseconds: 0) }
        #expect(try stores[0].rewriteVoid(limit: 9, wallMilliseconds: 5).commit.segments.isEmpty)
        try Self.emit(stores[0], "s", "2")
        #expect(try stores[0].state().ownReplica != replica)
        try stores[1].pull(from: stores[0])
        for store in stores {
            #expect(try payloads(store, "s") == ["2"])
            #expect(try store.json("n/1") == nil)
        }
        try Self.expectSame(stores[0], as: stores[1])
    }

    // MARK: Drops

    private func drop(_ store: SQLiteStore, _ stream: String) throws {
        let events = try store.keptEvents(of: stream, space: .home, after: nil, limit: .max)
        var vector = VersionVector()
        for event in events { vector.advance(event.dot.replica, to: event.dot.counter + 1) }
        let drop = SyncModel.Operation.EventDrop(stream: ExactString(stream), events: DroppedEvents(before: vector))
        _ = try store.append([[.dropEvents(drop)]], wallMilliseconds: 4)
    }

    @Test(arguments: StoreKind.allCases)
    func `a void drop lets nothing go until it counts, and one that was done stays done`(kind: StoreKind) throws {
        let ending = try begin(kind)
        try drop(ending.author, "m")
        try ending.judge(ending.store, ending.ends)
        try ending.store.pull(from: ending.author)
        #expect(try payloads(ending.store, "m") == ["1", "2"])
        try Self.expectSame(ending.store, as: ending.oracle)
        try ending.judge(ending.store, [:])
        #expect(try payloads(ending.store, "m").isEmpty)
        try Self.expectSame(ending.store, as: ending.author)
        try ending.judge(ending.store, ending.ends)
        #expect(try payloads(ending.store, "m").isEmpty)
        try Self.expectSound(ending.store)
    }

    @Test(arguments: StoreKind.allCases)
    func `void events that others drop meanwhile do not come back`(kind: StoreKind) throws {
        let ending = try begin(kind)
        for payload in ["3", "4"] { try Self.emit(ending.author, "s", payload) }
        try ending.oracle.pull(from: ending.author)
        try ending.store.pull(from: ending.author)
        try ending.judge(ending.store, ending.ends)
        // 3 does not know of the end, and drops three of four.
        let events = try ending.oracle.allEvents("s")
        let last = try #require(events.last)
        let drop = SyncModel.Operation.EventDrop(
            stream: "s",
            events: DroppedEvents(
                before: VersionVector([.init(replica: ending.replica, next: last.dot.counter)])))
        _ = try ending.oracle.append([[.dropEvents(drop)]], wallMilliseconds: 4)
        try ending.store.pull(from: ending.oracle)
        #expect(try payloads(ending.store, "s").isEmpty)
        try Self.expectSound(ending.store)
        try ending.judge(ending.store, [:])
        #expect(try payloads(ending.store, "s") == ["4"])
        try Self.expectSame(ending.store, as: ending.oracle)
    }
}
