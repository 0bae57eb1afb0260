import SyncModel
import SyncStore
import Testing

/// State that one store hands to another one, in place of the changes that led to it.
@Suite("State deltas")
struct StateDeltaTests {
    private let machines = Machines()

    @Test(arguments: 1...60)
    func `whoever takes state ends where the changes would have led`(seed: Int) throws {
        #expect(try StateWorld.run(seed: UInt64(seed)) == nil)
    }

    @Test(arguments: [
        StoreFaults.stateWithoutLiveDots, .stateInPieces, .stateStagedByName, .stateHalfStaged, .stateForgetsEvents,
    ])
    func `a planted bug is found`(fault: StoreFaults) throws {
        // What a store refuses is found, too: without the bug none of these seeds is refused.
        let found = (1...60).contains { seed in
            do { return try StateWorld.run(seed: UInt64(seed), faults: fault) != nil } catch { return true }
        }
        #expect(found)
    }

    // Forgotten deletions

    /// Two objects of three were deleted, and nobody remembers: only the births say so.
    private func afterCollection(faults: StoreFaults = []) throws -> (sender: SQLiteStore, receivers: [SQLiteStore]) {
        let sender = try machines.open(1)
        let receivers = try [machines.open(2, faults), machines.open(3, faults)]
        _ = try sender.append((1...3).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        try sender.write(.putting("a/1", #"{"x":1}"#), .putting("a/2", #"{"x":2}"#), .putting("a/3", #"{"x":3}"#))
        try sender.write(.attaching("f", to: "a/1"))
        for receiver in receivers { try receiver.pull(from: sender) }
        try sender.write(.deleting("a/1"), .deleting("a/2"))
        #expect(try sender.collect(upTo: sender.vector, after: nil, limit: 10).objects == 2)
        try sender.write(.editing("a/3", "x", .set(9)))
        try receivers[0].take(stateOf: sender)
        try receivers[1].take(stateOf: receivers[0])
        return (sender, receivers)
    }

    @Test func `what was deleted and forgotten is gone where state arrives, and where it is passed on`() throws {
        let (sender, receivers) = try afterCollection()
        for receiver in receivers {
            #expect(try receiver.find("a") == ["a/3"])
            #expect(try receiver.attachments().isEmpty)
            #expect(try receiver.state().digest == sender.state().digest)
            #expect(try receiver.recomputedDigest(of: .home) == sender.state().digest)
        }
    }

    @Test func `without the births it comes back`() throws {
        let (sender, receivers) = try afterCollection(faults: .stateWithoutBirths)
        #expect(try receivers[0].state().digest != sender.state().digest)
    }

    // What is served

    @Test func `what came as state is not served as changes, and what comes behind it is`() throws {
        let (sender, receiver, late) = (try machines.open(1), try machines.open(2), try machines.open(3))
        _ = try sender.append((1...3).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        try receiver.pull(from: sender)
        let replica = try #require(try sender.state().tips.first?.replica)
        let start = try sender.vector.next(of: replica)
        _ = try sender.append([[.event("s")], [.event("s")]], wallMilliseconds: 2)
        try sender.write(.putting("a/1", #"{"x":1}"#))
        try receiver.take(stateOf: sender)
        let end = try receiver.vector.next(of: replica)
        #expect(try receiver.state().firstHeld.next(of: replica) == end)
        #expect(try receiver.segments(of: replica, from: start, byteBudget: .max).isEmpty)
        #expect(try receiver.segments(of: replica, from: 0, byteBudget: .max).last?.end == start)
        let tip = [VersionVector.Entry(replica: replica, next: end)]
        #expect(try receiver.heads(at: tip) == sender.heads(at: tip))
        try sender.write(.editing("a/1", "x", .set(2)))
        try receiver.pull(from: sender)
        #expect(try receiver.segments(of: replica, from: end, byteBudget: .max).count == 1)
        #expect(try receiver.state().digest == sender.state().digest)
        try late.take(stateOf: receiver)
        #expect(try late.state().digest == sender.state().digest)
        #expect(try late.allEvents("s").map(\.dot) == sender.allEvents("s").map(\.dot))
    }

    @Test func `a store that took state opens again as it was`() throws {
        let sender = try machines.open(1)
        _ = try sender.append([[.event("s")], [.addMember(TestDevice(1).fact)]], wallMilliseconds: 2)
        try sender.write(.putting("a/1", #"{"x":1}"#))
        let bed = StoreBed(.sqliteInTmpfs, device: TestDevice(2))
        let receiver = try bed.open()
        try receiver.take(stateOf: sender)
        let state = try receiver.state()
        receiver.close()
        let again = try bed.open()
        #expect(try again.state() == state)
        #expect(try again.recomputedDigest(of: .home) == state.digest)
        #expect(try again.json("a/1") == JSONValue(json: #"{"x":1}"#))
    }

    // On its way

    @Test func `what has come is read before the rest is here, the newest first, and is not written yet`() throws {
        let (sender, receiver) = (try machines.open(1), try machines.open(2))
        _ = try sender.append((1...2).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        try sender.write(.putting("b/1", #"{"x":1}"#), at: 1)
        let pad = String(repeating: "x", count: 2_000)
        for number in 1...3 {
            try sender.write(.putting("a/\(number)", "{\"x\":\(number),\"y\":\"\(pad)\"}"), at: Int64(number))
        }
        var staging = try receiver.beginStaging()
        // As far as the check behind the newest.
        for item in try sender.stream(staging.request) {
            let isHere = try !receiver.find("a").isEmpty
            try receiver.stage([item], of: &staging)
            if isHere { break }
        }
        #expect(try receiver.find("a") == ["a/3"])
        #expect(try receiver.json("a/3") == JSONValue(json: "{\"x\":3,\"y\":\"\(pad)\"}"))
        #expect(try receiver.collections(of: .home).map(\.name) == ["a"])
        let digest = try receiver.state().digest
        #expect(try receiver.refusal(of: .editing("a/3", "x", .set(9)))?.reason == .catchingUp)
        #expect(try receiver.refusal(of: .deleting("a/3"))?.reason == .catchingUp)
        #expect(try receiver.state().digest == digest)
        // What is not on its way, as far as anybody can tell, is begun here; pages go through both.
        try receiver.write(.putting("a/2x", #"{"x":4}"#))
        #expect(try receiver.find("a") == ["a/2x", "a/3"])
        let page = ObjectQuery(space: .home, collection: "a", selection: .standing(.live), limit: 1)
        #expect(try receiver.objects(page).map(\.key) == [ObjectKey("a/2x")])
        var next = page
        next.after = ObjectKey("a/2x")
        #expect(try receiver.objects(next).map(\.key) == [ObjectKey("a/3")])
        // Broken off and begun anew: it is still there.
        staging = try receiver.beginStaging()
        #expect(try receiver.find("a") == ["a/2x", "a/3"])
        for item in try sender.stream(staging.request) { try receiver.stage([item], of: &staging) }
        #expect(try receiver.find("a") == ["a/1", "a/2", "a/2x", "a/3"])
        _ = try receiver.joinStaged(wallMilliseconds: 1)
        #expect(try receiver.find("a") == ["a/1", "a/2", "a/2x", "a/3"])
        try receiver.write(.editing("a/3", "x", .set(9)))
        try sender.pull(from: receiver)
        #expect(try sender.state().digest == receiver.state().digest)
    }

    @Test func `what is on its way is not read any more when it was deleted and forgotten meanwhile`() throws {
        let (sender, receiver) = (try machines.open(1), try machines.open(2))
        _ = try sender.append((1...2).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        try sender.write(.putting("a/1", #"{"x":1}"#), at: 1)
        var staging = try receiver.beginStaging()
        for item in try sender.stream(staging.request).dropLast() { try receiver.stage([item], of: &staging) }
        #expect(try receiver.find("a") == ["a/1"])
        try sender.write(.deleting("a/1"), at: 2)
        try receiver.pull(from: sender)
        #expect(try receiver.find("a").isEmpty)
        _ = try receiver.collect(upTo: receiver.vector, after: nil, limit: 10)
        #expect(try receiver.find("a").isEmpty && receiver.object("a/1")?.summary.standing ?? .nothing == .nothing)
        #expect(try receiver.refusal(of: .putting("a/1", #"{"x":2}"#)) == nil)
    }

    @Test func `what was changed on its way is found by the next check, and forgotten when there is none`() throws {
        let (sender, receiver) = (try machines.open(1), try machines.open(2))
        let pad = String(repeating: "x", count: 200)
        for number in 10..<30 { try sender.write(.putting("a/\(number)", "{\"x\":\"\(pad)\"}"), at: Int64(number)) }
        _ = try sender.append((0..<20).map { [.event("s", "\"\($0) \(pad)\"")] }, wallMilliseconds: 50)
        var staging = try receiver.beginStaging()
        let items = try sender.stream(staging.request)
        let checks = items.indices.filter { items[$0].first == 12 }
        #expect(checks.count > 3)
        let (first, second) = (checks[1], checks[2])
        // A letter of an object behind the second check.
        let place = try #require((first..<second).last { items[$0].first == 7 })
        var forged = items
        forged[place][forged[place].count - 20] ^= 1
        try receiver.stage(Array(forged[..<second]), of: &staging)
        let shown = try receiver.find("a").count
        var refused = staging
        #expect(throws: StoreError.refused(.wrongDigest)) { try receiver.stage([forged[second]], of: &refused) }
        staging = try receiver.beginStaging()
        let kept = try receiver.find("a").count
        #expect(kept > 0 && kept < shown)
        #expect(staging.request.asks)
        try receiver.take(stateOf: sender)
        #expect(try receiver.state().digest == sender.state().digest)
        #expect(try receiver.recomputedDigest(of: .home) == sender.state().digest)
    }

    @Test func `events go on behind the last check of a stream that broke off`() throws {
        let (sender, receiver) = (try machines.open(1), try machines.open(2))
        let pad = String(repeating: "x", count: 200)
        for number in 0..<12 {
            _ = try sender.append(
                (0..<300).map { [.event("s", "\"\(number) \($0) \(pad)\"")] }, wallMilliseconds: Int64(number))
        }
        var staging = try receiver.beginStaging()
        let items = try sender.stream(staging.request)
        let checks = items.indices.filter { items[$0].first == 12 }
        let (check, next) = (try #require(checks.dropLast().last), try #require(checks.last))
        let until = items[..<check].count { $0.first == 8 }
        #expect(items[check..<next].contains { $0.first == 8 })
        // Staged as far as the check, and then some more that no check has seen.
        try receiver.stage(Array(items[..<next]), of: &staging)
        staging = try receiver.beginStaging()
        let rest = try sender.stream(staging.request)
        #expect(rest.count { $0.first == 8 } == items.count { $0.first == 8 } - until)
        try receiver.stage(rest, of: &staging)
        #expect(staging.isComplete)
        _ = try receiver.joinStaged(wallMilliseconds: 1)
        #expect(try receiver.state().digest == sender.state().digest)
    }

    // Refusals

    @Test func `a stream that did not end is not joined`() throws {
        let (sender, receiver) = (try machines.open(1), try machines.open(2))
        _ = try sender.append([[.event("s")], [.addMember(TestDevice(1).fact)]], wallMilliseconds: 2)
        try sender.write(.putting("a/1", #"{"x":1}"#))
        let before = try receiver.state()
        var staging = try receiver.beginStaging()
        let items = try sender.stream(staging.request)
        #expect(throws: StoreError.refused(.incomplete)) { try receiver.joinStaged(wallMilliseconds: 1) }
        for item in items.dropLast() { try receiver.stage([item], of: &staging) }
        #expect(throws: StoreError.refused(.incomplete)) { try receiver.joinStaged(wallMilliseconds: 1) }
        #expect(try receiver.state() == before)
        try receiver.stage([try #require(items.last)], of: &staging)
        _ = try receiver.joinStaged(wallMilliseconds: 1)
        #expect(try receiver.state().digest == sender.state().digest)
        #expect(throws: StoreError.refused(.incomplete)) { try receiver.joinStaged(wallMilliseconds: 1) }
    }

    @Test func `an object that was announced and never came is missed`() throws {
        let (sender, receiver) = (try machines.open(1), try machines.open(2))
        try sender.write(.putting("a/1", #"{"x":1}"#))
        var staging = try receiver.beginStaging()
        var request = staging.request
        request.asks = true
        let source = try sender.stateSource(request)
        defer { source.close() }
        // Of a sender that was told that everything is staged.
        while let (_, bytes) = try source.next(unless: { _ in true }) { try receiver.stage([bytes], of: &staging) }
        #expect(staging.isComplete)
        #expect(throws: StoreError.refused(.incomplete)) { try receiver.joinStaged(wallMilliseconds: 1) }
        #expect(try receiver.vector.isEmpty)
    }

    /// Returns a store that holds one of two histories of a device, and the device's own with the other.
    ///
    /// - Parameter more: the changes by which the first is longer.
    private func parted(more: Int = 0) throws -> (receiver: SQLiteStore, other: SQLiteStore) {
        let bed = StoreBed(.sqliteInTmpfs)
        let sender = try bed.open()
        _ = try sender.append([[.event("s", "1")]], wallMilliseconds: 1)
        let twin = bed.copy(sharingLeases: true)
        sender.close()
        let one = try bed.open()
        for _ in 0...more { _ = try one.append([[.event("s", "2")]], wallMilliseconds: 2) }
        one.close()
        let other = try twin.open(faults: .reuseCounterAfterCrash)
        _ = try other.append([[.event("s", "3")]], wallMilliseconds: 2)
        let receiver = try machines.open(2)
        try receiver.pull(from: try bed.open())
        return (receiver, other)
    }

    private func claims(of store: SQLiteStore) throws -> [ReplicaID: ChainEnd] {
        Dictionary(
            uniqueKeysWithValues: try store.state().tips.map {
                ($0.replica, ChainEnd(end: $0.tip.next, head: $0.tip.head))
            })
    }

    @Test(arguments: [0, 2]) func `nothing is asked of a sender whose history parts from the one that is held`(
        more: Int
    ) throws {
        let (receiver, other) = try parted(more: more)
        let before = try receiver.state()
        let claims = try claims(of: other)
        #expect(throws: StoreError.refused(.fork)) { try receiver.beginStaging(from: claims) }
        #expect(try receiver.state() == before && !receiver.hasStaging())
    }

    @Test func `a sender that has less of a history is asked`() throws {
        let (sender, receiver) = (try machines.open(1), try machines.open(2))
        try receiver.write(.putting("a/1", #"{"x":1}"#))
        try sender.pull(from: receiver)
        for number in 2...4 { try receiver.write(.putting("a/1", #"{"x":\#(number)}"#)) }
        try sender.write(.putting("b/1", #"{"x":1}"#))
        var staging = try receiver.beginStaging(from: try claims(of: sender))
        try receiver.stage(try sender.stream(staging.request), of: &staging)
        _ = try receiver.joinStaged(wallMilliseconds: 1)
        try sender.pull(from: receiver)
        #expect(try receiver.state().digest == sender.state().digest)
    }

    @Test func `a history that contradicts the one that is held is refused`() throws {
        let (receiver, other) = try parted()
        let before = try receiver.state()
        var staging = try receiver.beginStaging()
        for item in try other.stream(StateSource.Request(since: VersionVector())) {
            try receiver.stage([item], of: &staging)
        }
        #expect(throws: StoreError.refused(.fork)) { try receiver.joinStaged(wallMilliseconds: 1) }
        #expect(try receiver.state() == before)
    }

    // What an older program did not note

    @Test func `what has touched objects is noted when a store of an older program is opened`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let store = try bed.open()
        try store.write(.putting("a/1", #"{"x":1}"#), .putting("b/1", #"{"x":2}"#))
        try store.write(.deleting("b/1"))
        let expected = try store.stream(StateSource.Request(since: VersionVector()))
        store.close()
        let older = "UPDATE object SET touched = NULL, touched_stamp = NULL; DELETE FROM birth;"
        let opened = try bed.open(schema: Schema(steps: Schema.current.steps + [older]))
        #expect(try opened.stream(StateSource.Request(since: VersionVector())) == expected)
    }
}

extension SQLiteStore {
    /// All items that a receiver gets that has staged nothing.
    fileprivate func stream(_ request: StateSource.Request) throws -> [[UInt8]] {
        let source = try stateSource(request)
        defer { source.close() }
        var items: [[UInt8]] = []
        while let (_, bytes) = try source.next(unless: { _ in false }) { items.append(bytes) }
        return items
    }

    fileprivate func take(stateOf sender: SQLiteStore) throws {
        var staging = try beginStaging()
        try stage(try sender.stream(staging.request), of: &staging)
        _ = try joinStaged(wallMilliseconds: 1)
    }
}
