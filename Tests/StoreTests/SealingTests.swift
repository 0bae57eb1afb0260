import SyncModel
import SyncStore
import Testing

/// Open changes: durable and shown, folded and signed when somebody is there. The same for every store.
@Suite(.serialized)
struct SealingTests {
    private let key = ObjectKey(collection: "box", id: "milk")

    private func put(_ fields: JSONValue.Member...) -> LocalWrite { put(key, fields) }

    private func put(_ key: ObjectKey, _ fields: [JSONValue.Member]) -> LocalWrite {
        .planned([.put(key, .init(fields: fields))])
    }

    private func delete(_ key: ObjectKey) -> LocalWrite { .planned([.delete(key, ifVersion: nil)]) }

    private func member(_ key: ExactString, _ value: JSONValue) -> JSONValue.Member { .init(key: key, value: value) }

    /// A store of another device that gets all that `store` serves.
    private func follower(of store: SQLiteStore, _ kind: StoreKind) throws -> SQLiteStore {
        let other = try StoreBed(kind, device: TestDevice(2)).open()
        try serve(from: store, to: other)
        return other
    }

    private func serve(from store: SQLiteStore, to other: SQLiteStore) throws {
        for known in try store.state().tips {
            let held = try other.state().tips.first { $0.replica == known.replica }?.tip
            var tip = held ?? .empty(space: .home, replica: known.replica)
            for segment in try store.segments(of: known.replica, from: tip.next, byteBudget: .max) {
                let verified = try segment.verified(
                    from: tip, space: .home, signingKey: TestDevice(1).fact.signingKey)
                _ = try other.apply([verified], wallMilliseconds: 1)
                tip = verified.tip
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an open commit is shown and kept, but not served`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        var store = try bed.open()
        try store.leaveOpen()
        let result = try store.append([put(member("title", "milk"))], wallMilliseconds: 1)
        #expect(result.commit.segments.isEmpty)
        #expect(result.commit.counts.objects == 1)
        let replica = try #require(try store.state().ownReplica)
        #expect(try store.segments(of: replica, from: 0, byteBudget: .max).isEmpty)
        let digest = try store.state().digest
        #expect(try store.recomputedDigest(of: .home) == digest)

        bed.crash(store)
        store = try bed.open()
        #expect(try store.object(key, space: .home)?.summary.standing == .live)
        #expect(try store.state().digest == digest)
        #expect(try store.segments(of: replica, from: 0, byteBudget: .max).count == 1, "a new process seals it")
        #expect(try follower(of: store, kind).state().digest == digest)
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs, .sqliteOnDisk])
    func `800 edits of one field are served as one change, also beside events of which one is shown`(
        kind: StoreKind
    ) throws {
        let bed = StoreBed(kind)
        var store = try bed.open()
        _ = try store.append([put(member("title", "milk"))], wallMilliseconds: 1)
        _ = try store.append(
            [.planned([.setStream(.init(stream: "light", latestOnly: true, retainMilliseconds: nil))])],
            wallMilliseconds: 1)
        let other = try follower(of: store, kind)
        try store.leaveOpen()
        for time in 1...800 {
            _ = try store.append([put(member("count", .integer(Int64(time))))], wallMilliseconds: 2)
            if time.isMultiple(of: 4) {
                _ = try store.append([.operations([.event("light", "\(time)", type: "lamp")])], wallMilliseconds: 2)
            }
        }
        let (before, shown) = (try store.state(), try store.object(key, space: .home))
        #expect(try store.recomputedDigest(of: .home) == before.digest)
        #expect(before.counts.changes < 300, "it was folded on the way")
        let position = try store.allEvents("light").map(\.position)
        #expect(position == [200], "arrival numbers of events that went stay taken")
        let copy = bed.copy(sharingLeases: false)

        let commit = try store.seal()
        #expect(commit.segments.map(\.changeCount).reduce(0, +) <= 2, "the field, and the event")
        #expect(try store.state().digest == before.digest)
        #expect(try store.object(key, space: .home) == shown)
        #expect(try store.allEvents("light").map(\.position) == position)
        try serve(from: store, to: other)
        #expect(try other.state().digest == before.digest)
        let operations = try store.touches(of: key, space: .home)
        #expect(operations.count == 2, "\(operations.count) operations are in the object's history")

        // A process that ends with a folded tail leaves it as it is.
        store = try copy.open()
        #expect(try store.state().digest == before.digest && store.recomputedDigest(of: .home) == before.digest)
        #expect(try follower(of: store, kind).state().digest == before.digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `nine toggles are served as one change, and nothing that was shown changes`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.append([put(member("title", "milk"), member("done", .bool(false)))], wallMilliseconds: 1)
        let other = try follower(of: store, kind)
        try store.leaveOpen()
        for time in 1...9 { _ = try store.append([put(member("done", .bool(time % 2 == 1)))], wallMilliseconds: 2) }
        let (before, shown) = (try store.state(), try store.object(key, space: .home))
        let commit = try store.seal()
        // Of large objects nothing is left out: that would have to be proven on a copy.
        let count = kind == .sqliteOfLargeObjects ? 9 : 1
        #expect(commit.segments.map(\.changeCount) == [count])
        let after = try store.state()
        #expect(after.digest == before.digest)
        #expect(after.counts.changes == Int64(1 + count))
        #expect(after.tips.map(\.tip.next) == before.tips.map(\.tip.next))
        #expect(try store.object(key, space: .home) == shown)
        #expect(try store.recomputedDigest(of: .home) == after.digest)
        try serve(from: store, to: other)
        #expect(try other.state().digest == after.digest)
        #expect(try other.object(key, space: .home)?.state == shown?.state)
        #expect(try store.seal().segments.isEmpty, "sealing again has nothing to do")
    }

    @Test(arguments: StoreKind.allCases)
    func `what was created and deleted apart was never there`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.leaveOpen()
        _ = try store.append([put(member("title", "milk"))], wallMilliseconds: 1)
        _ = try store.append([delete(key)], wallMilliseconds: 1)
        _ = try store.append([put(ObjectKey(collection: "box", id: "tea"), [member("a", "b")])], wallMilliseconds: 1)
        let digest = try store.state().digest
        #expect(try store.seal().segments.map(\.changeCount) == [1])
        #expect(try store.object(key, space: .home) == nil)
        #expect(try store.touches(of: key, space: .home).isEmpty)
        let after = try store.state()
        #expect(after.digest == digest)
        #expect(after.counts.deletedObjects == 0)
        #expect(after.counts.objects == 1)
        let other = try follower(of: store, kind)
        #expect(try other.state().digest == digest)
        #expect(try other.state().counts.deletedObjects == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `edits before a deletion are not shipped, the deletion is`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.append([put(member("title", "milk"))], wallMilliseconds: 1)
        let other = try follower(of: store, kind)
        try store.leaveOpen()
        for text in ["a", "b"] {
            _ = try store.append([put(member("title", .string(ExactString(text))))], wallMilliseconds: 1)
        }
        _ = try store.append([delete(key)], wallMilliseconds: 1)
        let shown = try store.object(key, space: .home)
        let sealed = try store.seal()
        let isLarge = kind == .sqliteOfLargeObjects
        #expect(sealed.segments.map(\.changeCount) == [isLarge ? 3 : 1])
        #expect(sealed.segments.allSatisfy { $0.segment.bytes.count < (isLarge ? 300 : 150) })
        #expect(try store.object(key, space: .home)?.version == shown?.version)
        try serve(from: store, to: other)
        for store in [store, other] {
            #expect(try store.object(key, space: .home)?.summary.standing == .deleted)
            #expect(try store.recomputedDigest(of: .home) == store.state().digest)
        }
        #expect(try other.state().digest == store.state().digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `events keep their arrival numbers, cursors and order`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let setting = Operation.StreamSetting(stream: "light", latestOnly: true, retainMilliseconds: nil)
        _ = try store.append([.planned([.setStream(setting)])], wallMilliseconds: 1)
        let other = try follower(of: store, kind)
        try store.leaveOpen()
        for number in 1...5 {
            _ = try store.append(
                [.operations([.event("light", "\(number)", type: "hall")]), .operations([.event("log", "\(number)")])],
                wallMilliseconds: 1)
        }
        func events(_ stream: String, of store: SQLiteStore) throws -> [StoredEvent] {
            try store.events(
                EventQuery(
                    space: .home, stream: stream, order: .arrival(after: 0), limit: 100, byteBudget: .max))
        }
        let (light, log) = (try events("light", of: store), try events("log", of: store))
        #expect(light.map(\.position) == [9])
        #expect(log.map(\.position) == [2, 4, 6, 8, 10])
        let before = try store.state()
        let sealed = try store.seal()
        #expect(sealed.segments.map(\.changeCount) == [6])
        #expect(try events("light", of: store) == light)
        #expect(try events("log", of: store) == log)
        let after = try store.state()
        #expect(after.lastPosition == before.lastPosition)
        #expect(after.digest == before.digest)
        _ = try store.append([.operations([.event("log", "6")])], wallMilliseconds: 1)
        #expect(try events("log", of: store).map(\.position) == [2, 4, 6, 8, 10, 11])
        try serve(from: store, to: other)
        #expect(try events("light", of: other).map(\.payload) == light.map(\.payload))
        #expect(try other.state().digest == store.state().digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `a foreign change, a schema and a clean end seal what is open`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        var store = try bed.open()
        try store.leaveOpen()
        _ = try store.append([put(member("title", "milk"))], wallMilliseconds: 1)
        let foreign = try StoreBed(kind, device: TestDevice(3)).open()
        let theirs = try foreign.append([[.event("s")]], wallMilliseconds: 1).segments
        let applied = try store.apply(theirs, wallMilliseconds: 1)
        #expect(applied.segments.count == 2, "what was open is served too")

        _ = try store.append([put(member("title", "tea"))], wallMilliseconds: 1)
        let wish = try JSONValue(text: #"{"deletePolicy":"ask"}"#)
        let set = try store.append([.planned([.setSchema("box", wish)])], wallMilliseconds: 1)
        #expect(set.commit.segments.count == 2)

        _ = try store.append([put(member("title", "rum"))], wallMilliseconds: 1)
        let digest = try store.state().digest
        let replica = try #require(try store.state().ownReplica)
        store.close()
        store = try bed.open()
        let served = try store.segments(of: replica, from: 0, byteBudget: .max)
        #expect(served.last?.end == (try store.state().tips.first { $0.replica == replica }?.tip.next))
        #expect(try store.state().digest == digest)
        #expect(try store.state().ownReplica == replica)
    }

    @Test(arguments: StoreKind.allCases)
    func `what was sealed on the way to a failure is told with the next answer`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.leaveOpen()
        _ = try store.append([put(member("title", "milk"))], wallMilliseconds: 1)
        let foreign = try StoreBed(kind, device: TestDevice(3)).open()
        _ = try foreign.append([[.event("s")]], wallMilliseconds: 1)
        let behindAGap = try foreign.append([[.event("s")]], wallMilliseconds: 1).segments
        #expect(throws: StoreError.self) { try store.apply(behindAGap, wallMilliseconds: 1) }
        #expect(try store.seal().segments.count == 1)
        #expect(try store.seal().segments.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `open work is bounded: a full tail seals itself`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.leaveOpen()
        var served = 0
        for number in 1...600 {
            let result = try store.append(
                [put(ObjectKey(collection: "box", id: ExactString("\(number)")), [member("a", .integer(1))])],
                wallMilliseconds: 1)
            served += result.commit.segments.count
        }
        #expect(served >= 2)
        let digest = try store.state().digest
        _ = try store.seal()
        #expect(try store.state().digest == digest)
        #expect(try follower(of: store, kind).state().digest == digest)
    }
}
