import SyncModel
import SyncStore
import Testing

/// The founder that a device follows: adopted with its first host, in the transaction of the fact that names the host.
@Suite("Store contract: founder")
struct FounderTests {
    private func fact(
        _ number: UInt8, isHost: Bool = false, founder: DeviceID? = nil, role: MemberFact.Role = .writer
    ) -> MemberFact {
        let fact = TestDevice(number).fact
        return MemberFact(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding,
            discoveryKey: fact.discoveryKey, role: role, name: fact.name, isHost: isHost, founder: founder)
    }

    private func write(_ store: SQLiteStore, _ facts: MemberFact..., at wallMilliseconds: Int64 = 5) throws {
        _ = try store.append([facts.map { .addMember($0) }], wallMilliseconds: wallMilliseconds)
    }

    private func founder(_ store: SQLiteStore) throws -> DeviceID? {
        #expect(try store.state().founder == store.logState().founder)
        return try store.logState().founder
    }

    /// The founders that the stored facts of an author about a device name, in the order of arrival.
    private func named(_ store: SQLiteStore, by author: UInt8, of device: UInt8) throws -> [DeviceID?] {
        try store.state().additions.filter {
            $0.author == TestDevice(author).id && $0.fact.device == TestDevice(device).id
        }.map(\.fact.founder)
    }

    @Test(arguments: StoreKind.allCases)
    func `a device adopts the founder of its first host, durably`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        #expect(try founder(store) == nil, "it founds a space of its own")
        try write(store, fact(2, isHost: true, founder: TestDevice(9).id))
        #expect(try founder(store) == TestDevice(9).id)
        #expect(try named(store, by: 1, of: 2) == [TestDevice(9).id])
        bed.crash(store)
        let again = try bed.open()
        #expect(try founder(again) == TestDevice(9).id)
        // Another mesh: the fact about its host names the founder that was adopted before.
        try write(again, fact(3, isHost: true, founder: TestDevice(8).id))
        #expect(try founder(again) == TestDevice(9).id)
        #expect(try named(again, by: 1, of: 3) == [TestDevice(9).id])
    }

    @Test(arguments: StoreKind.allCases)
    func `a device that knows a member keeps its founder when two meshes meet`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        try write(store, fact(2))
        try write(store, fact(3, isHost: true, founder: TestDevice(9).id))
        #expect(try founder(store) == TestDevice(1).id)
        #expect(try named(store, by: 1, of: 3) == [TestDevice(1).id])
        #expect(try named(store, by: 1, of: 2) == [nil], "other facts stay as they are given")
        bed.crash(store)
        #expect(try founder(bed.open()) == TestDevice(1).id)
    }

    @Test func `of two hosts in one commit the first one counts`() throws {
        let store = try StoreBed(.memory).open()
        let facts = [2, 3].map { fact(UInt8($0), isHost: true, founder: TestDevice(UInt8($0) + 5).id) }
        _ = try store.append(facts.map { [.addMember($0)] }, wallMilliseconds: 0)
        #expect(try founder(store) == TestDevice(7).id)
        #expect(try named(store, by: 1, of: 3) == [TestDevice(7).id])
    }

    /// Device 3 joined 2, which had joined 1; none of their versions knew founders.
    private func oldChain() throws -> [SQLiteStore] {
        let stores = try (1...3).map { try StoreBed(.memory, device: TestDevice(UInt8($0))).open() }
        try write(stores[0], fact(2))
        try write(stores[1], fact(1, isHost: true))
        try stores[1].pull(from: stores[0])
        try write(stores[1], fact(3))
        return stores
    }

    @Test func `the founder of a host that names none is found by its facts, and stays`() throws {
        let stores = try oldChain()
        try write(stores[2], fact(2, isHost: true))
        #expect(try founder(stores[2]) == nil, "nothing is known of the host yet")
        try stores[2].pull(from: stores[1])
        #expect(try founder(stores[2]) == TestDevice(1).id)
        // A host that claims another host, with an earlier clock, moves nobody.
        try write(stores[1], fact(4, isHost: true), at: 1)
        let stranger = try StoreBed(.memory, device: TestDevice(4)).open()
        try write(stranger, fact(2), at: 1)
        try stores[2].pull(from: stores[1])
        try stores[2].pull(from: stranger)
        #expect(try founder(stores[2]) == TestDevice(1).id)
    }

    @Test func `the founder is found as well if the facts come as state`() throws {
        let stores = try oldChain()
        try write(stores[2], fact(2, isHost: true))
        try stores[2].take(stateFrom: stores[1])
        #expect(try founder(stores[2]) == TestDevice(1).id)
    }

    @Test func `a store of before finds its founder when it is opened, and a first device has none`() throws {
        let bed = StoreBed(.sqliteInTmpfs, device: TestDevice(3))
        let stores = try oldChain()
        let store = try bed.open()
        try write(store, fact(2, isHost: true))
        try store.pull(from: stores[1])
        store.close()
        let before = Schema(steps: Schema.current.steps + ["UPDATE space SET founder = NULL;"])
        let again = try bed.open(schema: before)
        #expect(try founder(again) == TestDevice(1).id)
        again.close()
        #expect(try founder(bed.open(schema: before)) == TestDevice(1).id, "it was written down")
        #expect(try founder(stores[0]) == nil)
    }

    @Test func `a circle of hosts leads to no founder`() throws {
        let stores = try (1...2).map { try StoreBed(.memory, device: TestDevice(UInt8($0))).open() }
        try write(stores[0], fact(2), fact(2, isHost: true))
        try write(stores[1], fact(1), fact(1, isHost: true))
        try stores[1].pull(from: stores[0])
        #expect(try founder(stores[1]) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `the role and founder of each fact are known again after a restart`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        try write(store, fact(2, founder: TestDevice(1).id, role: .admin), fact(3, role: .reader), fact(4))
        let before = try store.members()
        let roles = Dictionary(uniqueKeysWithValues: before.additions.map { ($0.device, $0.role) })
        #expect(roles == [TestDevice(2).id: .admin, TestDevice(3).id: .reader, TestDevice(4).id: .writer])
        let founders = before.additions.compactMap(\.founder)
        #expect(founders == [TestDevice(1).id])
        bed.crash(store)
        #expect(try bed.open().members() == before)
    }
}
