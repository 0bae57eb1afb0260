import LawHistories
import SyncModel
import SyncStore
import Testing

/// The void work of a device as a store tells of it, and what accepting it comes to. 1 is under test, 2 writes beyond its end, and 3 is
/// another member.
@Suite("Store contract: void work")
struct VoidWorkTests {
    private static let author = TestDevice(2).id

    private struct Ending {
        let stores: [SQLiteStore]
        let ends: [ReplicaID: UInt64]

        var store: SQLiteStore { stores[0] }
        var author: SQLiteStore { stores[1] }
        var other: SQLiteStore { stores[2] }

        /// The store under test takes what 2 wrote, and judges it void.
        func end() throws {
            try store.pull(from: author)
            _ = try store.apply([], judging: ends, wallMilliseconds: 0)
        }

        func page(after key: CanonicalKey? = nil, limit: Int = 100, byteBudget: Int = 1 << 20) throws -> VoidWorkPage {
            try store.voidWork(
                of: VoidWorkTests.author, after: key, limit: limit, byteBudget: byteBudget, space: .home)
        }

        func work(on name: String, in store: SQLiteStore? = nil) throws -> WorkOnObject {
            try (store ?? self.store).workToAccept(of: VoidWorkTests.author, on: ObjectKey(name), space: .home)
        }

        /// Writes what accepting the work on the object comes to.
        /// - Returns: the change; nil if there was nothing to write.
        @discardableResult
        func accept(_ name: String) throws -> WorkToAccept.Change? {
            guard case .found(let work) = try work(on: name) else { return nil }
            let (key, object) = (ObjectKey(name), try store.object(name))
            let version = try store.json(name) == nil ? nil : object?.version
            let schema = try store.schema(of: key.collection, space: .home)
            let steps = work.writes(to: key, at: version, schema)
            if !steps.isEmpty { try store.write(steps, at: 5_000) }
            return work.change
        }
    }

    private func begin(_ kind: StoreKind, _ writes: ObjectWrite...) throws -> Ending {
        let stores = try introduced(kind, count: 3)
        // 1 is an admin for the others, which follow no founder but themselves.
        let fact = TestDevice(1).fact
        let admin = MemberFact(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding,
            discoveryKey: fact.discoveryKey, role: .admin, name: fact.name)
        for store in stores.dropFirst() { _ = try store.append([[.addMember(admin)]], wallMilliseconds: 1) }
        try stores[0].write(.schema("n", #"{"fields":{"text":"text","plays":"counter"},"deletePolicy":"updateWins"}"#))
        if !writes.isEmpty { try stores[0].write(writes, at: 1_000) }
        try converge(stores)
        let replica = try #require(try stores[1].state().ownReplica)
        return Ending(stores: stores, ends: [replica: try stores[1].vector.next(of: replica)])
    }

    private func short(_ operation: VoidOperation) -> String {
        func list(_ fields: [ExactString]) -> String { fields.map(\.string).joined(separator: ",") }
        switch operation.content {
        case .object(let key, .created(let fields)): return "\(key) created \(list(fields))"
        case .object(let key, .edited(let fields)): return "\(key) edited \(list(fields))"
        case .object(let key, .attached(let file)): return "\(key) attached \(file.name)"
        case .object(let key, .detached): return "\(key) detached"
        case .object(let key, .deleted): return "\(key) deleted"
        case .object(let key, .kept): return "\(key) kept"
        case .event(let event): return "event \(event.stream) \(event.type ?? "-")"
        case .schema(let edit): return "schema \(edit.collection) \(list(edit.entries.map(\.key)))"
        case .stream(let setting): return "stream \(setting.stream) \(setting.latestOnly)"
        case .dropEvents(let name): return "drop \(name)"
        case .addition(let device, _, let role): return "let in \(device == TestDevice(9).id) \(role)"
        case .retirement(let device): return "retired \(device == TestDevice(3).id)"
        case .statement: return "statement"
        case .unknown: return "unknown"
        }
    }

    // MARK: Looking at it

    @Test(arguments: StoreKind.allCases)
    func `everything void is listed in the order in which it was written, and nothing that counts`(
        kind: StoreKind
    ) throws {
        let ending = try begin(kind, .putting("n/1", #"{"x":1}"#))
        try ending.author.write(.editing("n/1", "x", .set(2)), .putting("n/2", #"{"a":1,"b":2}"#))
        try ending.author.write(.attaching("file", to: "n/2"))
        _ = try ending.author.append([[.event("s", "1", type: "t")]], wallMilliseconds: 2_000)
        try ending.author.write(.schema("m", #"{"indexed":["x"]}"#))
        try StrictEndTests.set(ending.author, "s", latestOnly: true)
        _ = try ending.author.append(
            [.operations([.addMember(TestDevice(9).fact)]), .retire(TestDevice(3).id)], wallMilliseconds: 3_000)
        try ending.author.write(.delete(ObjectKey("n/1"), ifVersion: nil), at: 4_000)
        #expect(try ending.page().operations.isEmpty, "nothing has come")
        try ending.end()
        let page = try ending.page()
        #expect(
            page.operations.map(short) == [
                "n/1 edited x", "n/2 created a,b", "n/2 attached file", "event s t", "schema m indexed/x",
                "stream s true",
                "let in true writer", "retired true", "n/1 deleted",
            ])
        #expect(page.next == nil && !page.isDropped)
        #expect(page.operations.map(\.key) == page.operations.map(\.key).sorted())
        #expect(page.operations.last?.wallMilliseconds == 4_000)
        #expect(page.operations.allSatisfy { !$0.isAccepted })
        for device in [TestDevice(1), TestDevice(3)] {
            let others = try ending.store.voidWork(
                of: device.id, after: nil, limit: 10, byteBudget: 1 << 20, space: .home)
            #expect(others.operations.isEmpty && others.next == nil && !others.isDropped)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pages of several histories join to the whole, however short they are`(kind: StoreKind) throws {
        var ending = try begin(kind)
        var ends = ending.ends
        for round in 0..<4 {
            for number in 0..<3 {
                _ = try ending.author.append(
                    [[.event("s", "\(round)\(number)")], [.event("s", "\(round)\(number)x"), .event("t", "1")]],
                    wallMilliseconds: Int64(1_000 * round + number))
            }
            try ending.author.closeIncarnation()
        }
        for known in try ending.author.state().tips where known.replica.device == Self.author {
            if ends[known.replica] == nil { ends[known.replica] = 0 }
        }
        #expect(ends.count >= 4)
        ending = Ending(stores: ending.stores, ends: ends)
        try ending.end()
        let whole = try ending.page().operations
        #expect(whole.count == 36)
        #expect(whole.map(\.key) == whole.map(\.key).sorted())
        for limit in [1, 2, 5, 35, 36] {
            var (keys, after) = ([CanonicalKey](), CanonicalKey?.none)
            repeat {
                let page = try ending.page(after: after, limit: limit)
                #expect(page.operations.count <= limit)
                keys += page.operations.map(\.key)
                after = page.next
            } while after != nil
            #expect(keys == whole.map(\.key), "\(limit) at once")
        }
        #expect(try ending.page(byteBudget: 1).operations.count == 1, "one always fits")
        #expect(try ending.page(after: whole[35].key).operations.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a page goes on behind the end of a history that ended within a change`(kind: StoreKind) throws {
        var ending = try begin(kind)
        _ = try ending.author.append([[.event("s", "1"), .event("s", "2"), .event("s", "3")]], wallMilliseconds: 1)
        let ends = ending.ends.mapValues { $0 + 1 }
        ending = Ending(stores: ending.stores, ends: ends)
        try ending.end()
        #expect(try ending.page().operations.count == 2)
    }

    // MARK: Taking it

    @Test(arguments: StoreKind.allCases)
    func `an object becomes what it would be, on every node, and nothing is taken twice`(kind: StoreKind) throws {
        let ending = try begin(kind, .putting("n/1", #"{"plays":1,"text":"ab","x":1}"#))
        try ending.author.write(.editing("n/1", "plays", .increment(3)), .editing("n/1", "text", .insert(at: 2, "c")))
        try ending.author.write(.putting("n/2", #"{"plays":2}"#), .attaching("file", to: "n/2"))
        try ending.other.write(.editing("n/1", "plays", .increment(10)), .editing("n/1", "x", .set(2)))
        try ending.store.pull(from: ending.other)
        try ending.end()
        #expect(try ending.store.json("n/1") == JSONValue(json: #"{"plays":11,"text":"ab","x":2}"#))
        #expect(try ending.store.json("n/2") == nil)
        #expect(try ending.accept("n/1") == .edit)
        #expect(try ending.accept("n/2") == .create)
        for _ in 0..<2 {
            #expect(try ending.store.json("n/1") == JSONValue(json: #"{"plays":14,"text":"abc","x":2}"#))
            #expect(try ending.store.json("n/2") == JSONValue(json: #"{"plays":2}"#))
            #expect(try ending.store.attached(to: "n/2") == ["file"])
            for name in ["n/1", "n/2"] {
                guard case .accepted = try ending.work(on: name) else {
                    Issue.record("\(name) would be taken twice")
                    continue
                }
                #expect(try ending.accept(name) == nil)
            }
        }
        #expect(try ending.page().operations.allSatisfy(\.isAccepted))
        try StrictEndTests.expectSound(ending.store)
        // Another admin knows it by the log.
        _ = try ending.other.apply([], judging: ending.ends, wallMilliseconds: 0)
        try ending.other.pull(from: ending.store)
        #expect(try ending.other.json("n/1") == ending.store.json("n/1"))
        #expect(try ending.other.state().digest == ending.store.state().digest)
        guard case .accepted = try ending.work(on: "n/1", in: ending.other) else {
            Issue.record("the other one would take it again")
            return
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a void deletion deletes, and work on what others deleted brings nothing back`(kind: StoreKind) throws {
        let ending = try begin(kind, .putting("n/1", #"{"x":1}"#), .putting("n/2", #"{"x":1}"#))
        try ending.author.write(.delete(ObjectKey("n/1"), ifVersion: nil))
        try ending.author.write(.editing("n/2", "x", .set(2)))
        try ending.end()
        #expect(try ending.store.json("n/1") != nil)
        #expect(try ending.accept("n/1") == .delete)
        #expect(try ending.store.json("n/1") == nil)
        try ending.store.write(.delete(ObjectKey("n/2"), ifVersion: nil))
        #expect(try ending.accept("n/2") == .gone)
        #expect(try ending.store.json("n/2") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `there is nothing on objects that the device did not touch, or touched before its end`(kind: StoreKind) throws
    {
        let ending = try begin(kind, .putting("n/1", #"{"x":1}"#))
        try ending.author.write(.putting("n/2", #"{"x":2}"#))
        try ending.end()
        for name in ["n/1", "n/3"] {
            guard case .none = try ending.work(on: name) else {
                Issue.record("\(name) has work")
                continue
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of work that the log does not have it says so`(kind: StoreKind) throws {
        let ending = try begin(.memory, .putting("n/1", #"{"x":1}"#))
        try ending.author.write(.editing("n/1", "x", .set(2)))
        try ending.end()
        // A newcomer takes state in place of changes: what was void is no part of it.
        let newcomer = try StoreBed(kind, device: TestDevice(4)).open()
        var staging = try newcomer.beginStaging()
        let source = try ending.store.stateSource(staging.request)
        defer { source.close() }
        while let (_, bytes) = try source.next(unless: { _ in false }) { try newcomer.stage([bytes], of: &staging) }
        _ = try newcomer.joinStaged(wallMilliseconds: 1, judging: ending.ends)
        _ = try newcomer.apply([], judging: ending.ends, wallMilliseconds: 0)
        let page = try newcomer.voidWork(
            of: Self.author, after: nil, limit: 10, byteBudget: 1 << 20, space: .home)
        #expect(page.operations.isEmpty)
        #expect(page.isDropped)
        guard case .dropped = try ending.work(on: "n/1", in: newcomer) else {
            Issue.record("the newcomer does not say that it lacks the work")
            return
        }
    }

    // MARK: Of retired devices

    @Test(arguments: StoreKind.allCases)
    func `what a retirement made void is listed and taken, until its author has written it again`(
        kind: StoreKind
    ) throws {
        // 3 retires 2 without having seen its last work; 1 holds that.
        let ending = try begin(kind, .putting("n/1", #"{"x":1}"#))
        try ending.author.write(.editing("n/1", "x", .set(2)), .putting("n/2", #"{"a":1}"#))
        _ = try ending.author.append([[.event("s", "1")]], wallMilliseconds: 2_000)
        try ending.store.pull(from: ending.author)
        #expect(try ending.page().operations.isEmpty, "it counts")
        _ = try ending.other.append([.retire(Self.author)], wallMilliseconds: 3_000)
        let cut = try #require(try ending.other.state().cuts.cuts.first?.dot)
        try ending.store.pull(from: ending.other)
        #expect(try ending.store.json("n/1") == JSONValue(json: #"{"x":1}"#))
        let page = try ending.page()
        #expect(page.operations.map(short) == ["n/1 edited x", "n/2 created a"], "the event counts")
        #expect(!page.isDropped)
        guard case .unsettled = try ending.work(on: "n/2") else {
            Issue.record("a device that has not heard could make it count again")
            return
        }
        _ = try ending.other.append([[.settleCut(.init(cut))]], wallMilliseconds: 3_500)
        try ending.store.pull(from: ending.other)
        #expect(try ending.accept("n/2") == .create)
        #expect(try ending.page().operations.map(\.isAccepted) == [false, true])
        #expect(try ending.store.json("n/2") == JSONValue(json: #"{"a":1}"#))
        // The device comes back.
        _ = try ending.store.append([[.addMember(TestDevice(2).fact)]], wallMilliseconds: 4_000)
        try ending.author.pull(from: ending.store)
        while try ending.author.rewriteVoid(limit: 9, wallMilliseconds: 5_000).hasMore {}
        try converge(ending.stores)
        for store in ending.stores {
            #expect(try store.json("n/1") == JSONValue(json: #"{"x":2}"#))
            #expect(try store.json("n/2") == JSONValue(json: #"{"a":1}"#))
            let left = try store.voidWork(
                of: Self.author, after: nil, limit: 10, byteBudget: 1 << 20, space: .home)
            #expect(left.operations.isEmpty)
        }
        // Retired again: what it has written again is not shown twice.
        _ = try ending.other.append([.retire(Self.author)], wallMilliseconds: 6_000)
        #expect(
            try ending.other.voidWork(of: Self.author, after: nil, limit: 10, byteBudget: 1 << 20, space: .home)
                .operations.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `what was accepted stays accepted where its author wrote it again`(kind: StoreKind) throws {
        let ending = try begin(kind)
        try ending.author.write(.putting("n/2", #"{"a":1}"#))
        try ending.store.pull(from: ending.author)
        _ = try ending.other.append([.retire(Self.author)], wallMilliseconds: 3_000)
        let cut = try #require(try ending.other.state().cuts.cuts.first?.dot)
        _ = try ending.other.append([[.settleCut(.init(cut))]], wallMilliseconds: 3_500)
        try ending.store.pull(from: ending.other)
        #expect(try ending.accept("n/2") == .create)
        try ending.store.write(.editing("n/2", "a", .set(5)))
        _ = try ending.store.append([[.addMember(TestDevice(2).fact)]], wallMilliseconds: 4_000)
        try ending.author.pull(from: ending.store)
        while try ending.author.rewriteVoid(limit: 9, wallMilliseconds: 5_000).hasMore {}
        // What it wrote again is void as well.
        let again = try #require(try ending.author.state().ownReplica)
        _ = try ending.store.apply([], judging: [again: 0], wallMilliseconds: 0)
        try ending.store.pull(from: ending.author)
        #expect(try ending.page().operations.map(short) == ["n/2 created a"])
        #expect(try ending.page().operations.map(\.isAccepted) == [true])
        guard case .accepted = try ending.work(on: "n/2") else {
            Issue.record("it would be taken a second time")
            return
        }
        #expect(try ending.store.json("n/2") == JSONValue(json: #"{"a":5}"#))
    }

    @Test func `a writer's word that a retired device's work was accepted does not count`() throws {
        let ending = try begin(.memory)
        try ending.author.write(.putting("n/2", #"{"a":1}"#))
        try ending.store.pull(from: ending.author)
        let replica = try #require(try ending.author.state().ownReplica)
        _ = try ending.other.append([.retire(Self.author)], wallMilliseconds: 3_000)
        let claim = SyncModel.Operation.acceptWork(
            .init(
                object: ObjectKey("n/2"), device: Self.author,
                stretches: [.init(incarnation: replica.incarnation, start: 0, end: 1_000)]))
        _ = try ending.other.append([[claim]], wallMilliseconds: 4_000)
        try ending.store.pull(from: ending.other)
        #expect(try ending.page().operations.map(\.isAccepted) == [false])
    }

    @Test(arguments: StoreKind.allCases)
    func `a counter that was removed with void increments in it goes on from nothing`(kind: StoreKind) throws {
        let ending = try begin(kind, .putting("n/1", #"{"plays":4}"#))
        try ending.author.write(.editing("n/1", "plays", .increment(7)))
        try ending.other.pull(from: ending.author)
        try ending.other.write(.editing("n/1", "plays", .unset))
        try ending.other.write(.editing("n/1", "plays", .increment(2)))
        try ending.store.pull(from: ending.other)
        #expect(try ending.store.json("n/1") == JSONValue(json: #"{"plays":2}"#))
        try ending.end()
        #expect(try ending.store.json("n/1") == JSONValue(json: #"{"plays":2}"#))
        try StrictEndTests.expectSound(ending.store)
    }

    @Test func `what a writer says of acceptance counts as little as anything that is void`() throws {
        let ending = try begin(.memory, .putting("n/1", #"{"plays":0}"#))
        try ending.author.write(.editing("n/1", "plays", .increment(3)))
        guard let (replica, end) = ending.ends.first else { return }
        let claim = SyncModel.Operation.acceptWork(
            .init(
                object: ObjectKey("n/1"), device: Self.author,
                stretches: [.init(incarnation: replica.incarnation, start: end, end: end + 10)]))
        // By the author itself, of its own work.
        _ = try ending.author.append([[claim]], wallMilliseconds: 9_000)
        try ending.end()
        #expect(try ending.page().operations.map(\.isAccepted) == [false])
        #expect(try ending.accept("n/1") == .edit)
        #expect(try ending.store.json("n/1") == JSONValue(json: #"{"plays":3}"#))
    }
}
