import SyncModel
import SyncStore
import Testing

/// What every store promises about events, streams and consumers.
@Suite("Store contract: events")
struct EventContractTests {
    @Test(arguments: StoreKind.allCases)
    func `arrival order is the order of the node, canonical order the same everywhere`(kind: StoreKind) throws {
        let late = try StoreBed(.memory, device: TestDevice(2)).open()
        let early = try StoreBed(.memory, device: TestDevice(3)).open()
        let lateSegments = try (0..<5).flatMap { try late.appendOne("s", "\"l\($0)\"", at: 1_000 + $0) }
        let earlySegments = try (0..<5).flatMap { try early.appendOne("s", "\"e\($0)\"", at: 998 + $0) }
        let one = try StoreBed(kind).open()
        _ = try one.apply(lateSegments + earlySegments, wallMilliseconds: 0)
        let two = try StoreBed(kind).open()
        _ = try two.apply(earlySegments + lateSegments, wallMilliseconds: 0)
        #expect(try one.allEvents("s").map(\.position) == Array(1...10))
        #expect(try one.allEvents("s").map(\.text) != two.allEvents("s").map(\.text))
        let canonical = try one.canonicalEvents("s")
        #expect(canonical.map(\.text) == (try two.canonicalEvents("s").map(\.text)))
        #expect(canonical.map(\.canonicalKey) == canonical.map(\.canonicalKey).sorted())
        #expect(canonical.count == 10)
    }

    @Test(arguments: StoreKind.allCases)
    func `pages in either order join to the whole`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        for device in 2..<5 {
            let author = try StoreBed(.memory, device: TestDevice(UInt8(device))).open()
            for round in 0..<6 {
                let group = (0..<5).map {
                    [Operation.event($0 % 2 == 0 ? "s" : "t", "\(device * 100 + round * 10 + $0)")]
                }
                _ = try store.apply(author.append(group, wallMilliseconds: 50).segments, wallMilliseconds: 0)
            }
        }
        let whole = try store.allEvents("s")
        let canonical = try store.canonicalEvents("s")
        #expect(whole.count == 54 && canonical.count == 54)
        for limit in [1, 2, 7, 100] {
            var position: Int64 = 0
            var pages: [StoredEvent] = []
            while true {
                let page = try store.events(
                    EventQuery(
                        space: .home, stream: "s", order: .arrival(after: position), limit: limit, byteBudget: .max))
                guard let last = page.last else { break }
                #expect(page.count <= limit)
                pages += page
                position = last.position
            }
            #expect(pages == whole)
            var key: CanonicalKey?
            pages = []
            while true {
                let page = try store.canonicalEvents("s", after: key, limit: limit)
                guard let last = page.last else { break }
                #expect(page.count <= limit)
                pages += page
                key = last.canonicalKey
            }
            #expect(pages == canonical)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page keeps to its bytes and holds at least one event`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.append((0..<5).map { _ in [.event("s", "\"0123456789\"")] }, wallMilliseconds: 1)
        func count(_ bytes: Int) throws -> Int {
            try store.events(
                EventQuery(space: .home, stream: "s", order: .arrival(after: 0), limit: 9, byteBudget: bytes)
            ).count
        }
        #expect(try count(0) == 1)
        #expect(try count(13) == 2)
        #expect(try count(1 << 20) == 5)
    }

    @Test(arguments: StoreKind.allCases)
    func `several events of a change keep their order and have dots of their own`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.append([[.event("a", "1"), .event("b", "2"), .event("a", "3")]], wallMilliseconds: 1)
        #expect(try store.allEvents("a").map(\.position) == [1, 3])
        #expect(try store.allEvents("b").map(\.position) == [2])
        #expect(try store.canonicalEvents("a").map(\.dot.counter) == [0, 2])
        let between = CanonicalKey(
            stamp: try store.allEvents("a")[0].stamp, dot: try store.allEvents("b")[0].dot)
        #expect(try store.canonicalEvents("a", after: between).map(\.dot.counter) == [2])
    }

    @Test(arguments: StoreKind.allCases)
    func `streams are listed with their length, and an unknown one is empty`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.append([[.event("b"), .event("a")], [.event("b")]], wallMilliseconds: 1)
        _ = try store.append([[.event("b")]], wallMilliseconds: 1)
        #expect(
            try store.streams(of: .home) == [
                StreamSummary(name: "a", events: 1, lastPosition: 2),
                StreamSummary(name: "b", events: 3, lastPosition: 4),
            ])
        #expect(try store.allEvents("c").isEmpty && store.canonicalEvents("c").isEmpty)
        let elsewhere = try #require(SpaceID(bytes: [UInt8](repeating: 9, count: 16)))
        #expect(try store.streams(of: elsewhere).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `what a consumer has not read is counted from any position`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        for _ in 0..<3 { _ = try store.append([[.event("a"), .event("b")], [.event("a")]], wallMilliseconds: 1) }
        for position in 0...10 {
            let expected = try store.allEvents("a").count { $0.position > position }
            #expect(
                try store.eventCount(stream: "a", space: .home, after: Int64(position)) == Int64(expected),
                "\(position)")
        }
        #expect(try store.eventCount(stream: "none", space: .home, after: 0) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `names that look the same and differ in bytes are two streams`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let commit = try store.append([[.event("caf\u{e9}"), .event("cafe\u{301}")]], wallMilliseconds: 1)
        #expect(commit.streams.count == 2)
        #expect(try store.streams(of: .home).map(\.events) == [1, 1])
    }

    @Test(arguments: StoreKind.allCases)
    func `positions go on after a reopening and are never given twice`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        var seen: Set<Int64> = []
        for round in 0..<4 {
            let store = try bed.open()
            _ = try store.append([[.event("s")], [.event("s")]], wallMilliseconds: Int64(round))
            #expect(seen.isDisjoint(with: try store.allEvents("s").suffix(2).map(\.position)))
            seen.formUnion(try store.allEvents("s").map(\.position))
            if round % 2 == 0 { store.close() } else { bed.crash(store) }
        }
        #expect(seen == Set(1...8))
    }

    @Test(arguments: StoreKind.allCases)
    func `a consumer's cursor moves forward, back only when rewinding, and survives`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        _ = try store.append((0..<9).map { [.event("s", "\($0)")] }, wallMilliseconds: 1)
        let new = try store.consumer("c", stream: "s", space: .home)
        #expect(new == Consumer(name: "c", stream: "s", position: 0, delivered: 0))
        func move(_ position: Int64, rewinding: Bool = false) throws -> Int64 {
            try store.acknowledge(
                consumer: "c", stream: "s", space: .home, position: position, rewinding: rewinding)
            return try store.consumer("c", stream: "s", space: .home).position
        }
        #expect(try move(4) == 4)
        #expect(try move(2) == 4)
        #expect(try move(2, rewinding: true) == 2)
        // Rewound: what was handed out before stays known as handed out.
        #expect(try store.consumer("c", stream: "s", space: .home).delivered == 4)
        // A cursor never stands before events that are still to come.
        #expect(try move(99) == 9)
        try store.recordDelivered(consumer: "d", stream: "s", space: .home, position: 7)
        try store.recordDelivered(consumer: "d", stream: "s", space: .home, position: 3)
        bed.crash(store)
        let reopened = try bed.open()
        #expect(
            try reopened.consumers(of: .home) == [
                Consumer(name: "c", stream: "s", position: 9, delivered: 9),
                Consumer(name: "d", stream: "s", position: 0, delivered: 7),
            ])
    }

    @Test(arguments: StoreKind.allCases)
    func `removing a consumer says whether there was one`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.consumer("c", stream: "s", space: .home)
        _ = try store.consumer("c", stream: "t", space: .home)
        #expect(try store.removeConsumer("c", space: .home))
        #expect(try !store.removeConsumer("c", space: .home))
        #expect(try store.consumers(of: .home).isEmpty)
    }
}

extension StoredEvent {
    var text: String { String(decoding: payload, as: UTF8.self) }
}

extension SQLiteStore {
    fileprivate func appendOne(_ stream: String, _ payload: String, at wall: Int) throws -> [VerifiedSegment] {
        try append([[.event(stream, payload)]], wallMilliseconds: Int64(wall)).segments
    }
}
