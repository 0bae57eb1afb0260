import SyncModel
import SyncStore
import Testing

/// Devices that were let go, where changes were dropped: what counts is done again from where each object's history begins,
/// and what does not count is in no beginning. 1 lets 3 go.
@Suite("Cuts in a compacted log")
struct CompactedCutTests {
    private let machines = Machines()
    private let key = ObjectKey("n/1")

    /// All have `n/1`, and `n/0`, which is gone.
    private func three() throws -> (one: SQLiteStore, two: SQLiteStore, three: SQLiteStore) {
        let stores = try (1...3).map { try machines.open(UInt8($0)) }
        _ = try stores[0].append((1...3).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        try stores[0].write(.putting("n/1", #"{"x":1}"#), .putting("n/0", #"{"x":0}"#), at: 2)
        try stores[0].write(.deleting("n/0"), at: 3)
        for store in stores.dropFirst() { try store.pull(from: stores[0]) }
        return (stores[0], stores[1], stores[2])
    }

    private func retireThree(_ store: SQLiteStore, at wallMilliseconds: Int64 = 10) throws {
        _ = try store.append([.retire(TestDevice(3).id)], wallMilliseconds: wallMilliseconds)
    }

    private func past(_ store: SQLiteStore) throws -> ObjectPast {
        ObjectPast(try store.touches(of: key, space: .home), from: try store.beginning(of: key, space: .home))
    }

    private func expectSame(_ stores: [SQLiteStore], sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(Set(try stores.map { try $0.state().digest }).count == 1, sourceLocation: sourceLocation)
        for store in stores {
            #expect(try store.recomputedDigest(of: .home) == store.state().digest, sourceLocation: sourceLocation)
            #expect(try !store.state().isIncomplete, sourceLocation: sourceLocation)
        }
    }

    @Test func `a word that keeps what is void has its objects done again on what the log began with`() throws {
        let (one, two, three) = try three()
        let before = try #require(try one.object("n/1"))
        _ = try one.compactAll(upTo: one.vector)
        try three.write(.putting("n/1", #"{"x":3}"#), .putting("n/2", #"{"x":3}"#), at: 11)
        try two.pull(from: three)
        try retireThree(one)
        try one.pull(from: three)
        #expect(try one.json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try one.find("n") == ["n/1"])
        // 2 has not heard of it.
        try two.write(.putting("n/9", "{}"), at: 12)
        try one.pull(from: two)
        #expect(try one.json("n/1") == JSONValue(json: #"{"x":3}"#))
        #expect(try one.find("n") == ["n/1", "n/2", "n/9"])
        let past = try past(one)
        #expect(past.beginning?.state == before.state && past.beginning?.version == before.version)
        #expect(past.changes.map(\.version.replica.device) == [TestDevice(3).id])
        try two.pull(from: one)
        try expectSame([one, two])
        #expect(try one.object("n/1")?.state == two.object("n/1")?.state)
    }

    @Test func `a cut takes back what was written on what the log began with`() throws {
        let (one, two, three) = try three()
        let before = try #require(try two.object("n/1"))
        _ = try two.compactAll(upTo: two.vector)
        try three.write(.putting("n/1", #"{"x":3}"#), .deleting("n/1"), at: 11)
        try two.pull(from: three)
        #expect(try two.find("n").isEmpty)
        try retireThree(one)
        try two.pull(from: one)
        #expect(try two.json("n/1") == JSONValue(json: #"{"x":1}"#))
        #expect(try two.object("n/1")?.version == before.version)
        #expect(try past(two).changes.isEmpty)
        try one.pull(from: two)
        try expectSame([one, two])
    }

    @Test func `what does not count goes with the rest, and is in no beginning`() throws {
        let (one, two, three) = try three()
        let before = try #require(try one.object("n/1"))
        try retireThree(one)
        try three.write(.putting("n/1", #"{"x":3,"z":3}"#), .putting("n/2", #"{"x":3}"#), at: 11)
        try one.pull(from: three)
        try one.write(.editing("n/1", "y", .set(JSONValue(json: "5"))), at: 50)
        try two.pull(from: one)
        #expect(try one.object("n/2") != nil, "it may count one day")
        let dropped = try one.compactAll(upTo: one.vector, before: Stamp(rawValue: 50 << 16))
        #expect(dropped > 0)
        let past = try past(one)
        #expect(past.beginning?.state == before.state)
        let last = try #require(past.changes.last)
        #expect(past.changes.count == 1 && past.isKnown(last))
        #expect(past.state(behind: last, members: try one.members()) == (try one.object("n/1")?.state))
        #expect(try one.json("n/1") == JSONValue(json: #"{"x":1,"y":5}"#))
        _ = try one.collect(upTo: one.vector, after: nil, limit: 10)
        _ = try one.compactAll(upTo: one.vector)
        #expect(try one.object("n/2") == nil)
        #expect(try one.json("n/1") == JSONValue(json: #"{"x":1,"y":5}"#))
        try expectSame([one, two])
    }

    @Test func `unseen work of who was let go arrives where changes were dropped, and stands again in the end`()
        throws
    {
        let (one, two, three) = try three()
        try three.write(.putting("n/1", #"{"x":3}"#), .putting("n/3", #"{"x":3}"#), at: 9)
        try three.write(.deleting("n/3"), .putting("n/4", #"{"x":4}"#), at: 9)
        try retireThree(one)
        try one.write(.putting("n/1", #"{"y":9}"#), at: 11)
        try two.pull(from: one)
        for store in [one, two] {
            _ = try store.collect(upTo: store.vector, after: nil, limit: 10)
            _ = try store.compactAll(upTo: store.vector)
            try store.pull(from: three)
        }
        #expect(try one.json("n/1") == JSONValue(json: #"{"x":1,"y":9}"#))
        #expect(try one.find("n") == ["n/1"])
        _ = try one.append([[.addMember(TestDevice(3).fact)]], wallMilliseconds: 20)
        try three.take(stateFrom: one)
        #expect(try three.json("n/1") == JSONValue(json: #"{"x":1,"y":9}"#))
        while try three.rewriteVoid(limit: 1, wallMilliseconds: 30).hasMore {}
        try one.pull(from: three)
        try two.pull(from: one)
        for store in [one, two, three] {
            #expect(try store.json("n/1") == JSONValue(json: #"{"x":3,"y":9}"#))
            #expect(try store.find("n") == ["n/1", "n/4"])
            #expect(try store.object("n/1")?.summary.hasConflict == false)
        }
        try expectSame([one, two, three])
        for store in [one, two, three] { _ = try store.compactAll(upTo: store.vector) }
        try expectSame([one, two, three])
        #expect(try past(one).changes.isEmpty)
        #expect(try past(one).beginning?.state == one.object("n/1")?.state)
    }

    @Test func `void work that came back as state is not written again, and nobody waits for it`() throws {
        let (one, _, three) = try three()
        try three.write(.putting("n/3", #"{"x":3}"#), at: 9)
        try retireThree(one)
        try one.pull(from: three)
        // The disk is lost.
        let again = try machines.open(3)
        try again.take(stateFrom: one)
        #expect(try again.vector == one.vector)
        _ = try one.append([[.addMember(TestDevice(3).fact)]], wallMilliseconds: 20)
        try again.pull(from: one)
        #expect(try !again.rewriteVoid(limit: 9, wallMilliseconds: 30).hasMore)
        try again.write(.putting("n/5", "{}"), at: 31)
        try one.pull(from: again)
        #expect(try one.find("n") == ["n/1", "n/5"])
        try expectSame([one, again])
    }

    @Test func `a deletion that comes with a state lists nothing void among what it dropped`() throws {
        let (one, two, three) = try three()
        try three.write(.editing("n/1", "x", .set(JSONValue(json: "3"))), at: 9)
        try two.pull(from: three)
        try retireThree(one)
        try two.pull(from: one)
        try two.write(.editing("n/1", "y", .set(JSONValue(json: "2"))), at: 11)
        try one.write(.deleting("n/1"), at: 12)
        try two.take(stateFrom: one)
        func listed(_ store: SQLiteStore) throws -> [DeviceID]? {
            try store.object("n/1")?.state.lives.deletions.first?.edited.map(\.replica.device)
        }
        #expect(try listed(two) == [TestDevice(2).id])
        try one.pull(from: two)
        #expect(try listed(one) == [TestDevice(2).id])
        try expectSame([one, two])
    }
}
