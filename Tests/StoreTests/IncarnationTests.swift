import Synchronization
import SyncModel
import SyncStore
import Testing

/// Which replica a store writes under after a start.
@Suite("Store contract: incarnations")
struct IncarnationTests {
    /// Appends one event and returns the replica it was written under.
    private func write(_ store: SQLiteStore) throws -> Dot {
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

    /// What is seen of a virtual machine that was put back with its memory: until its clock is right again, nothing.
    @Test func `a clock that was set begins a new incarnation, and one that is a little off does not`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let store = try bed.open()
        let first = try write(store)
        bed.clockAhead.withLock { $0 += 9_000 }
        #expect(try write(store) == Dot(replica: first.replica, counter: 1))
        bed.clockAhead.withLock { $0 += 3_600_000 }
        let second = try write(store)
        #expect(second.replica != first.replica && second.counter == 0)
        // Two sources of time that disagree do not end one after the other.
        bed.clockAhead.withLock { $0 -= 3_600_000 }
        #expect(try write(store) == Dot(replica: second.replica, counter: 1))
        #expect(try store.state().counts.events == 4)
    }

    @Test func `a clock that was set while no agent ran begins a new incarnation`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let first = try bed.open()
        let replica = try write(first).replica
        first.close()
        bed.clockAhead.withLock { $0 += 9_000 }
        let second = try bed.open()
        #expect(try write(second).replica == replica)
        second.close()
        bed.clockAhead.withLock { $0 += 11_000 }
        #expect(try write(bed.open()).replica != replica)
    }

    @Test func `an end that was not signed yet is signed before such a new incarnation`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let store = try bed.open()
        try store.leaveOpen()
        #expect(try store.append([[.event("s")]], wallMilliseconds: 1).segments.isEmpty)
        let replica = try #require(try store.state().ownReplica)
        bed.clockAhead.withLock { $0 -= 3_600_000 }
        let commit = try store.append([[.event("s")]], wallMilliseconds: 1)
        #expect(try store.state().ownReplica.map { $0 != replica } == true)
        #expect(commit.segments.contains { $0.segment.replica == replica && !$0.segment.signature.isEmpty })
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

/// A data directory whose identity is another one now: one of two copies was given keys of its own.
@Suite("Store contract: other keys")
struct OtherKeysTests {
    @Test(arguments: StoreKind.allCases)
    func `a store that gets other keys keeps all changes, and writes under the new device`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        let old = try #require(try first.append([[.event("s")]], wallMilliseconds: 1).segments.first).segment.replica
        first.close()
        bed.device = TestDevice(2)
        let second = try bed.open()
        #expect(try second.state().ownReplica == nil)
        let commit = try second.append([[.event("s")]], wallMilliseconds: 1)
        let segment = try #require(commit.segments.first).segment
        #expect(segment.replica.device == bed.device.id && segment.start == 0)
        #expect(try second.segments(of: old, from: 0, byteBudget: 1_000).map(\.end) == [1])
        #expect(try second.state().counts.events == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `what the old keys had not signed yet is not signed with the new ones`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let first = try bed.open()
        try first.leaveOpen()
        _ = try first.append([[.event("s")]], wallMilliseconds: 1)
        bed.crash(first)
        let old = bed.device
        bed.device = TestDevice(2)
        #expect {
            _ = try bed.open()
        } throws: { error in
            if case .foreignTail(let replica)? = error as? StoreError { replica.device == old.id } else { false }
        }
        // The next step that the message names.
        bed.device = old
        try bed.open().close()
        bed.device = TestDevice(2)
        #expect(try bed.open().state().counts.events == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `a lost tail is noticed by what the lease says, and the planted bug does not look`(kind: StoreKind) throws {
        for faults in [StoreFaults(), .leaseIgnoresTail] {
            let bed = StoreBed(kind)
            let first = try bed.open()
            let replica = try #require(try first.append([[.event("s")]], wallMilliseconds: 1).segments.first).segment
                .replica
            let before = bed.copy(sharingLeases: false)
            _ = try first.append([[.event("s")]], wallMilliseconds: 1)
            first.close()
            bed.restore(before)
            let commit = try bed.open(faults: faults).append([[.event("s")]], wallMilliseconds: 1)
            #expect((commit.segments.first?.segment.replica == replica) == (faults == .leaseIgnoresTail))
        }
    }
}
