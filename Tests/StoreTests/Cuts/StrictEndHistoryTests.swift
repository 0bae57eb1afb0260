import SyncModel
import SyncStore
import Testing

/// Strict ends where a part of the log was dropped, came as state, or is read anew, and in random histories.
@Suite("Strict ends in logs of every kind")
struct StrictEndHistoryTests {
    private let machines = Machines()

    /// 1 holds all that 2 wrote: events up to the end, and beyond it.
    private func three(
        beyond write: (SQLiteStore) throws -> Void
    ) throws -> (stores: [SQLiteStore], ends: [ReplicaID: UInt64]) {
        let stores = try (1...3).map { try machines.open(UInt8($0)) }
        _ = try stores[0].append((1...4).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        try stores[1].pull(from: stores[0])
        try stores[1].write(.schema("n", #"{"fields":{"title":"text"}}"#), .putting("n/1", #"{"x":1}"#))
        try StrictEndTests.set(stores[1], "l", latestOnly: true)
        for payload in ["1", "2"] {
            try StrictEndTests.emit(stores[1], "s", payload)
            try StrictEndTests.emit(stores[1], "l", payload, type: payload)
        }
        try stores[2].pull(from: stores[1])
        let replica = try #require(try stores[1].state().ownReplica)
        let end = try stores[1].vector.next(of: replica)
        try write(stores[1])
        try stores[0].pull(from: stores[1])
        return (stores, [replica: end])
    }

    private static func writeEvents(_ store: SQLiteStore) throws {
        for payload in ["3", "4"] {
            try StrictEndTests.emit(store, "s", payload)
            try StrictEndTests.emit(store, "l", payload, type: "1")
            try StrictEndTests.emit(store, "t", payload)
        }
    }

    private static func writeAll(_ store: SQLiteStore) throws {
        try writeEvents(store)
        try StrictEndTests.set(store, "s", latestOnly: true)
        try StrictEndTests.set(store, "l", latestOnly: false)
        try store.write(.schema("n", #"{"fields":{"plays":"counter"}}"#), .schema("o", #"{"indexed":["x"]}"#))
        try store.write(.putting("n/1", #"{"x":2}"#), .putting("o/1", #"{"x":2}"#))
    }

    private func judge(_ store: SQLiteStore, _ ends: [ReplicaID: UInt64]) throws {
        _ = try store.apply([], judging: ends, wallMilliseconds: 0)
    }

    // MARK: Residues

    @Test func `void events outlive compaction, and come back from what is left of their changes`() throws {
        let (stores, ends) = try three(beyond: Self.writeEvents)
        let events = try ["s", "l", "t"].map { try stores[0].allEvents($0) }
        try judge(stores[0], ends)
        #expect(try stores[0].compactAll(upTo: stores[0].vector) > 0)
        try StrictEndTests.expectSame(stores[0], as: stores[2])
        try judge(stores[0], [:])
        #expect(try ["s", "l", "t"].map { try stores[0].allEvents($0) } == events)
        try StrictEndTests.expectSame(stores[0], as: stores[1])
        #expect(try stores[0].state().isIncomplete, "the dropped changes may have said more than that")
    }

    @Test func `events of dropped changes become void`() throws {
        let (stores, ends) = try three(beyond: Self.writeEvents)
        #expect(try stores[0].compactAll(upTo: stores[0].vector) > 0)
        try judge(stores[0], ends)
        try StrictEndTests.expectSame(stores[0], as: stores[2])
        #expect(try stores[0].state().isIncomplete)
        try judge(stores[0], [:])
        try StrictEndTests.expectSame(stores[0], as: stores[1])
    }

    @Test func `settings and schemas that cannot be made anew are taken whole from a member that has them`() throws {
        let (stores, ends) = try three(beyond: Self.writeAll)
        #expect(try stores[0].compactAll(upTo: stores[0].vector) > 0)
        try judge(stores[0], ends)
        #expect(try stores[0].state().isIncomplete)
        try StrictEndTests.expectSound(stores[0])
        #expect(throws: StoreError.refused(.incomplete)) { _ = try stores[0].stateSource(.init(since: .init())) }
        // 2 holds the whole log, and hears of the end.
        try judge(stores[1], ends)
        try StrictEndTests.expectSame(stores[1], as: stores[2])
        try stores[0].take(stateFrom: stores[1], judging: ends)
        #expect(try !stores[0].state().isIncomplete)
        try StrictEndTests.expectSame(stores[0], as: stores[1])
        // What was written here meanwhile stays when the whole comes once more.
        try judge(stores[0], [:])
        try judge(stores[1], [:])
        try stores[0].write(.schema("n", #"{"fields":{"tags":"set"}}"#))
        try StrictEndTests.set(stores[0], "t", latestOnly: true)
        try stores[0].take(stateFrom: stores[1])
        #expect(try !stores[0].state().isIncomplete)
        try stores[1].pull(from: stores[0])
        try StrictEndTests.expectSame(stores[0], as: stores[1])
        #expect(try stores[0].schema(of: "n", space: .home)?.fieldNames == ["plays", "tags", "title"])
        #expect(try stores[0].json("n/1") == stores[1].json("n/1"))
    }

    // MARK: State

    @Test func `a state hands void events over as what they are`() throws {
        let (stores, ends) = try three(beyond: Self.writeAll)
        try judge(stores[0], ends)
        let four = try machines.open(4)
        try four.take(stateFrom: stores[0], judging: ends)
        #expect(try four.vector == stores[0].vector)
        try StrictEndTests.expectSame(four, as: stores[2])
        #expect(try four.json("n/1") == JSONValue(json: #"{"x":1}"#))
        // The end rises: events are here, for the rest a member is asked.
        try judge(four, [:])
        #expect(try four.state().isIncomplete)
        try StrictEndTests.expectSound(four)
        #expect(try four.allEvents("t").count == 2)
        try judge(stores[0], [:])
        try four.take(stateFrom: stores[0])
        #expect(try !four.state().isIncomplete)
        for store in [four, stores[0]] { try StrictEndTests.expectSame(store, as: stores[1]) }
        #expect(try four.json("o/1") == JSONValue(json: #"{"x":2}"#))
    }

    @Test func `an end that comes with a state hides what is held`() throws {
        let (stores, ends) = try three(beyond: Self.writeAll)
        try judge(stores[1], ends)
        try stores[1].write(.putting("n/5", #"{"x":5}"#))
        try stores[0].take(stateFrom: stores[1], judging: ends)
        #expect(try !stores[0].state().isIncomplete)
        try StrictEndTests.expectSame(stores[0], as: stores[1])
        #expect(try stores[0].json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try stores[0].json("n/5") != nil)
    }

    @Test func `state of a sender that judges otherwise is not taken`() throws {
        let (stores, ends) = try three(beyond: Self.writeEvents)
        let four = try machines.open(4)
        try four.take(stateFrom: stores[2])
        try judge(four, ends)
        try four.take(stateFrom: stores[0])
        #expect(try four.vector == stores[2].vector, "nothing was joined")
        try StrictEndTests.expectSame(four, as: stores[2])
    }

    // MARK: The log read anew

    @Test func `tables derived from the log show what the log alone says`() throws {
        let (stores, ends) = try three(beyond: Self.writeAll)
        let bed = StoreBed(.sqliteInTmpfs, device: TestDevice(4))
        let store = try bed.open()
        try judge(store, ends)
        try store.pull(from: stores[1])
        try judge(store, ends)
        try StrictEndTests.expectSame(store, as: stores[2])
        store.close()
        let outdating = "UPDATE space SET derived = 0;"
        let derived = try bed.open(schema: Schema(steps: Schema.current.steps + [outdating]))
        // The end came from outside the log.
        try StrictEndTests.expectSame(derived, as: stores[1])
        try judge(derived, ends)
        try StrictEndTests.expectSame(derived, as: stores[2])
    }

    // MARK: Random histories

    @Test(arguments: 1...40)
    func `in whatever order ends and changes come, what is shown is the same`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        let kind: StoreKind = seed % 4 == 0 ? .sqliteOfLargeObjects : .memory
        let writers = try introduced(kind, count: 3)
        let readers = try (4...6).map { try StoreBed(kind, device: TestDevice(UInt8($0))).open() }
        for round in 0..<40 {
            let writer = writers[below(3)]
            switch below(8) {
            case 0..<4:
                let events = (0...below(3)).map { _ in
                    SyncModel.Operation.event(
                        ["s", "l", "m"][below(3)], "\(below(100))", type: [nil, "a", "b"][below(3)])
                }
                _ = try writer.append([events], wallMilliseconds: Int64(round))
            case 4: try StrictEndTests.set(writer, ["s", "l", "m"][below(3)], latestOnly: below(2) == 0)
            case 5:
                let field = ["a", "b", "c"][below(3)]
                try writer.write(
                    .schema(["n", "o"][below(2)], #"{"indexed":["\#(field)"]}"#), at: Int64(round))
            case 6: try writer.write(.putting("n/\(below(3))", #"{"x":\#(below(9))}"#), at: Int64(round))
            default: try writer.pull(from: writers[below(3)])
            }
        }
        try converge(writers)
        func randomEnds() throws -> [ReplicaID: UInt64] {
            var ends: [ReplicaID: UInt64] = [:]
            for tip in try writers[0].state().tips where below(2) == 0 {
                ends[tip.replica] = UInt64(below(Int(tip.tip.next) + 2))
            }
            return ends
        }
        let ends = try randomEnds()
        // The first hears of the ends before all else, the second last, the third of many others meanwhile.
        try readers[0].pull(from: writers[0], judging: ends)
        try readers[1].pull(from: writers[0])
        _ = try readers[1].apply([], judging: ends, wallMilliseconds: 0)
        let segments = try readers[2].missing(from: writers[0])
        for segment in segments {
            _ = try readers[2].apply(
                [segment], judging: below(3) == 0 ? try randomEnds() : nil, wallMilliseconds: 0)
            try StrictEndTests.expectSound(readers[2])
        }
        _ = try readers[2].apply([], judging: ends, wallMilliseconds: 0)
        for reader in readers.dropFirst() { try StrictEndTests.expectSame(reader, as: readers[0]) }
        for reader in readers {
            _ = try reader.apply([], judging: [:], wallMilliseconds: 0)
            try StrictEndTests.expectSame(reader, as: writers[0])
        }
    }
}

extension SQLiteStore {
    fileprivate func take(stateFrom sender: SQLiteStore, judging ends: [ReplicaID: UInt64]) throws {
        var staging = try beginStaging()
        let source = try sender.stateSource(staging.request)
        defer { source.close() }
        while let (_, bytes) = try source.next(unless: { _ in false }) { try stage([bytes], of: &staging) }
        _ = try joinStaged(wallMilliseconds: 1, judging: ends)
    }

    fileprivate func pull(from source: SQLiteStore, judging ends: [ReplicaID: UInt64]) throws {
        _ = try apply(try missing(from: source), judging: ends, wallMilliseconds: 0)
    }
}
