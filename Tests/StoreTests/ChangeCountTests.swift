import SyncModel
import SyncStore
import Testing

/// How many changes somebody lacks who holds a vector: the same for every store.
struct ChangeCountTests {
    private func vector(_ replica: ReplicaID, _ next: UInt64) -> VersionVector {
        VersionVector([.init(replica: replica, next: next)])
    }

    @Test(arguments: StoreKind.allCases)
    func `changes beyond a vector are counted, within a segment too`(kind: StoreKind) throws {
        let author = try StoreBed(.memory).open()
        _ = try author.append(
            [[.event("a"), .event("a")], [.event("a")], [.event("a")]], wallMilliseconds: 1)
        _ = try author.append([[.event("a"), .event("a"), .event("a")]], wallMilliseconds: 2)
        let replica = try #require(try author.state().ownReplica)
        let store = try StoreBed(kind, device: TestDevice(2)).open()
        var tip = ReplicaTip.empty(space: .home, replica: replica)
        for segment in try author.segments(of: replica, from: 0, byteBudget: .max) {
            let verified = try segment.verified(from: tip, space: .home, signingKey: TestDevice(1).fact.signingKey)
            _ = try store.apply([verified], wallMilliseconds: 1)
            tip = verified.tip
        }
        // Four changes of 2, 1, 1 and 3 operations.
        for (next, count) in [(0, 4), (2, 3), (3, 2), (4, 1), (7, 0), (9, 0)] as [(UInt64, Int64)] {
            #expect(try author.changeCount(beyond: vector(replica, next)) == count, "author, from \(next)")
            #expect(try store.changeCount(beyond: vector(replica, next)) == count, "receiver, from \(next)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `open changes are counted before anybody could be sent them`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.append([[.event("a")]], wallMilliseconds: 1)
        let replica = try #require(try store.state().ownReplica)
        try store.leaveOpen()
        _ = try store.append([[.event("a")]], wallMilliseconds: 2)
        #expect(try store.segments(of: replica, from: 1, byteBudget: .max).isEmpty)
        #expect(try store.changeCount(beyond: vector(replica, 1)) == 1)
    }
}
