import SyncModel
import SyncStore
import Testing

/// Stores once a device is revoked, and what they show: the ends that the law of trust gives, from the statement to
/// what is shown. 1
/// founded the space.
@Suite("Store contract: revocations")
struct RevocationTests {
    private static func host() -> MemberFact {
        let fact = TestDevice(1).fact
        return MemberFact(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding,
            discoveryKey: fact.discoveryKey, role: .writer, name: fact.name, isHost: true, founder: fact.device)
    }

    /// All hold what 2 had written by then: one event.
    private func mesh(_ beds: [StoreBed]) throws -> [SQLiteStore] {
        let stores = try beds.map { try $0.open() }
        for store in stores.dropFirst() { _ = try store.append([[.addMember(Self.host())]], wallMilliseconds: 1) }
        _ = try stores[0].append([beds.dropFirst().map { .addMember($0.device.fact) }], wallMilliseconds: 1)
        try converge(stores)
        try StrictEndTests.emit(stores[1], "s", "1")
        try converge(stores)
        return stores
    }

    private func mesh(_ kind: StoreKind, count: Int = 3) throws -> [SQLiteStore] {
        try mesh((0..<count).map { StoreBed($0 == 0 ? kind : .sqliteInTmpfs, device: TestDevice(UInt8($0 + 1))) })
    }

    private func write(
        _ store: SQLiteStore, _ action: TrustOrder.Action, by key: RecoveryKey? = nil, at wall: Int64 = 9
    ) throws {
        let result = try store.append([.trust(TrustOrder(action, recoveryKey: key))], wallMilliseconds: wall)
        #expect(try result.commit.digest == store.state().digest)
        if case .failure(let refusal) = result.outcomes[0] { Issue.record("\(refusal.reason)") }
    }

    private func payloads(_ store: SQLiteStore, _ stream: String = "s") throws -> [String] {
        try store.allEvents(stream).map { String(decoding: $0.payload, as: UTF8.self) }.sorted()
    }

    private func writeBeyond(_ store: SQLiteStore) throws {
        try StrictEndTests.emit(store, "s", "2")
        try StrictEndTests.emit(store, "t", "3")
        try StrictEndTests.set(store, "s", latestOnly: true)
        try store.write(.schema("n", #"{"fields":{"title":"text"}}"#), .putting("n/1", #"{"x":2}"#))
    }

    @Test(arguments: StoreKind.allCases)
    func `what its author did not know goes where it was shown, and is shown nowhere else`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let stores = try mesh(
            [bed] + (2...3).map { StoreBed(.sqliteInTmpfs, device: TestDevice(UInt8($0))) })
        try writeBeyond(stores[1])
        try stores[2].pull(from: stores[1])
        #expect(try payloads(stores[2], "t") == ["3"])
        let digest = try stores[0].state().digest
        try write(stores[0], .revocation(TestDevice(2).id, wipes: false))
        #expect(try stores[0].state().digest == digest)
        try stores[2].pull(from: stores[0])
        try stores[0].pull(from: stores[2])
        for store in [stores[0], stores[2]] {
            #expect(try payloads(store) == ["1"])
            #expect(try store.json("n/1") == nil)
            #expect(try store.schema(of: "n", space: .home) == nil)
            #expect(try store.state().digest == digest)
            #expect(try store.state().cuts.isRevoked(TestDevice(2).id))
        }
        try StrictEndTests.expectSame(stores[0], as: stores[2])
        let cuts = try stores[0].logState().cuts
        bed.crash(stores[0])
        let store = try bed.open()
        #expect(try store.logState().cuts == cuts)
        try StrictEndTests.expectSame(store, as: stores[2])
    }

    @Test func `tables derived from the log show what a revocation left`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let stores = try mesh(
            [bed] + (2...3).map { StoreBed(.sqliteInTmpfs, device: TestDevice(UInt8($0))) })
        try writeBeyond(stores[1])
        try write(stores[0], .revocation(TestDevice(2).id, wipes: false))
        try stores[0].pull(from: stores[1])
        try stores[2].pull(from: stores[0])
        stores[0].close()
        let outdating = "UPDATE space SET derived = 0;"
        let derived = try bed.open(schema: Schema(steps: Schema.current.steps + [outdating]))
        #expect(try payloads(derived) == ["1"])
        try StrictEndTests.expectSame(derived, as: stores[2])
    }

    @Test func `a state carries the revocation, and the void events as what they are`() throws {
        let stores = try mesh(.sqliteInTmpfs, count: 4)
        try writeBeyond(stores[1])
        try stores[2].pull(from: stores[1])
        try write(stores[0], .revocation(TestDevice(2).id, wipes: false))
        try stores[2].pull(from: stores[0])
        try stores[3].take(stateFrom: stores[2])
        #expect(try stores[3].vector == stores[2].vector)
        #expect(try stores[3].state().cuts.isRevoked(TestDevice(2).id))
        #expect(try payloads(stores[3]) == ["1"])
        try StrictEndTests.expectSame(stores[3], as: stores[2])
    }

    @Test(arguments: StoreKind.allCases)
    func `what a thief had made void counts again where the recovery key speaks`(kind: StoreKind) throws {
        let stores = try mesh(kind)
        let key = RecoveryKey()
        try write(stores[0], .recoveryKey(key.publicKey))
        try write(stores[0], .role(TestDevice(2).id, .admin))
        try converge(stores)
        try StrictEndTests.emit(stores[2], "s", "2")
        try stores[2].write(.putting("n/3", #"{"x":3}"#))
        try stores[0].pull(from: stores[2])
        #expect(try payloads(stores[0]) == ["1", "2"])
        // 2 has not seen that, and lets 3 go.
        try write(stores[1], .revocation(TestDevice(3).id, wipes: false))
        try stores[0].pull(from: stores[1])
        #expect(try payloads(stores[0]) == ["1"])
        #expect(try stores[0].json("n/3") == nil)
        try StrictEndTests.expectSound(stores[0])
        try write(stores[0], .revocation(TestDevice(2).id, wipes: false), by: key)
        #expect(try !stores[0].state().cuts.isRevoked(TestDevice(3).id))
        let shown = try payloads(stores[0])
        #expect(shown == ["1", "2"])
        #expect(try stores[0].json("n/3") == JSONValue(json: #"{"x":3}"#))
        try stores[2].pull(from: stores[0])
        try StrictEndTests.expectSame(stores[0], as: stores[2])
    }

    @Test func `what counts again is whole where older changes were dropped`() throws {
        let stores = try mesh(.sqliteInTmpfs)
        let key = RecoveryKey()
        try write(stores[0], .recoveryKey(key.publicKey))
        try write(stores[0], .role(TestDevice(2).id, .admin))
        try converge(stores)
        #expect(try stores[0].compactAll(upTo: stores[0].vector) > 0)
        let honest = try #require(try stores[2].state().ownReplica)
        let work = Dot(replica: honest, counter: try stores[2].vector.next(of: honest))
        try StrictEndTests.emit(stores[2], "s", "2")
        try stores[2].write(.putting("n/3", #"{"x":3}"#))
        try stores[0].pull(from: stores[2])
        try StrictEndTests.emit(stores[0], "s", "3")
        // The history of 1 is compacted, and its author knows the work that is about to be void.
        let own = try #require(try stores[0].state().ownReplica)
        let state = try stores[0].logState()
        #expect(state.firstHeld.next(of: own) > 0 && state.context(of: own).covers(work))
        // 2 has not seen that work.
        try write(stores[1], .revocation(TestDevice(3).id, wipes: false))
        try stores[0].pull(from: stores[1])
        #expect(try payloads(stores[0]) == ["1", "3"])
        #expect(try stores[0].json("n/3") == nil)
        #expect(try !stores[0].state().isIncomplete)
        try write(stores[0], .revocation(TestDevice(2).id, wipes: false), by: key)
        #expect(try payloads(stores[0]) == ["1", "2", "3"])
        #expect(try stores[0].json("n/3") == JSONValue(json: #"{"x":3}"#))
        #expect(try !stores[0].state().isIncomplete, "all of that work is in the log")
        try stores[2].pull(from: stores[0])
        try StrictEndTests.expectSame(stores[0], as: stores[2])
    }

    /// The second clock is in the year 6406.
    @Test(arguments: [2, 140_000_000_000_000] as [Int64])
    func `which statement is the later one follows from what its author knew, whatever the clocks`(
        wall: Int64
    ) throws {
        let stores = try mesh(.sqliteInTmpfs)
        let third = TestDevice(3).id
        func role(_ store: SQLiteStore) throws -> MemberFact.Role? {
            try store.logState().cuts.verdicts?.roles[third]
        }
        try write(stores[0], .role(TestDevice(2).id, .admin))
        try converge(stores)
        // Two that do not know each other: the lesser role, and not the later clock's.
        try write(stores[1], .role(third, .admin), at: wall)
        try write(stores[0], .role(third, .reader))
        try converge(Array(stores.prefix(2)))
        for store in stores.prefix(2) { #expect(try role(store) == .reader) }
        // A readmission undoes the revocation that it knows, and no other one, whichever was written first by their clocks.
        try write(stores[0], .revocation(third, wipes: false))
        try write(stores[0], .readmission(third, .writer), at: 1)
        #expect(try !stores[0].state().cuts.isRevoked(third))
        try write(stores[1], .revocation(third, wipes: false), at: wall)
        try converge(Array(stores.prefix(2)))
        for store in stores.prefix(2) { #expect(try store.state().cuts.isRevoked(third)) }
        // One that knows all of them, by a clock that is behind them all.
        try write(stores[0], .readmission(third, .writer), at: 1)
        try converge(stores)
        for store in stores {
            #expect(try !store.state().cuts.isRevoked(third))
            #expect(try role(store) == .writer)
        }
        try StrictEndTests.expectSame(stores[0], as: stores[1])
    }

    @Test(arguments: StoreKind.allCases)
    func `a reader writes nothing that is shown, until another member admits it as a writer`(kind: StoreKind) throws {
        let beds = (0..<3).map { StoreBed($0 == 0 ? kind : .sqliteInTmpfs, device: TestDevice(UInt8($0 + 1))) }
        let stores = try beds.map { try $0.open() }
        for store in stores.dropFirst() { _ = try store.append([[.addMember(Self.host())]], wallMilliseconds: 1) }
        _ = try stores[0].append([[.addMember(TestDevice(3).fact)]], wallMilliseconds: 1)
        try stores[2].pull(from: stores[0])
        _ = try stores[0].append([[.addMember(TestDevice(2).fact.with(role: .reader))]], wallMilliseconds: 1)
        try StrictEndTests.emit(stores[1], "s", "1")
        try stores[1].write(.putting("n/1", #"{"x":1}"#))
        // 3 takes it for a writer's, and edits the object.
        try stores[2].pull(from: stores[1])
        try stores[2].write(.putting("n/1", #"{"y":3}"#))
        try stores[0].pull(from: stores[2])
        #expect(try payloads(stores[0]).isEmpty)
        #expect(try stores[0].json("n/1") == nil)
        try StrictEndTests.expectSound(stores[0])
        try converge([stores[0], stores[2]])
        try StrictEndTests.expectSame(stores[0], as: stores[2])
        _ = try stores[2].append([[.addMember(TestDevice(2).fact)]], wallMilliseconds: 10)
        try converge([stores[0], stores[2]])
        for store in [stores[0], stores[2]] {
            #expect(try payloads(store) == ["1"])
            #expect(try store.json("n/1") == JSONValue(json: #"{"x":1,"y":3}"#))
        }
        try StrictEndTests.expectSame(stores[0], as: stores[2])
    }
}

extension MemberFact {
    fileprivate func with(role: Role) -> MemberFact {
        MemberFact(
            subjectPublicKeyInfo: subjectPublicKeyInfo, signingKey: signingKey, binding: binding,
            discoveryKey: discoveryKey, role: role, name: name)
    }
}
