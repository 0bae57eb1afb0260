import SyncModel
import SyncStore
import Testing

/// What a consumer is given that began with a snapshot, or reads in canonical order: the small histories that break without a
/// rule, and random ones against the obvious.
@Suite("Store contract: consumers")
struct ConsumerContractTests {
    /// Several nodes that write to one stream and hear of each other.
    struct Nodes {
        let stores: [SQLiteStore]
        var wall: Int64 = 1_000

        init(_ kind: StoreKind, _ count: UInt8 = 3) throws {
            stores = try (1...count).map { try StoreBed(kind, device: TestDevice($0)).open() }
        }

        subscript(_ index: Int) -> SQLiteStore { stores[index] }

        mutating func emit(_ payload: String, at index: Int, type: String? = nil) throws {
            wall += 10
            _ = try stores[index].append([[.event("s", "\"\(payload)\"", type: type)]], wallMilliseconds: wall)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a snapshot counts what its consumer acknowledged, never what its node holds`(kind: StoreKind) throws {
        var nodes = try Nodes(kind)
        for name in ["a1", "a2", "a3"] { try nodes.emit(name, at: 0) }
        try nodes[0].acknowledge(consumer: "c", stream: "s", space: .home, position: 2, rewinding: false)
        let vector = try nodes[0].vector(of: nodes[0].consumer("c", stream: "s", space: .home).cursor)
        try nodes[1].pull(from: nodes[0])
        // With the vector of the store a3 would be given to nobody who begins with this snapshot.
        #expect(try nodes[1].given(beginningWith: vector) == ["a3"])
    }

    @Test(arguments: StoreKind.allCases)
    func `who begins with a snapshot is given what came late, wherever it stands`(kind: StoreKind) throws {
        var nodes = try Nodes(kind)
        try nodes.emit("early", at: 1)
        try nodes.emit("a1", at: 0)
        try nodes[0].acknowledge(consumer: "c", stream: "s", space: .home, position: 1, rewinding: false)
        let vector = try nodes[0].vector(of: nodes[0].consumer("c", stream: "s", space: .home).cursor)
        // The new node hears of both, of the covered one last.
        try nodes[2].pull(from: nodes[1])
        try nodes[2].pull(from: nodes[0])
        #expect(try nodes[2].given(beginningWith: vector) == ["early"])
    }

    @Test(arguments: StoreKind.allCases)
    func `what a snapshot covers and arrives after it is not given either`(kind: StoreKind) throws {
        var nodes = try Nodes(kind)
        try nodes.emit("a1", at: 0)
        try nodes.emit("b1", at: 1)
        try nodes[1].acknowledge(consumer: "c", stream: "s", space: .home, position: 1, rewinding: false)
        let vector = try nodes[1].vector(of: nodes[1].consumer("c", stream: "s", space: .home).cursor)
        // State may bring a snapshot before the events that it covers.
        try nodes[2].pull(from: nodes[0])
        try nodes[2].begin("c", with: ConsumerCursor(snapshot: vector))
        #expect(try nodes[2].next("c") == ["a1"])
        try nodes[2].pull(from: nodes[1])
        #expect(try nodes[2].next("c") == [])
        // And a snapshot of this consumer covers it, too.
        let cursor = try nodes[2].consumer("c", stream: "s", space: .home).cursor
        #expect(try nodes[2].vector(of: cursor) == nodes[2].vector)
    }

    @Test(arguments: StoreKind.allCases)
    func `a superseded event counts as acknowledged, because elsewhere it may still be shown`(kind: StoreKind) throws {
        var nodes = try Nodes(kind)
        _ = try nodes[0].append(
            [.planned([.setStream(.init(stream: "s", latestOnly: true, retainMilliseconds: nil))])],
            wallMilliseconds: 1)
        try nodes.emit("on", at: 0, type: "lamp")
        try nodes[1].pull(from: nodes[0])
        try nodes.emit("off", at: 1, type: "lamp")
        #expect(try nodes[1].next("c") == ["off"])
        let vector = try nodes[1].vector(of: nodes[1].consumer("c", stream: "s", space: .home).cursor)
        try nodes[2].pull(from: nodes[0])
        // "off" is not here yet, and will not be given: "on" must not be, or the lamp stays on for ever.
        #expect(try nodes[2].given(beginningWith: vector) == [])
        try nodes[2].pull(from: nodes[1])
        #expect(try nodes[2].given(beginningWith: vector) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `an event that comes late rewinds to before it, also after a restart`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let late = try StoreBed(.memory, device: TestDevice(2)).open()
        _ = try store.append([[.event("s", "\"a1\"")]], wallMilliseconds: 10)
        _ = try late.append([[.event("s", "\"b1\"")]], wallMilliseconds: 15)
        _ = try store.append([[.event("s", "\"a2\"")]], wallMilliseconds: 20)
        try store.begin("c", with: ConsumerCursor(order: .canonical))
        #expect(try store.next("c") == ["a1", "a2"])
        try store.pull(from: late)
        bed.crash(store)
        let again = try bed.open()
        let consumer = try again.consumer("c", stream: "s", space: .home)
        let page = try again.read(consumer.cursor)
        // Without the arrival number in the cursor b1 would stand before it, read by nobody.
        #expect(page.events.map(\.plain) == ["b1", "a2"])
        let rewind = try #require(page.rewind)
        let first = try again.canonicalEvents("s")[0]
        #expect(first.canonicalKey < rewind && rewind < page.events[0].canonicalKey)
        // Not acknowledged: it comes again. Acknowledged, it does not.
        #expect(try again.read(consumer.cursor).rewind == rewind)
        #expect(try again.next("c") == ["rewind", "b1", "a2"])
        #expect(try again.next("c") == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `in canonical order a snapshot is outrun by what comes late and it does not cover`(kind: StoreKind) throws {
        var nodes = try Nodes(kind)
        try nodes.emit("b1", at: 1)
        try nodes.emit("a1", at: 0)
        try nodes.emit("a2", at: 0)
        try nodes[0].begin("c", with: ConsumerCursor(order: .canonical))
        #expect(try nodes[0].next("c") == ["a1", "a2"])
        var cursor = try nodes[0].consumer("c", stream: "s", space: .home).cursor
        let vector = try nodes[0].vector(of: cursor)
        let snapshot = ConsumerCursor(order: .canonical, key: cursor.key, snapshot: vector)
        try nodes[2].pull(from: nodes[0])
        #expect(try nodes[2].read(snapshot).rewind == nil)
        try nodes.emit("a3", at: 0)
        try nodes[2].pull(from: nodes[0])
        #expect(try nodes[2].read(snapshot).events.map(\.plain) == ["a3"])
        try nodes[2].pull(from: nodes[1])
        #expect(try nodes[2].read(snapshot).rewind != nil)
        // Undone to before b1, the state holds nothing: neither does its vector cover anything.
        try nodes[2].begin("c", with: snapshot)
        let page = try nodes[2].read(snapshot)
        try nodes[2].acknowledge("c", page, upTo: 1)
        cursor = try nodes[2].consumer("c", stream: "s", space: .home).cursor
        #expect(try nodes[2].vector(of: cursor).entries.map(\.replica.device) == [TestDevice(2).id])
        #expect(try nodes[2].next("c") == ["a1", "a2", "a3"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a restore puts the consumer aside until it is finished, also across a crash`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        _ = try store.append([[.event("s")], [.event("s")]], wallMilliseconds: 1)
        try store.acknowledge(consumer: "c", stream: "s", space: .home, position: 2, rewinding: false)
        let before = try store.consumer("c", stream: "s", space: .home).cursor
        let cursor = ConsumerCursor(snapshot: try store.vector(of: ConsumerCursor(position: 1)))
        let restore = Consumer.Restore(snapshot: "one", cursor: cursor)
        _ = try store.changeConsumer("c", stream: "s", space: .home) { consumer, _ in consumer.restore = restore }
        bed.crash(store)
        let again = try bed.open()
        let aside = try again.consumer("c", stream: "s", space: .home)
        #expect(aside.restore == restore && aside.cursor == before)
        var finished = try again.changeConsumer("c", stream: "s", space: .home) { consumer, _ in
            let isFinished = consumer.finishRestore(of: "other")
            #expect(!isFinished)
        }
        #expect(finished.restore == restore)
        finished = try again.changeConsumer("c", stream: "s", space: .home) { consumer, _ in
            _ = consumer.finishRestore(of: "one")
        }
        #expect(finished.restore == nil && finished.cursor == cursor && finished.delivered == 0)
        #expect(try again.next("c") == ["1"])
        // To begin from nothing forgets the snapshot.
        try again.acknowledge(consumer: "c", stream: "s", space: .home, position: 0, rewinding: true)
        #expect(try again.next("c") == ["1", "1"])
    }

    @Test(arguments: StoreKind.allCases)
    func `what a snapshot covers is passed over once`(kind: StoreKind) throws {
        var nodes = try Nodes(kind, 2)
        for number in 1...50 { try nodes.emit("\(number)", at: 0) }
        let vector = try nodes[0].vector(of: ConsumerCursor(position: 48))
        try nodes[1].pull(from: nodes[0])
        let page = try nodes[1].read(ConsumerCursor(snapshot: vector))
        #expect(page.events.map(\.plain) == ["49", "50"])
        #expect(page.coveredPosition(ConsumerCursor(snapshot: vector)) == 48)
        let whole = ConsumerCursor(snapshot: try nodes[0].vector)
        #expect(try nodes[1].read(whole).coveredPosition(whole) == 50)
    }

    @Test(arguments: 1...8)
    func `the database gives any reader what the obvious gives it`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let peers = try (2..<5).map { try StoreBed(.memory, device: TestDevice($0)).open() }
        let stores = [try StoreBed(.memory).open(), try StoreBed(.sqliteInTmpfs).open()]
        for store in stores where seed.isMultiple(of: 4) {
            let setting = Operation.StreamSetting(stream: "s", latestOnly: true, retainMilliseconds: nil)
            _ = try store.append([.planned([.setStream(setting)])], wallMilliseconds: 1)
        }
        for round in 0..<60 {
            let author = peers.randomElement(using: &random)!
            let groups = (0...Int.random(in: 0...4, using: &random)).map { _ in
                [
                    Operation.event(
                        ["s", "t"].randomElement(using: &random)!, "\(round)",
                        type: ["x", "y"].randomElement(using: &random)!)
                ]
            }
            _ = try author.append(groups, wallMilliseconds: Int64.random(in: 1_000...1_100, using: &random))
            if Int.random(in: 0..<3, using: &random) == 0 {
                try author.pull(from: peers.randomElement(using: &random)!)
            }
            let from = peers.randomElement(using: &random)!
            for store in stores { try store.pull(from: from) }
            let newest = try stores[0].state().lastPosition
            let keys = try stores[0].canonicalEvents("s").map(\.canonicalKey)
            let base = try stores[0].vector(of: ConsumerCursor(position: Int64.random(in: 0...newest, using: &random)))
            for order in [ConsumerCursor.Order.arrival, .canonical] {
                var cursor = ConsumerCursor(order: order, position: Int64.random(in: 0...newest, using: &random))
                if Bool.random(using: &random) { cursor.snapshot = base }
                if order == .canonical { cursor.key = keys.randomElement(using: &random) }
                let limit = Int.random(in: 1...6, using: &random)
                #expect(try stores[0].read(cursor, limit) == stores[1].read(cursor, limit), "\(cursor)")
                #expect(try stores[0].vector(of: cursor) == stores[1].vector(of: cursor), "\(cursor)")
                let counts = try stores.map { try $0.eventCount(stream: "s", space: .home, beyond: cursor) }
                #expect(counts[0] == counts[1], "\(cursor)")
            }
        }
    }
}

extension SQLiteStore {
    fileprivate func vector(of cursor: ConsumerCursor) throws -> VersionVector {
        try vector(of: cursor, stream: "s", space: .home)
    }

    fileprivate func read(_ cursor: ConsumerCursor, _ limit: Int = 100) throws -> ConsumerPage {
        try read(ConsumerQuery(space: .home, stream: "s", cursor: cursor, limit: limit, byteBudget: .max))
    }

    fileprivate func begin(_ name: String, with cursor: ConsumerCursor) throws {
        _ = try changeConsumer(name, stream: "s", space: .home) { consumer, _ in consumer.cursor = cursor }
    }

    /// What a new reader with this snapshot is given.
    fileprivate func given(beginningWith vector: VersionVector) throws -> [String] {
        try read(ConsumerCursor(snapshot: vector)).events.map(\.plain)
    }

    /// Reads all there is, and acknowledges it.
    fileprivate func next(_ name: String) throws -> [String] {
        let page = try read(try consumer(name, stream: "s", space: .home).cursor)
        try acknowledge(name, page, upTo: page.events.count)
        return (page.rewind == nil ? [] : ["rewind"]) + page.events.map(\.plain)
    }

    fileprivate func acknowledge(_ name: String, _ page: ConsumerPage, upTo count: Int) throws {
        guard let last = page.events.prefix(count).last else { return }
        _ = try changeConsumer(name, stream: "s", space: .home) { consumer, newest in
            switch consumer.cursor.order {
            case .arrival: consumer.acknowledge(last.position, newest: newest)
            case .canonical: consumer.acknowledge(last.canonicalKey, arrived: page.newest, newest: newest)
            }
        }
    }
}

extension StoredEvent {
    /// The payload without its quotes.
    fileprivate var plain: String { text.replacing("\"", with: "") }
}
