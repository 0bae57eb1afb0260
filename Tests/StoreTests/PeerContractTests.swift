import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// What every store promises about addresses, tickets and its own condition.
@Suite("Store contract: peers and health")
struct PeerContractTests {
    @Test(arguments: StoreKind.allCases)
    func `addresses are remembered, replaced and forgotten`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let typed = PeerAddress(
            host: "fe80::1%eth0", port: 21817, device: nil, isStatic: true, lastConnectedMilliseconds: nil)
        let met = PeerAddress(
            host: "10.0.0.2", port: 65535, device: TestDevice(2).id, isStatic: false, lastConnectedMilliseconds: 5)
        try store.remember(typed)
        try store.remember(met)
        let again = PeerAddress(
            host: "fe80::1%eth0", port: 21817, device: TestDevice(3).id, isStatic: true, lastConnectedMilliseconds: 9)
        try store.remember(again)
        #expect(try store.addresses() == [again, met])
        bed.crash(store)
        let reopened = try bed.open()
        #expect(try reopened.state().addresses == [again, met])
        #expect(try reopened.forget(host: "10.0.0.2", port: 65535))
        #expect(try !reopened.forget(host: "10.0.0.2", port: 65535))
        #expect(try reopened.addresses() == [again])
    }

    @Test(arguments: StoreKind.allCases)
    func `a ticket is kept and marked used`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let fresh = TicketRecord(secret: [1, 2, 3], expiresMilliseconds: 100, role: .admin, until: 7, usedBy: nil)
        try store.save(fresh)
        try store.save(TicketRecord(secret: [4], expiresMilliseconds: 200, usedBy: nil))
        let used = TicketRecord(
            secret: [1, 2, 3], expiresMilliseconds: 100, role: .admin, until: 7, usedBy: TestDevice(2).id)
        try store.save(used)
        bed.crash(store)
        #expect(
            try bed.open().tickets() == [used, TicketRecord(secret: [4], expiresMilliseconds: 200, usedBy: nil)])
    }

    @Test(arguments: StoreKind.allCases)
    func `a blocked device stays blocked until that is undone`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let devices = [TestDevice(2).id, TestDevice(3).id].sorted()
        for device in devices + [devices[0]] { try store.setBlocked(device, true, wallMilliseconds: 1) }
        bed.crash(store)
        let reopened = try bed.open()
        #expect(try reopened.blockedDevices() == devices)
        try reopened.setBlocked(devices[0], false, wallMilliseconds: 2)
        #expect(try reopened.state().blocked == [devices[1]])
    }

    @Test(arguments: StoreKind.allCases)
    func `a reopened store is equal to the one that was closed`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        _ = try store.append([[.event("a")], [.addMember(TestDevice(2).fact)]], wallMilliseconds: 1)
        _ = try store.apply(other.append([[.event("b")]], wallMilliseconds: 1).segments, wallMilliseconds: 0)
        _ = try store.append([[.event("a")]], wallMilliseconds: 1)
        let before = try store.state()
        store.close()
        let after = try bed.open()
        #expect(try after.state() == before)
        #expect(try after.recomputedDigest(of: .home) == before.digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `one store at a time, and a closed one refuses`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        do {
            _ = try bed.open()
            Issue.record("two stores on one disk")
        } catch StoreError.locked(let holder) {
            #expect(holder != nil)
        }
        store.close()
        store.close()
        #expect(throws: StoreError.closed) { try store.append([[.event("s")]], wallMilliseconds: 1) }
        #expect(throws: StoreError.closed) { try store.allEvents("s") }
        #expect(throws: StoreError.closed) { try store.state() }
        #expect(store.health().condition == .refusing(.closed))
        #expect(try bed.open().health().condition == .ok)
    }

    @Test(arguments: StoreKind.allCases)
    func `a healthy store has a size and takes a probe`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.append([[.event("s")]], wallMilliseconds: 1)
        try store.probe()
        #expect(store.health().condition == .ok)
        // The files of a simulated disk are in memory, where no folder has a size.
        #expect(kind == .memory || store.health().bytes > 0)
    }

    @Test func `a simulated disk refuses as it is told and keeps what was acknowledged`() throws {
        let disk = SimulatedDisk()
        let store = try disk.open(SimulatedDevice.all[0]) { 1 }
        _ = try store.append([[.event("s")]], wallMilliseconds: 1)
        let before = try store.state()
        for refusal in [StoreError.diskFull, .inputOutput(code: 10)] {
            disk.failNextWrites(refusal, count: 1)
            let refused = #expect(throws: StoreError.self) { try store.append([[.event("s")]], wallMilliseconds: 1) }
            #expect(Self.isSame(try #require(refused), refusal))
            #expect(store.health().condition == .refusing(try #require(refused)))
            #expect(try store.state() == before && store.allEvents("s").count == 1)
            try store.probe()
            #expect(store.health().condition == .ok)
        }
        #expect(try store.append([[.event("s")]], wallMilliseconds: 1).lastPosition == 2)
    }

    /// SQLite says by its own number which operation failed.
    private static func isSame(_ refused: StoreError, _ told: StoreError) -> Bool {
        if case (.inputOutput, .inputOutput) = (refused, told) { return true }
        return refused == told
    }

    @Test func `a power loss takes what was not synced, and only that`() throws {
        for (faults, expected) in [(StoreFaults(), 2), (.commitWithoutSync, 0)] {
            let disk = SimulatedDisk()
            let open = { try disk.open(SimulatedDevice.all[0], faults: faults) { 1 } }
            let store = try open()
            _ = try store.append([[.event("s")]], wallMilliseconds: 1)
            _ = try store.append([[.event("s")]], wallMilliseconds: 1)
            disk.crash(store, losingPower: true)
            #expect(throws: StoreError.closed) { try store.state() }
            #expect(try open().allEvents("s").count == expected)
        }
    }

    @Test func `a killed process leaves what it wrote, but only what was synced outlives the power`() throws {
        let disk = SimulatedDisk()
        let open = { try disk.open(SimulatedDevice.all[0], faults: .commitWithoutSync) { 1 } }
        let store = try open()
        _ = try store.append([[.event("s")]], wallMilliseconds: 1)
        disk.crash(store, losingPower: false)
        #expect(try disk.copy().open(SimulatedDevice.all[0]) { 2 }.allEvents("s").count == 1)
        let next = try open()
        #expect(try next.allEvents("s").count == 1)
        disk.crash(next, losingPower: true)
        #expect(try open().allEvents("s").isEmpty)
    }
}
