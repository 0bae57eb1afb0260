import SyncModel
import SyncStore
import Testing

/// Changes that are dropped from the log: what they amount to stays, and so does what is left of the past.
@Suite("Compaction")
struct CompactionTests {
    private let machines = Machines()

    /// Two members who have all of each other's: events, a text, a deleted object.
    private func pair(_ faults: StoreFaults = []) throws -> (one: SQLiteStore, other: SQLiteStore) {
        let (one, other) = (try machines.open(1, faults), try machines.open(2))
        _ = try one.append((1...3).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        try one.write(.schema("n", #"{"fields":{"body":"text"}}"#), at: 2)
        try one.write(.putting("n/1", #"{"body":"abc"}"#), .putting("n/2", #"{"body":"gone"}"#), at: 3)
        try other.pull(from: one)
        for number in 0..<6 {
            _ = try one.append([[.event("s", "\(number)"), .event("t")]], wallMilliseconds: 10 + Int64(number))
            try one.pull(from: other)
            try other.pull(from: one)
            _ = try other.append([[.event("s", "\(number)")]], wallMilliseconds: 10 + Int64(number))
            try other.write(
                .editing("n/1", "body", .insert(at: 0, .string(ExactString("\(number)")))), at: 20 + Int64(number))
        }
        try other.write(.deleting("n/2"), at: 30)
        try one.pull(from: other)
        try other.pull(from: one)
        return (one, other)
    }

    // What stays

    @Test func `dropped changes take nothing from what is shown`() throws {
        let (one, _) = try pair()
        let before = try one.state()
        let (events, canonical) = (try one.allEvents("s"), try one.canonicalEvents("s"))
        let others = try one.allEvents("t")
        let dropped = try one.compactAll(upTo: one.vector)
        #expect(dropped == before.counts.changes)
        let after = try one.state()
        #expect(after.digest == before.digest)
        #expect(after.tips == before.tips)
        #expect(after.counts.changes == 0 && after.counts.droppedChanges == dropped)
        #expect(try one.recomputedDigest(of: .home) == before.digest)
        #expect(try one.allEvents("s") == events)
        #expect(try one.canonicalEvents("s") == canonical)
        #expect(try one.allEvents("t") == others)
        #expect(try one.json("n/1") == JSONValue(json: #"{"body":"543210abc"}"#))
        #expect(after.firstHeld == (try one.vector))
        for known in after.tips {
            #expect(try one.segments(of: known.replica, from: 0, byteBudget: .max).isEmpty)
            let tip = [VersionVector.Entry(replica: known.replica, next: known.tip.next)]
            #expect(try one.heads(at: tip) == [known.tip.head])
        }
    }

    @Test func `both go on as before, and what is new is shipped as changes`() throws {
        let (one, other) = try pair()
        _ = try one.compactAll(upTo: one.vector)
        try one.write(.editing("n/1", "body", .insert(at: 0, .string("x"))), at: 50)
        _ = try one.append([[.event("s", "7")]], wallMilliseconds: 51)
        try other.write(.editing("n/1", "body", .insert(at: 9, .string("y"))), at: 50)
        try other.pull(from: one)
        try one.pull(from: other)
        #expect(try one.state().digest == other.state().digest)
        #expect(try one.json("n/1") == JSONValue(json: #"{"body":"x543210abcy"}"#))
        _ = try one.compactAll(upTo: one.vector)
        #expect(try one.recomputedDigest(of: .home) == other.state().digest)
        #expect(try one.canonicalEvents("s").map(\.dot) == other.canonicalEvents("s").map(\.dot))
    }

    @Test func `a store opens again as it was, after each step`() throws {
        let bed = StoreBed(.sqliteInTmpfs, device: TestDevice(3))
        let (_, other) = try pair()
        let store = try bed.open()
        try store.pull(from: other)
        let digest = try store.state().digest
        var pass = try store.beginCompaction(stable: store.vector, before: Stamp(rawValue: .max))
        store.close()
        var steps = 0
        while !pass.isOver {
            let store = try bed.open()
            _ = try store.compact(&pass)
            let state = try store.state()
            store.close()
            let again = try bed.open()
            #expect(try again.state() == state)
            #expect(try again.recomputedDigest(of: .home) == digest)
            again.close()
            steps += 1
        }
        #expect(steps >= 3)
    }

    @Test func `who comes late takes state from the one and ends where changes lead`() throws {
        let (one, other) = try pair()
        _ = try one.compactAll(upTo: one.vector)
        let (late, replayed) = (try machines.open(3), try machines.open(3))
        try late.take(stateFrom: one)
        try replayed.pull(from: other)
        #expect(try late.state().digest == replayed.state().digest)
        #expect(try late.canonicalEvents("s").map(\.dot) == replayed.canonicalEvents("s").map(\.dot))
        try other.write(.editing("n/1", "body", .insert(at: 0, .string("z"))), at: 60)
        try late.pull(from: other)
        #expect(try late.state().digest == other.state().digest)
    }

    // What is retained

    @Test func `what is younger than the retention stays, and so does what is not stable`() throws {
        let (one, other) = try pair()
        let before = try one.state()
        #expect(try one.compactAll(upTo: VersionVector()) == 0)
        #expect(try one.compactAll(upTo: one.vector, before: Stamp(rawValue: 0)) == 0)
        #expect(try one.state() == before)
        let some = try one.compactAll(upTo: one.vector, before: Stamp(rawValue: 15 << 16))
        #expect(some > 0 && some < before.counts.changes)
        #expect(try one.state().digest == before.digest)
        #expect(try one.recomputedDigest(of: .home) == before.digest)
        // A member that lacks only what is held is served it.
        let replica = try #require(try one.state().firstHeld.entries.first)
        let rest = try one.segments(of: replica.replica, from: replica.next, byteBudget: .max)
        #expect(rest.last?.end == before.tips.first { $0.replica == replica.replica }?.tip.next)
        _ = other
    }

    @Test func `a history begins where it is held, and goes on from there`() throws {
        let (one, _) = try pair()
        let key = ObjectKey("n/1")
        let all = ObjectPast(try one.touches(of: key, space: .home))
        #expect(try one.beginning(of: key, space: .home) == nil)
        _ = try one.compactAll(upTo: one.vector, before: Stamp(rawValue: 23 << 16))
        let members = try one.members()
        func past() throws -> ObjectPast {
            let touches = try one.touches(of: key, space: .home)
            return ObjectPast(touches, from: try one.beginning(of: key, space: .home))
        }
        let held = try past()
        #expect(held.changes.count == 3)
        #expect(held.beginning?.version == all.changes[all.changes.count - 4].version)
        for (change, same) in zip(held.changes, all.changes.suffix(3)) {
            #expect(held.isKnown(change))
            #expect(change.version == same.version)
            let then = held.state(behind: change, members: members)
            #expect(then.differences(to: all.state(behind: same, members: members), schema: nil, path: nil).isEmpty)
        }
        // All of it goes, then somebody writes again.
        _ = try one.compactAll(upTo: one.vector)
        #expect(try past().changes.isEmpty)
        #expect(try past().beginning?.version == all.changes.last?.version)
        try one.write(.editing("n/1", "body", .insert(at: 0, .string("x"))), at: 70)
        let again = try past()
        #expect(again.changes.count == 1 && again.beginning?.version == all.changes.last?.version)
        #expect(try again.state(behind: #require(again.changes.first), members: members) == one.object("n/1")?.state)
    }

    /// One writes "a" at 40, and other, who has not seen it, "b" at 41: only the first is old enough to go.
    private func sideBySide(_ faults: StoreFaults) throws -> (ObjectPast, MemberFacts) {
        let (one, other) = try pair(faults)
        try one.write(.editing("n/1", "body", .insert(at: 0, .string("a"))), at: 40)
        try other.write(.editing("n/1", "body", .insert(at: 0, .string("b"))), at: 41)
        try one.pull(from: other)
        _ = try one.compactAll(upTo: one.vector, before: Stamp(rawValue: 41 << 16))
        let touches = try one.touches(of: ObjectKey("n/1"), space: .home)
        let past = ObjectPast(touches, from: try one.beginning(of: ObjectKey("n/1"), space: .home))
        return (past, try one.members())
    }

    @Test func `a version shows what its author saw, whatever was dropped`() throws {
        let (past, members) = try sideBySide([])
        let last = try #require(past.changes.last)
        #expect(past.isKnown(last))
        let (fields) = past.state(behind: last, members: members)
        #expect(fields.differences(to: try sqliteState("b543210abc"), schema: nil, path: nil).isEmpty)
    }

    @Test func `compacted at the stable point alone it cannot be told`() throws {
        let (past, _) = try sideBySide(.cutAtStable)
        #expect(try !past.isKnown(#require(past.changes.last)))
    }

    private func sqliteState(_ text: String) throws -> ObjectState {
        let store = try machines.open(4)
        try store.write(.schema("n", #"{"fields":{"body":"text"}}"#), at: 2)
        try store.write(.putting("n/1", #"{"body":"\#(text)"}"#), at: 3)
        return try #require(try store.object("n/1")).state
    }

    @Test func `what was held before a state came is done again as its authors saw it`() throws {
        let (one, other) = try pair()
        let late = try machines.open(3)
        try late.pull(from: other)
        try one.write(.putting("n/3", #"{"body":"c"}"#), at: 50)
        try other.pull(from: one)
        try other.write(.putting("n/4", #"{"body":"d"}"#), at: 51)
        try one.pull(from: other)
        _ = try one.compactAll(upTo: one.vector)
        // The object of which it has all changes is not in the state.
        try late.take(stateFrom: one)
        let first = try late.state().firstHeld
        #expect(try first == late.vector)
        let before = try #require(try late.object("n/1"))
        // Something to drop behind the state, and a change to the object that stays.
        _ = try one.append([[.event("s", "8")]], wallMilliseconds: 55)
        try other.pull(from: one)
        try other.write(.editing("n/1", "body", .insert(at: 0, .string("z"))), at: 60)
        try late.pull(from: other)
        #expect(try late.compactAll(upTo: late.vector, before: Stamp(rawValue: 60 << 16)) > 20)
        let beginning = try #require(try late.beginning(of: ObjectKey("n/1"), space: .home))
        #expect(beginning.version == before.version)
        #expect(beginning.state.differences(to: before.state, schema: nil, path: nil).isEmpty)
        let past = ObjectPast(try late.touches(of: ObjectKey("n/1"), space: .home), from: beginning)
        #expect(past.changes.count == 1 && past.changes.allSatisfy { past.isKnown($0) })
    }

    @Test func `a second state does not move what was seen before changes that are held since the first`() throws {
        let (one, other) = try pair()
        let late = try machines.open(3)
        try late.take(stateFrom: one)
        // All that is old enough to go.
        _ = try late.append([[.event("s", "8")]], wallMilliseconds: 52)
        try other.pull(from: late)
        try other.write(.editing("n/1", "body", .insert(at: 0, .string("x"))), at: 55)
        _ = try one.append([[.event("s", "9")]], wallMilliseconds: 56)
        try other.pull(from: one)
        try other.write(.editing("n/1", "body", .insert(at: 0, .string("y"))), at: 57)
        try late.pull(from: other)
        _ = try one.append([[.event("s", "10")]], wallMilliseconds: 58)
        try late.take(stateFrom: one)
        #expect(try late.compactAll(upTo: late.vector, before: Stamp(rawValue: 55 << 16)) == 1)
        let contexts = { (store: SQLiteStore) in
            try store.touches(of: ObjectKey("n/1"), space: .home).suffix(2).map(\.origin.context)
        }
        #expect(try contexts(late) == contexts(other))
    }

    @Test func `what was seen by whom only a state speaks for is dropped before it, or nothing is`() throws {
        let (one, other) = try pair()
        let late = try machines.open(3)
        try late.pull(from: other)
        _ = try late.append([[.event("s", "8")]], wallMilliseconds: 52)
        try other.pull(from: late)
        try late.write(.editing("n/1", "body", .insert(at: 0, .string("x"))), at: 60)
        try other.pull(from: late)
        // It lies below what is old enough to go of the others, for that is state, and its author had seen what does not.
        try other.write(.editing("n/1", "body", .insert(at: 0, .string("y"))), at: 61)
        try late.pull(from: other)
        try one.pull(from: other)
        _ = try one.append([[.event("s", "9")]], wallMilliseconds: 62)
        _ = try one.compactAll(upTo: one.vector)
        try late.take(stateFrom: one)
        _ = try late.compactAll(upTo: late.vector, before: Stamp(rawValue: 55 << 16))
        let (key, members) = (ObjectKey("n/1"), try late.members())
        let past = ObjectPast(
            try late.touches(of: key, space: .home), from: try late.beginning(of: key, space: .home))
        let whole = ObjectPast(try other.touches(of: key, space: .home))
        let change = try #require(past.changes.first { $0.version.replica.device == TestDevice(3).id })
        let then = past.state(behind: change, members: members)
        let there = whole.state(behind: try #require(whole.change(of: change.version)), members: members)
        #expect(then.differences(to: there, schema: nil, path: nil).isEmpty)
    }

    // A long text

    /// A book of 120,000 letters that two people type in, kept as a snapshot and the edits since.
    @Test func `compaction drops the history of a long text, and keeps the text`() throws {
        let (one, other) = (
            try machines.open(1, kind: .sqliteOfLargeObjects), try machines.open(2, kind: .sqliteOfLargeObjects)
        )
        let key = ObjectKey("n/1")
        func type(_ letter: String, _ store: SQLiteStore, at offset: Int, _ wall: Int64) throws {
            try store.write(.editing("n/1", "body", .insert(at: offset, .string(ExactString(letter)))), at: wall)
        }
        func text(_ store: SQLiteStore) throws -> String? {
            guard case .string(let text)? = try store.json("n/1")?["body"] else { return nil }
            return text.string
        }
        _ = try one.append((1...2).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        try one.write(.schema("n", #"{"fields":{"body":"text"}}"#), at: 2)
        try one.write(.putting("n/1", "{\"body\":\"\(String(repeating: "some words ", count: 11_000))\"}"), at: 3)
        try other.pull(from: one)
        for number in 0..<300 { try type("a", one, at: 7 * number, 10 + Int64(number)) }
        try other.pull(from: one)
        for number in 0..<300 { try type("b", other, at: 11 * number, 400 + Int64(number)) }
        try one.pull(from: other)
        let before = try #require(try text(one))
        let digest = try one.state().digest
        // Some of it, then all; in between and behind it both go on, side by side too.
        #expect(try one.compactAll(upTo: one.vector, before: Stamp(rawValue: 200 << 16)) > 100)
        #expect(try text(one) == before)
        #expect(try one.recomputedDigest(of: .home) == digest)
        #expect(try one.compactAll(upTo: one.vector) > 100)
        #expect(try text(one) == before)
        #expect(try one.touches(of: key, space: .home).isEmpty)
        #expect(try one.recomputedDigest(of: .home) == digest)
        for number in 0..<40 {
            try type("c", one, at: 500 * number, 800 + Int64(number))
            try type("d", other, at: 500 * number, 800 + Int64(number))
        }
        try one.pull(from: other)
        try other.pull(from: one)
        #expect(try text(one) == text(other))
        #expect(try one.state().digest == other.state().digest)
        let past = ObjectPast(try one.touches(of: key, space: .home), from: try one.beginning(of: key, space: .home))
        #expect(past.changes.count == 80 && past.changes.allSatisfy { past.isKnown($0) })
        let last = past.state(behind: try #require(past.changes.last), members: try one.members())
        #expect(last.lives.touched.covers(try #require(past.beginning).state.lives.touched))
    }

    // Planted bugs

    @Test func `an event that is dropped with its change is missed`() throws {
        let (one, _) = try pair(.compactionDropsEvents)
        let digest = try one.state().digest
        #expect(throws: StoreError.self) {
            _ = try one.compactAll(upTo: one.vector)
            if try one.recomputedDigest(of: .home) != digest { throw StoreError.closed }
        }
    }

    @Test func `what authors had seen is not forgotten`() throws {
        func arrives(_ faults: StoreFaults) throws -> Bool {
            let (one, other) = try pair(faults)
            // Behind what is dropped, and named by nothing that is kept.
            try other.write(.editing("n/1", "body", .insert(at: 0, .string("q"))), at: 80)
            try one.pull(from: other)
            let key = ObjectKey("n/1")
            let seen = try #require(try one.touches(of: key, space: .home).last).origin.context
            _ = try one.compactAll(upTo: one.vector, before: Stamp(rawValue: 80 << 16))
            let last = try #require(try one.touches(of: key, space: .home).last)
            return last.origin.context == seen
        }
        #expect(try arrives([]))
        #expect(try !arrives(.compactionForgetsContexts))
    }

    // What is deleted

    @Test(arguments: [true, false])
    func `an object of which nothing is left goes with its row, its deletion or its changes first`(
        deletionFirst: Bool
    ) throws {
        let (one, _) = try pair()
        for isCollecting in [deletionFirst, !deletionFirst] {
            #expect(try one.object("n/2") != nil)
            if isCollecting {
                #expect(try one.collect(upTo: one.vector, after: nil, limit: 10).objects == 1)
            } else {
                _ = try one.compactAll(upTo: one.vector)
            }
        }
        #expect(try one.object("n/2") == nil)
        #expect(try one.object("n/1") != nil)
        #expect(try one.recomputedDigest(of: .home) == one.state().digest)
    }

    @Test func `what is open is sealed first, and stays`() throws {
        let (one, _) = try pair()
        let stable = try one.vector
        try one.leaveOpen()
        try one.write(.editing("n/1", "body", .insert(at: 0, .string("w"))), at: 90)
        let digest = try one.state().digest
        _ = try one.compactAll(upTo: stable)
        #expect(try one.state().digest == digest)
        #expect(try one.recomputedDigest(of: .home) == digest)
        try one.write(.editing("n/1", "body", .insert(at: 0, .string("v"))), at: 91)
        #expect(try one.json("n/1") == JSONValue(json: #"{"body":"vw543210abc"}"#))
        #expect(try one.recomputedDigest(of: .home) == one.state().digest)
    }
}

extension SQLiteStore {
    /// - Returns: how many changes were dropped.
    func compactAll(
        upTo stable: VersionVector, before: Stamp = Stamp(rawValue: .max)
    ) throws -> Int64 {
        var pass = try beginCompaction(stable: stable, before: before)
        var dropped: Int64 = 0
        while !pass.isOver { dropped += try compact(&pass).changes }
        return dropped
    }

    func take(stateFrom sender: SQLiteStore) throws {
        var staging = try beginStaging()
        let source = try sender.stateSource(staging.request)
        defer { source.close() }
        while let (_, bytes) = try source.next(unless: { _ in false }) { try stage([bytes], of: &staging) }
        _ = try joinStaged(wallMilliseconds: 1)
    }
}
