import SyncModel
import SyncStore
import Testing

/// Taking a history back for another (Decisions/24): what goes, what stays, and what is done again.
@Suite("Store contract: forks")
struct TakingBackTests {
    func say(_ store: SQLiteStore, _ bodies: String...) throws {
        for body in bodies { _ = try store.append([[.event("log", "\"\(body)\"")]], wallMilliseconds: 1) }
    }

    func said(_ store: SQLiteStore) throws -> [String] {
        try events(store).map { String(decoding: $0.payload.dropFirst().dropLast(), as: UTF8.self) }
    }

    func events(_ store: SQLiteStore) throws -> [StoredEvent] {
        try store.events(
            EventQuery(space: .home, stream: "log", order: .arrival(after: 0), limit: 1_000, byteBudget: 1 << 20))
    }

    func put(_ store: SQLiteStore, _ id: ExactString, _ title: String) throws {
        let fields = [JSONValue.Member(key: "title", value: .string(ExactString(title)))]
        let write = ObjectWrite.put(ObjectKey(collection: "note", id: id), .init(fields: fields))
        let outcome = try store.append([.planned([write])], wallMilliseconds: 1_700_000_000_000).outcomes[0]
        if case .failure(let refusal) = outcome { Issue.record("\(refusal.reason)") }
    }

    func titles(_ store: SQLiteStore, _ id: ExactString) throws -> Set<String> {
        guard let object = try store.object(ObjectKey(collection: "note", id: id), space: .home),
            case .live(let births) = object.state.judgement
        else { return [] }
        return Set(
            births.flatMap { birth in
                object.state.fields(of: birth)?["title"]?.register.values.compactMap { value -> String? in
                    if case .string(let text) = value { text.string } else { nil }
                } ?? []
            })
    }

    struct Fork {
        let bed: StoreBed
        var store: SQLiteStore
        let peer: SQLiteStore
        let replica: ReplicaID

        mutating func reopen() throws {
            bed.crash(store)
            store = try bed.open()
        }
    }

    /// One machine that was put back while it ran, and another that holds what the first one wrote before.
    func fork(_ kind: StoreKind, _ faults: StoreFaults = [], since: (SQLiteStore) throws -> Void) throws
        -> Fork
    {
        let bed = StoreBed(kind)
        let stores = try introduced([bed, StoreBed(.memory, device: TestDevice(2))])
        try say(stores[0], "common 1", "common 2")
        try put(stores[0], "both", "common")
        try put(stores[0], "other", "common")
        try converge(stores)
        let replica = try #require(try stores[0].state().ownReplica)
        stores[0].close()
        let image = bed.copy(sharingLeases: false)
        var store = try bed.open()
        try say(store, "lost 1", "lost 2")
        try put(store, "both", "lost")
        try put(store, "lost", "lost")
        try stores[1].pull(from: store)
        store.close()
        bed.restore(image)
        store = try bed.open(faults: faults.union(.reuseCounterAfterCrash))
        try since(store)
        return Fork(bed: bed, store: store, peer: stores[1], replica: replica)
    }

    /// Until nothing is left to do again; nobody it may wait for does anything meanwhile.
    func redo(_ store: SQLiteStore) throws {
        while true {
            let step = try store.redoTakenBack(limit: 2, wallMilliseconds: 1_700_000_000_000)
            if !step.hasMore { return }
            try #require(!step.isWaiting)
        }
    }

    func expectSound(_ store: SQLiteStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let state = try store.state()
        #expect(try store.recomputedDigest(of: .home) == state.digest, sourceLocation: sourceLocation)
        let events = try events(store)
        #expect(Int64(events.count) == state.counts.events, sourceLocation: sourceLocation)
        #expect(
            try store.streams(of: .home).first { $0.name == "log" }?.events ?? 0 == Int64(events.count),
            sourceLocation: sourceLocation)
        for (number, event) in events.enumerated() {
            #expect(
                try store.eventCount(stream: "log", space: .home, after: event.position)
                    == Int64(events.count - number - 1), sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `what goes is done again under a new replica, whatever happens in between`(kind: StoreKind) throws {
        var fork = try fork(kind) { store in
            try say(store, "since 1", "since 2", "since 3")
            try put(store, "both", "since")
            try put(store, "since", "since")
            try put(store, "since", "since, and edited")
        }
        let newest = try #require(try events(fork.store).last?.position)
        let common = try OtherHistory(of: fork.replica, in: fork.peer).ends
        let branch = try Set(OtherHistory(of: fork.replica, in: fork.store).ends).subtracting(common)
        #expect(try fork.store.takeBack(OtherHistory(of: fork.replica, in: fork.peer), wallMilliseconds: 90))
        try expectSound(fork.store)
        #expect(try said(fork.store) == ["common 1", "common 2", "lost 1", "lost 2"])
        #expect(try titles(fork.store, "both") == ["lost"] && titles(fork.store, "since").isEmpty)
        #expect(try fork.store.state().settled == [fork.replica] && fork.store.state().hasTakenBack)
        #expect(try fork.store.state().ownReplica == nil)
        #expect(try fork.store.state().gaveWay == [fork.replica: branch], "whoever holds it is told by it")
        try fork.reopen()
        #expect(try fork.store.state().settled == [fork.replica] && fork.store.state().hasTakenBack)
        #expect(
            try !fork.store.takeBack(OtherHistory(of: fork.replica, in: fork.peer), wallMilliseconds: 90),
            "both are the same")
        var isMore = true
        var steps = 0
        while isMore {
            isMore = try fork.store.redoTakenBack(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore
            try fork.reopen()
            try expectSound(fork.store)
            steps += 1
        }
        #expect(steps == 6)
        let all = ["common 1", "common 2", "lost 1", "lost 2", "since 1", "since 2", "since 3"]
        #expect(try said(fork.store).sorted() == all)
        #expect(try events(fork.store).count == 7)
        #expect(try events(fork.store).dropFirst(2).allSatisfy { $0.position > newest }, "no number is given out twice")
        try fork.store.pull(from: fork.peer)
        try fork.peer.pull(from: fork.store)
        for store in [fork.store, fork.peer] {
            try expectSound(store)
            #expect(try titles(store, "both") == ["lost", "since"])
            #expect(try titles(store, "lost") == ["lost"])
            #expect(try titles(store, "since") == ["since, and edited"])
        }
        #expect(try fork.store.state().digest == fork.peer.state().digest)
        #expect(try !fork.store.redoTakenBack(limit: 9, wallMilliseconds: 1).hasMore)
    }

    @Test(arguments: StoreKind.allCases)
    func `where one history is the beginning of the other nothing happens`(kind: StoreKind) throws {
        let fork = try fork(kind) { _ in }
        let before = try fork.store.state()
        #expect(try !fork.store.takeBack(OtherHistory(of: fork.replica, in: fork.peer), wallMilliseconds: 90))
        #expect(try fork.store.state() == before)
        try fork.store.pull(from: fork.peer)
        try say(fork.store, "beyond")
        let ahead = try fork.store.state()
        #expect(try !fork.store.takeBack(OtherHistory(of: fork.replica, in: fork.peer), wallMilliseconds: 90))
        #expect(try fork.store.state() == ahead)
    }

    @Test(arguments: StoreKind.allCases)
    func `the rest of the history that stays waits for what its author had seen`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let stores = try introduced([
            bed, StoreBed(.memory, device: TestDevice(2)), StoreBed(.memory, device: TestDevice(3)),
        ])
        try say(stores[0], "common")
        try converge(stores)
        let replica = try #require(try stores[0].state().ownReplica)
        stores[0].close()
        let image = bed.copy(sharingLeases: false)
        var store = try bed.open()
        try say(store, "lost 1")
        try say(stores[2], "by the third")
        try store.pull(from: stores[2])
        try say(store, "lost 2")
        try stores[1].pull(from: store)
        store.close()
        bed.restore(image)
        store = try bed.open(faults: .reuseCounterAfterCrash)
        try say(store, "since")
        let shown = try OtherHistory(of: replica, in: stores[1])
        #expect(try store.takeBack(shown, wallMilliseconds: 90))
        #expect(try said(store) == ["common", "lost 1"])
        #expect(try store.state().awaited == [KnownReplica(replica: replica, tip: shown.tip)])
        bed.crash(store)
        store = try bed.open()
        #expect(try store.state().awaited == [KnownReplica(replica: replica, tip: shown.tip)])
        // It comes with what it waits for, and not before.
        let third = try #require(try stores[2].state().ownReplica)
        let missing = try store.missing(from: stores[2]).filter { $0.segment.replica == third }
        let commit = try store.apply(missing, wallMilliseconds: 0)
        #expect(commit.segments.contains { $0.segment.replica == replica })
        #expect(try said(store) == ["common", "lost 1", "by the third", "lost 2"])
        #expect(try store.state().awaited.isEmpty)
        while try store.redoTakenBack(limit: 9, wallMilliseconds: 1).hasMore {}
        try expectSound(store)
        try converge([store, stores[1], stores[2]])
        #expect(try Set([store, stores[1], stores[2]].map { try $0.state().digest }).count == 1)
    }

    /// Whom the branch let in is nobody any more while the object is done again, and is let in anew.
    @Test(arguments: StoreKind.allCases)
    func `who was let in by what goes is let in again`(kind: StoreKind) throws {
        let guest = try StoreBed(.memory, device: TestDevice(9)).open()
        let fork = try fork(kind) { store in
            let common = try store.vector
            _ = try store.append([[.addMember(TestDevice(9).fact)]], wallMilliseconds: 1)
            try guest.pull(from: store)
            _ = try guest.append([[.addMember(TestDevice(1).fact)]], wallMilliseconds: 1)
            try put(guest, "both", "by the guest")
            try store.pull(from: guest)
            #expect(try titles(store, "both") == ["by the guest"])
            _ = try store.compactAll(upTo: common)
            #expect(try !store.state().firstHeld.isEmpty)
        }
        #expect(
            try fork.store.takeBack(
                OtherHistory(
                    of: fork.replica, in: fork.peer, from: fork.store.state().firstHeld.next(of: fork.replica)),
                wallMilliseconds: 90))
        try expectSound(fork.store)
        try redo(fork.store)
        try expectSound(fork.store)
        try fork.peer.pull(from: fork.store)
        try expectSound(fork.peer)
        #expect(try fork.peer.state().digest == fork.store.state().digest)
        #expect(
            try titles(fork.store, "both") == ["lost"], "an edit on the strength of a word that went counts nowhere")
        #expect(try fork.store.state().tips.contains { $0.replica.device == TestDevice(9).id })
        #expect(try fork.store.state().additions.contains { $0.fact.device == TestDevice(9).id })
        #expect(
            try guest.takeBack(
                OtherHistory(
                    of: fork.replica, in: fork.store, from: fork.store.state().firstHeld.next(of: fork.replica)),
                wallMilliseconds: 90))
        #expect(try titles(guest, "both") == ["lost"])
        try guest.pull(from: fork.store)
        try redo(guest)
        try fork.store.pull(from: guest)
        try fork.peer.pull(from: fork.store)
        for store in [fork.store, fork.peer, guest] {
            try expectSound(store)
            #expect(try titles(store, "both") == ["lost", "by the guest"])
        }
        #expect(try Set([fork.store, fork.peer, guest].map { try $0.state().digest }).count == 1)
    }

    /// A peer that dropped its first changes shows it from within what came here as one segment.
    @Test(arguments: StoreKind.allCases)
    func `histories may part within a segment, behind where the peer has them`(kind: StoreKind) throws {
        let bed = StoreBed(.memory, device: TestDevice(2))
        let stores = try introduced([StoreBed(kind), bed])
        try say(stores[1], "common 1", "common 2")
        let replica = try #require(try stores[1].state().ownReplica)
        stores[1].close()
        let image = bed.copy(sharingLeases: false)
        var author = try bed.open()
        try say(author, "lost")
        #expect(try stores[0].pull(from: author).count == 1)
        author.close()
        bed.restore(image)
        author = try bed.open(faults: .reuseCounterAfterCrash)
        try say(author, "since 1", "since 2")
        let ends = try OtherHistory(of: replica, in: author).ends
        let shown = try OtherHistory(of: replica, in: author, from: ends[ends.count - 4].end)
        #expect(try stores[0].takeBack(shown, wallMilliseconds: 90))
        #expect(try said(stores[0]) == ["common 1", "common 2", "since 1", "since 2"])
        #expect(try stores[0].state().tips.first { $0.replica == replica }?.tip == shown.tip)
        try expectSound(stores[0])
        #expect(try stores[0].pull(from: author).isEmpty)
    }

    /// Whoever wrote something that knows what gives way does it again itself, or nothing is taken back.
    @Test(arguments: StoreKind.allCases)
    func `nobody makes others lose what they built on a history by showing another one`(kind: StoreKind) throws {
        let stores = try introduced([
            StoreBed(kind), StoreBed(.memory, device: TestDevice(2)), StoreBed(kind, device: TestDevice(3)),
        ])
        // Device 2 shows another beginning of its history than the one on which the third has built.
        try say(stores[1], "as it was")
        try stores[2].pull(from: stores[1])
        try say(stores[2], "built on it")
        try stores[0].pull(from: stores[2])
        let forger = StoreBed(.memory, device: TestDevice(2))
        let other = try forger.open()
        _ = try other.append([[.event("log", "\"otherwise\"")]], wallMilliseconds: 1)
        let shown = try OtherHistory(of: try #require(try other.state().ownReplica), in: other)
        #expect(try shown.replica == stores[1].state().ownReplica)
        let before = try stores[0].state()
        #expect(throws: StoreError.self) { _ = try stores[0].takeBack(shown, wallMilliseconds: 90) }
        #expect(try stores[0].state() == before)
        #expect(try said(stores[0]).sorted() == ["as it was", "built on it"])
        #expect(try stores[2].takeBack(shown, wallMilliseconds: 90), "only work of the two of them goes")
        #expect(try said(stores[2]) == ["otherwise"] && stores[2].state().hasTakenBack)
        #expect(try stores[2].state().settled.isEmpty, "it is none of its own")
        while try stores[2].redoTakenBack(limit: 9, wallMilliseconds: 1).hasMore {}
        #expect(try said(stores[2]) == ["otherwise", "built on it"])
        try expectSound(stores[2])
    }

    @Test(arguments: StoreKind.allCases)
    func `the planted bug forgets it`(kind: StoreKind) throws {
        let fork = try fork(kind, .takeBackForgets) { try say($0, "since") }
        #expect(try fork.store.takeBack(OtherHistory(of: fork.replica, in: fork.peer), wallMilliseconds: 90))
        #expect(try !fork.store.state().hasTakenBack && !said(fork.store).contains("since"))
    }

    @Test(arguments: StoreKind.allCases)
    func `schemas, settings, deletions and text written in it are done again`(kind: StoreKind) throws {
        var fork = try fork(kind) { store in
            let wish = JSONValue.object([JSONValue.Member(key: "deletePolicy", value: .string("ask"))])
            let outcome = try store.append([.planned([.setSchema("note", wish)])], wallMilliseconds: 1).outcomes[0]
            if case .failure(let refusal) = outcome { Issue.record("\(refusal.reason)") }
            try put(store, "gone", "a while")
            _ = try store.append(
                [.planned([.delete(ObjectKey(collection: "note", id: "gone"), ifVersion: nil)])], wallMilliseconds: 1)
            _ = try store.append(
                [[.setStream(.init(stream: "log", latestOnly: true, retainMilliseconds: nil))]], wallMilliseconds: 1)
            try say(store, "since")
        }
        #expect(try fork.store.schema(of: "note", space: .home) != nil)
        #expect(try fork.store.takeBack(OtherHistory(of: fork.replica, in: fork.peer), wallMilliseconds: 90))
        #expect(try fork.store.schema(of: "note", space: .home) == nil)
        while try fork.store.redoTakenBack(limit: 2, wallMilliseconds: 1_700_000_000_000).hasMore {}
        try fork.reopen()
        #expect(try fork.store.schema(of: "note", space: .home) != nil)
        #expect(
            try fork.store.object(ObjectKey(collection: "note", id: "gone"), space: .home)?.summary.standing
                == .deleted)
        #expect(try fork.store.streams(of: .home).first { $0.name == "log" }?.setting?.latestOnly == true)
        try fork.peer.pull(from: fork.store)
        #expect(try fork.store.state().digest == fork.peer.state().digest)
        #expect(try fork.store.recomputedDigest(of: .home) == fork.store.state().digest)
    }
}
