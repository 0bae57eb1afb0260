import SyncModel
import SyncStore
import Testing

// Whom only a branch let in that goes: what it wrote on others' work counts nowhere until it is let in again, and is done again then.
extension TakingBackTests {
    /// The author of a branch has taken it back and done it again; the guest it had let in has written since.
    private struct Visit {
        let fork: Fork
        let bed: StoreBed
        var guest: SQLiteStore

        var stores: [SQLiteStore] { [fork.store, fork.peer, guest] }

        func follow() throws {
            #expect(try guest.takeBack(OtherHistory(of: fork.replica, in: fork.store), wallMilliseconds: 90))
        }

        mutating func reopen() throws {
            bed.crash(guest)
            guest = try bed.open()
        }
    }

    /// - Parameter isHeard: the author had heard of what the guest wrote, and so has the others hold it.
    private func visit(
        _ kind: StoreKind, isHeard: Bool, _ write: (SQLiteStore) throws -> Void
    ) throws -> Visit {
        let bed = StoreBed(kind, device: TestDevice(9))
        let guest = try bed.open()
        _ = try guest.append([[.addMember(TestDevice(1).fact)]], wallMilliseconds: 1)
        let fork = try fork(kind) { store in
            _ = try store.append([[.addMember(TestDevice(9).fact)]], wallMilliseconds: 1)
            try guest.pull(from: store)
            try write(guest)
            if isHeard { try store.pull(from: guest) }
        }
        #expect(try fork.store.takeBack(OtherHistory(of: fork.replica, in: fork.peer), wallMilliseconds: 90))
        try redo(fork.store)
        return Visit(fork: fork, bed: bed, guest: guest)
    }

    private func expectSame(_ visit: Visit) throws {
        for store in visit.stores { try expectSound(store) }
        #expect(try Set(visit.stores.map { try $0.state().digest }).count == 1)
        #expect(try visit.stores.allSatisfy { try !$0.state().hasTakenBack })
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `what a guest wrote waits until it is let in again`(kind: StoreKind, isHeard: Bool) throws {
        var visit = try visit(kind, isHeard: isHeard) { try put($0, "both", "by the guest") }
        try visit.follow()
        let tips = try visit.guest.state().tips
        for _ in 0..<2 {
            let step = try visit.guest.redoTakenBack(limit: 9, wallMilliseconds: 1_700_000_000_000)
            #expect(step.hasMore && step.isWaiting && step.commit.segments.isEmpty)
            #expect(try visit.guest.state().tips == tips && titles(visit.guest, "both") == ["lost"])
            try visit.reopen()
        }
        try visit.guest.pull(from: visit.fork.store)
        try redo(visit.guest)
        try converge(visit.stores)
        for store in visit.stores { #expect(try titles(store, "both") == ["lost", "by the guest"]) }
        // Said before everything else, and not once more in its turn: somebody may have let the guest go by then.
        let words = try visit.fork.store.state().additions.filter { $0.fact.device == TestDevice(9).id }
        #expect(words.count == 1)
        try expectSame(visit)
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `of what a guest wrote everything is there once`(kind: StoreKind, isHeard: Bool) throws {
        let visit = try visit(kind, isHeard: isHeard) { guest in
            try guest.write(
                .editing("note/own", "count", .increment(5), creating: true),
                .editing("note/both", "count", .increment(3)))
            try guest.write(
                .editing("note/both", "list", .insert(at: 0, "a")), .editing("note/both", "list", .insert(at: 1, "b")),
                .attaching("file", to: "note/both"))
            try say(guest, "by the guest")
            try guest.write(
                .editing("note/both", "list", .insert(at: 2, "c")), .editing("note/own", "count", .increment(2)),
                .editing("note/both", "count", .increment(4)), .deleting("note/other"))
        }
        try visit.follow()
        try visit.guest.pull(from: visit.fork.store)
        try redo(visit.guest)
        try converge(visit.stores)
        for store in visit.stores {
            #expect(try store.json("note/own") == JSONValue(json: #"{"count":7}"#))
            #expect(
                try store.json("note/both")
                    == JSONValue(json: #"{"count":7,"list":["a","b","c"],"title":"lost"}"#))
            #expect(try store.attached(to: "note/both") == ["file"])
            #expect(try store.json("note/other") == nil)
            #expect(try said(store).filter { $0 == "by the guest" }.count == 1)
        }
        try expectSame(visit)
    }

    @Test(arguments: StoreKind.allCases)
    func `an admission that goes stays in the log of trust as taken back, and the next one has a line of its own`(
        kind: StoreKind
    ) throws {
        let fork = try fork(kind) { store in
            _ = try store.append([[.addMember(TestDevice(9).fact)]], wallMilliseconds: 70)
        }
        func lines() throws -> [TrustRecord] {
            try fork.store.trust(after: 0, limit: 100).filter { $0.fact.device == TestDevice(9).id }
        }
        #expect(try lines().map(\.isGone) == [false])
        #expect(try fork.store.takeBack(OtherHistory(of: fork.replica, in: fork.peer), wallMilliseconds: 90))
        #expect(try lines().map(\.isGone) == [true] && lines().map(\.knownMilliseconds) == [70])
        try redo(fork.store)
        #expect(try lines().map(\.isGone) == [true, false])
    }
}
