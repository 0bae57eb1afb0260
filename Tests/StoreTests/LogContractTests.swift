import SyncModel
import SyncStore
import Testing

/// What every store promises about its log.
@Suite("Store contract: log")
struct LogContractTests {
    @Test(arguments: StoreKind.allCases)
    func `a new store holds nothing`(kind: StoreKind) throws {
        let state = try StoreBed(kind).open().state()
        #expect(state.tips.isEmpty && state.additions.isEmpty && state.addresses.isEmpty)
        #expect(state.digest == .zero && state.lastPosition == 0 && state.ownReplica == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `what is appended is chained, signed, counted and shown`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let commit = try store.append([[.event("log", "{}")], [.event("log", "2", type: "t")]], wallMilliseconds: 7)
        #expect(commit.counts == StoreCounts(changes: 2, events: 2))
        #expect(commit.lastPosition == 2 && commit.streams == ["log"])
        let segment = try #require(commit.segments.first?.segment)
        let verified = try segment.verified(
            from: .empty(space: .home, replica: segment.replica), space: .home, signingKey: bed.device.fact.signingKey)
        let state = try store.state()
        #expect(state.tips == [KnownReplica(replica: segment.replica, tip: verified.tip)])
        #expect(state.ownReplica == segment.replica && state.digest == commit.digest)
        let events = try store.allEvents("log")
        #expect(events.map(\.position) == [1, 2] && events.map(\.type) == [nil, "t"])
        #expect(events.map(\.payload) == [Array("{}".utf8), Array("2".utf8)])
        #expect(events.map(\.wallMilliseconds) == [7, 7])
    }

    @Test(arguments: StoreKind.allCases)
    func `applied segments give the same state as the author's`(kind: StoreKind) throws {
        let author = StoreBed(.memory)
        let commits = try (0..<20).map { try author.open().appendOne("s\($0 % 3)", "\($0)", on: author) }
        let source = try author.open()
        let store = try StoreBed(kind, device: TestDevice(2)).open()
        let commit = try store.apply(commits.flatMap(\.segments), wallMilliseconds: 0)
        #expect(commit.digest == (try source.state()).digest)
        #expect((try store.state()).tips == (try source.state()).tips)
        #expect((try store.state()).ownReplica == nil)
        #expect(try store.recomputedDigest(of: .home) == commit.digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `applying twice changes nothing`(kind: StoreKind) throws {
        let source = try StoreBed(.memory).open()
        let first = try source.append([[.event("a")]], wallMilliseconds: 1).segments
        let second = try source.append([[.event("a")]], wallMilliseconds: 2).segments
        let store = try StoreBed(kind, device: TestDevice(2)).open()
        _ = try store.apply(first + second, wallMilliseconds: 0)
        let state = try store.state()
        let again = try store.apply(first + first + second, wallMilliseconds: 0)
        #expect(again.segments.isEmpty && again.streams.isEmpty && again.digest == state.digest)
        #expect(try store.state() == state)
    }

    @Test(arguments: StoreKind.allCases)
    func `a segment beyond the tip, or with an uncovered context, is refused and leaves nothing`(kind: StoreKind) throws
    {
        let one = try StoreBed(.memory).open()
        let first = try one.append([[.event("a")]], wallMilliseconds: 1).segments
        let second = try one.append([[.event("a")]], wallMilliseconds: 2).segments
        let two = try StoreBed(.memory, device: TestDevice(2)).open()
        _ = try two.apply(first, wallMilliseconds: 0)
        let dependent = try two.append([[.event("b")]], wallMilliseconds: 3).segments
        let store = try StoreBed(kind, device: TestDevice(3)).open()
        let empty = try store.state()
        #expect(throws: StoreError.notApplicable(second[0].segment.replica, at: 1)) {
            try store.apply(second, wallMilliseconds: 0)
        }
        #expect(throws: StoreError.notApplicable(dependent[0].segment.replica, at: 0)) {
            try store.apply(dependent + first, wallMilliseconds: 0)
        }
        #expect(try store.state() == empty)
        _ = try store.apply(first + dependent, wallMilliseconds: 0)
        #expect(try store.state().counts.events == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `a change names what was held when it was written, and once only`(kind: StoreKind) throws {
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        let foreign = try other.append([[.event("a")]], wallMilliseconds: 1_000).segments
        let bed = StoreBed(kind)
        let store = try bed.open()
        _ = try store.apply(foreign, wallMilliseconds: 0)
        let first = try store.append([[.event("b")]], wallMilliseconds: 0).segments[0]
        #expect(first.context == [VersionVector.Entry(replica: foreign[0].segment.replica, next: 1)])
        #expect(first.tip.stamp > foreign[0].tip.stamp)
        let second = try store.append([[.event("b")]], wallMilliseconds: 0).segments[0]
        #expect(second.context.isEmpty)
        store.close()
        let reopened = try bed.open()
        #expect(try reopened.append([[.event("b")]], wallMilliseconds: 0).segments[0].context.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `stored segments are merged for shipping and cut where asked`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        for index in 0..<10 { _ = try store.append([[.event("a", "\(index)")]], wallMilliseconds: 1) }
        let replica = try #require(try store.state().ownReplica)
        let all = try store.segments(of: replica, from: 0, byteBudget: 1 << 20)
        #expect(all.count == 1 && all[0].start == 0 && all[0].end == 10)
        let key = bed.device.fact.signingKey
        let verified = try all[0].verified(from: .empty(space: .home, replica: replica), space: .home, signingKey: key)
        #expect(verified.tip == (try store.state().tips[0].tip) && verified.changeCount == 10)
        let tail = try store.segments(of: replica, from: 7, byteBudget: 1 << 20)
        #expect(tail.map(\.start) == [7] && tail.map(\.end) == [10])
        #expect(try store.segments(of: replica, from: 0, byteBudget: 1).map(\.end) == [1])
        #expect(try store.segments(of: replica, from: 10, byteBudget: 1).isEmpty)
        #expect(try store.segments(of: ReplicaID(device: bed.device.id, incarnation: 99), from: 0, byteBudget: 1) == [])
        // Merged segments apply like the parts they were made of.
        let peer = try StoreBed(kind, device: TestDevice(2)).open()
        #expect(try peer.apply([verified], wallMilliseconds: 0).digest == (try store.state()).digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `a segment that names others is not merged into the one before it`(kind: StoreKind) throws {
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        let store = try StoreBed(kind).open()
        _ = try store.append([[.event("a")]], wallMilliseconds: 1)
        _ = try store.apply(try other.append([[.event("b")]], wallMilliseconds: 1).segments, wallMilliseconds: 0)
        _ = try store.append([[.event("a")]], wallMilliseconds: 1)
        _ = try store.append([[.event("a")]], wallMilliseconds: 1)
        let replica = try #require(try store.state().ownReplica)
        #expect(try store.segments(of: replica, from: 0, byteBudget: 1 << 20).map(\.end) == [1, 3])
    }

    @Test(arguments: StoreKind.allCases)
    func `a segment begins inside a stored one where the change asked for begins`(kind: StoreKind) throws {
        let source = try StoreBed(.memory).open()
        let commit = try source.append(
            [[.event("a"), .event("a")], [.event("a"), .event("a")]], wallMilliseconds: 1)
        let store = try StoreBed(kind, device: TestDevice(2)).open()
        _ = try store.apply(commit.segments, wallMilliseconds: 0)
        let replica = commit.segments[0].segment.replica
        #expect(try store.segments(of: replica, from: 2, byteBudget: 1 << 20).map(\.start) == [2])
        #expect(try store.segments(of: replica, from: 3, byteBudget: 1 << 20).map(\.start) == [2])
        #expect(try store.segments(of: replica, from: 1, byteBudget: 1 << 20).map(\.start) == [0])
    }

    @Test(arguments: StoreKind.allCases)
    func `operations nobody understands are shipped and chained, and shown nowhere`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let void = Operation.unknown(kind: Operation.Kind.appendEvent, span: 1, body: [1, 0x2f, 0])
        let future = Operation.unknown(kind: 77, span: 5, body: [1, 2, 3])
        let commit = try store.append([[void, .event("a"), future], [.event("a", "2")]], wallMilliseconds: 1)
        #expect(commit.counts == StoreCounts(changes: 2, events: 2))
        let events = try store.allEvents("a")
        #expect(events.map(\.dot.counter) == [1, 7] && events.map(\.position) == [1, 2])
        let shipped = try store.segments(of: commit.segments[0].segment.replica, from: 0, byteBudget: 1 << 20)
        #expect(shipped[0].bytes == commit.segments[0].segment.bytes)
        #expect(try store.recomputedDigest(of: .home) == commit.digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `the author of operations of a later version is named, that of void ones is not`(kind: StoreKind) throws {
        let void = Operation.unknown(kind: Operation.Kind.appendEvent, span: 1, body: [0])
        let later = Operation.unknown(kind: Operation.Kind.greatest + 1, span: 2, body: [1])
        for (operation, isLater) in [(void, false), (later, true)] {
            let author = StoreBed(.memory)
            let segments = try author.open().append([[.event("a"), operation]], wallMilliseconds: 1).segments
            let commit = try StoreBed(kind, device: TestDevice(2)).open().apply(segments, wallMilliseconds: 0)
            #expect(commit.laterAuthors == (isLater ? [author.device.id] : []))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `add-facts are kept in the order they came`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let facts = [TestDevice(7, name: "seven").fact, TestDevice(3, name: "three").fact]
        let commit = try store.append(facts.map { [.addMember($0)] }, wallMilliseconds: 5)
        let expected = facts.map { Membership.Addition(author: bed.device.id, fact: $0, wallMilliseconds: 5) }
        #expect(commit.additions == expected)
        store.close()
        #expect(try bed.open().state().additions == expected)
    }

    @Test(arguments: StoreKind.allCases)
    func `a large group becomes several segments, one transaction`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let payload = "\"" + String(repeating: "x", count: 100_000) + "\""
        let commit = try store.append((0..<6).map { _ in [.event("big", payload)] }, wallMilliseconds: 1)
        #expect(commit.segments.map(\.changeCount) == [2, 2, 2])
        #expect(try store.allEvents("big").count == 6)
    }
}

extension SQLiteStore {
    func allEvents(_ stream: String) throws -> [StoredEvent] {
        try events(
            EventQuery(space: .home, stream: stream, order: .arrival(after: 0), limit: .max, byteBudget: .max))
    }

    func canonicalEvents(_ stream: String, after key: CanonicalKey? = nil, limit: Int = .max) throws -> [StoredEvent] {
        try events(
            EventQuery(space: .home, stream: stream, order: .canonical(after: key), limit: limit, byteBudget: .max))
    }

    /// Appends one event and closes the store again.
    fileprivate func appendOne(_ stream: String, _ payload: String, on bed: StoreBed) throws -> Commit {
        defer { close() }
        return try append([[.event(stream, payload)]], wallMilliseconds: 1)
    }
}
