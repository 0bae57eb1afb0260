import SyncModel
import SyncStore
import Testing

/// Which replica a store writes under after a start (design: "Incarnations").
@Suite("Store contract: incarnations")
struct IncarnationTests {
    /// Appends one event and returns the replica it was written under.
    private func write(_ store: any ReplicaStore) throws -> Dot {
        let commit = try store.append([[.event("s")]], wallMilliseconds: 1)
        let segment = try #require(commit.segments.first?.segment)
        return Dot(replica: segment.replica, counter: segment.start)
    }

    @Test(arguments: StoreKind.allCases)
    func `a start with its lease goes on where it stopped, after a stop and after a kill`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        let replica = try write(first).replica
        first.close()
        let second = try bed.open()
        #expect(try second.state().ownReplica == replica)
        #expect(try write(second) == Dot(replica: replica, counter: 1))
        bed.crash(second)
        #expect(try write(bed.open()) == Dot(replica: replica, counter: 2))
    }

    @Test(arguments: StoreKind.allCases)
    func `without a lease every start begins a new incarnation at its first write`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        let replica = try write(first).replica
        first.close()
        bed.reboot()
        let second = try bed.open()
        #expect(try second.state().ownReplica == nil)
        let other = try write(second)
        #expect(other.replica != replica && other.counter == 0)
        #expect(try second.state().ownReplica == other.replica)
    }

    @Test(arguments: StoreKind.allCases)
    func `a machine without tmpfs has no leases`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        bed.hasLeases = false
        let first = try bed.open()
        let replica = try write(first).replica
        first.close()
        #expect(try write(bed.open()).replica != replica)
    }

    @Test(arguments: StoreKind.allCases)
    func `an old backup on the same machine cannot reuse a counter`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        let replica = try write(first).replica
        first.close()
        let backup = bed.copy(sharingLeases: false)
        let second = try bed.open()
        #expect(try write(second) == Dot(replica: replica, counter: 1))
        second.close()
        bed.restore(backup)
        let third = try bed.open()
        #expect(try third.state().ownReplica == nil)
        #expect(try write(third).replica != replica)
    }

    @Test(arguments: StoreKind.allCases)
    func `a copied store does not write under the original's incarnation, on another machine or this one`(
        kind: StoreKind
    ) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        let replica = try write(first).replica
        first.close()
        let elsewhere = try bed.copy(sharingLeases: false).open()
        #expect(try write(elsewhere).replica != replica)
        // Both alive on one machine: the lease is held by the first to start.
        let again = try bed.open()
        let beside = try bed.copy(sharingLeases: true).open()
        #expect(try write(beside).replica != replica)
        #expect(try write(again).replica == replica)
    }

    @Test(arguments: StoreKind.allCases)
    func `a backup that was written to elsewhere does not pass for the original`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        let replica = try write(first).replica
        first.close()
        // Forced to go on there, it reaches the same counter with another head.
        let fork = bed.copy(sharingLeases: false)
        let forked = try fork.open(faults: .reuseCounterAfterCrash)
        _ = try forked.append([[.event("s", "\"other\"")]], wallMilliseconds: 9)
        forked.close()
        let second = try bed.open()
        #expect(try write(second) == Dot(replica: replica, counter: 1))
        second.close()
        bed.restore(fork)
        #expect(try write(bed.open()).replica != replica)
    }

    @Test(arguments: StoreKind.allCases)
    func `the planted bug goes on without proof`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        let replica = try write(first).replica
        first.close()
        bed.reboot()
        #expect(try write(bed.open(faults: .reuseCounterAfterCrash)).replica == replica)
    }

    @Test(arguments: StoreKind.allCases)
    func `changes of our incarnation that we did not write end it`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        let replica = try write(first).replica
        first.close()
        let ahead = try bed.copy(sharingLeases: false).open(faults: .reuseCounterAfterCrash)
        let unknown = try ahead.append([[.event("s")]], wallMilliseconds: 1).segments
        let store = try bed.open()
        #expect(try store.state().ownReplica == replica)
        _ = try store.apply(unknown, wallMilliseconds: 0)
        #expect(try store.state().ownReplica == nil)
        #expect(try write(store).replica != replica)
    }

    @Test(arguments: StoreKind.allCases)
    func `a closed incarnation is not written to again, also after a restart`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        let replica = try write(first).replica
        try first.closeIncarnation()
        bed.crash(first)
        #expect(try write(bed.open()).replica != replica)
    }
}
