import CrashDisk
import SyncModel
import SyncStore
import Testing

@Suite("Answered writes")
struct AnsweredWriteTests {
    private static func key(_ text: String, _ request: String = "r") -> WriteKey {
        WriteKey(text: text, request: Array(request.utf8))
    }

    private static func event(_ number: Int) -> LocalWrite { .operations([.event("s", "\(number)")]) }

    @Test(arguments: StoreKind.allCases)
    func `a write with a known key is answered as before, and written once`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        var store = try bed.open()
        let write = LocalWrite.once(Self.key("k"), Self.event(1))
        let first = try store.append([write], wallMilliseconds: 1_000).outcomes
        let second = try store.append([write, Self.event(2), write], wallMilliseconds: 2_000).outcomes
        #expect(second[0] == first[0])
        #expect(second[2] == first[0])
        store.close()
        store = try bed.open()
        #expect(try store.append([write], wallMilliseconds: 3_000).outcomes == first)
        #expect(try store.allEvents("s").count == 2)
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a key that comes with another request is refused, and nothing is written`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.append([.once(Self.key("k", "a"), Self.event(1))], wallMilliseconds: 1_000)
        let outcomes = try store.append([.once(Self.key("k", "b"), Self.event(2))], wallMilliseconds: 1_000).outcomes
        #expect(outcomes == [.failure(WriteRefusal(step: 0, .keyReused))])
        #expect(try store.allEvents("s").count == 1)
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a key is free again after a day`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let write = LocalWrite.once(Self.key("k"), Self.event(1))
        let day = WriteKey.rememberedMilliseconds
        _ = try store.append([write], wallMilliseconds: 1_000)
        _ = try store.append([write], wallMilliseconds: 999 + day)
        #expect(try store.allEvents("s").count == 1)
        #expect(try store.answeredWrite(Self.key("k").name, wallMilliseconds: 999 + day) != nil)
        #expect(try store.answeredWrite(Self.key("k").name, wallMilliseconds: 1_000 + day) == nil)
        _ = try store.append([write], wallMilliseconds: 1_000 + day)
        #expect(try store.allEvents("s").count == 2)
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a write that changed nothing is remembered, a refused one is not`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        func delete(_ text: String) -> LocalWrite { .once(Self.key(text), .planned([.deleting("note/a")])) }
        func edit() -> LocalWrite {
            .once(Self.key("edit"), .planned([.editing("note/a", "n", .increment(1))]))
        }
        let nothing = try store.append([delete("k")], wallMilliseconds: 1).outcomes
        guard case .failure = try store.append([edit()], wallMilliseconds: 1).outcomes[0] else {
            Issue.record("there is nothing to edit")
            return
        }
        try store.write(.schema("note", #"{"fields":{"n":"counter"}}"#), .putting("note/a", #"{"n":1}"#))
        #expect(try store.append([delete("k")], wallMilliseconds: 2).outcomes == nothing)
        #expect(try store.json("note/a") != nil, "the first answer said that there was nothing to delete")
        _ = try store.append([edit()], wallMilliseconds: 2)
        _ = try store.append([edit()], wallMilliseconds: 2)
        #expect(try store.json("note/a")?["n"] == .integer(2))
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `an object is answered as it was, and named where it is too large to keep`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        func put(_ text: String, _ fields: String) -> LocalWrite {
            .once(Self.key(text), .planned([.putting("note/\(text)", fields)]))
        }
        let small = put("small", #"{"n":1}"#)
        let large = put("large", #"{"t":"\#(String(repeating: "x", count: 4_000))"}"#)
        let first = try store.append([small, large], wallMilliseconds: 1).outcomes.map { try $0.get() }
        try store.write(.putting("note/small", #"{"n":2}"#))
        let second = try store.append([small, large], wallMilliseconds: 1).outcomes.map { try $0.get() }
        #expect(second.map(\.dots) == first.map(\.dots))
        #expect(second.map { $0.steps.map(\.version) } == first.map { $0.steps.map(\.version) })
        #expect(second[0].steps[0].object?.state == first[0].steps[0].object?.state)
        #expect(second[1].steps[0].object == nil)
        #expect(second[1].steps[0].unread == ObjectKey("note/large"))
        store.close()
    }

    /// Writes five times with keys, and asks for the last again after each loss of power.
    private func doubles(_ faults: StoreFaults) throws -> Int {
        let disk = PoweredDisk.withStore()
        let store = try disk.open(faults: faults)
        let before = disk.operationCount
        for number in 0..<5 {
            let write = LocalWrite.once(Self.key("\(number)"), Self.event(number))
            _ = try store.append([write], wallMilliseconds: 1)
        }
        let after = disk.operationCount
        store.close()
        var doubles = 0
        for count in before...after {
            for loss in [CRASH_LOSES_ALL, CRASH_LOSES_NOTHING, CRASH_KEEPS_PREFIX] {
                let found = disk.afterPowerLoss(operationCount: count, loss, seed: UInt64(count))
                let store = try found.open()
                for number in 0..<5 {
                    _ = try store.append([.once(Self.key("\(number)"), Self.event(number))], wallMilliseconds: 2)
                }
                let held = try store.allEvents("s").count
                #expect(held >= 5)
                if held > 5 { doubles += 1 }
                store.close()
            }
        }
        return doubles
    }

    @Test func `whenever the power goes, a write that is asked for again is there once`() throws {
        #expect(try doubles([]) == 0)
    }

    @Test func `the same check finds an answer that is kept after its write`() throws {
        #expect(try doubles(.answersKeptLater) > 0)
    }
}
