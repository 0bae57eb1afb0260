import SyncModel
import SyncStore
import Testing

/// Writes of a store whose device is a reader, or was revoked. Device 1 founded the space, 2 joined through it.
@Suite("Store contract: who may write")
struct RoleWritingTests {
    private let key = RecoveryKey()

    private func pair(_ kind: StoreKind) throws -> [SQLiteStore] {
        let stores = try (1...2).map { try StoreBed(kind, device: TestDevice(UInt8($0))).open() }
        let founder = TestDevice(1).id
        _ = try stores[0].append([[.addMember(TestDevice(2).fact.following(founder))]], wallMilliseconds: 1)
        let fact = TestDevice(1).fact
        let host = MemberFact(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding,
            discoveryKey: fact.discoveryKey, role: .writer, name: fact.name, isHost: true, founder: founder)
        _ = try stores[1].append([[.addMember(host)]], wallMilliseconds: 1)
        try converge(stores)
        return stores
    }

    private func state(_ store: SQLiteStore, _ action: TrustOrder.Action, _ key: RecoveryKey? = nil) throws {
        let result = try store.append([.trust(TrustOrder(action, recoveryKey: key))], wallMilliseconds: 5)
        #expect(try result.outcomes.map { try $0.get().dots != nil } == [true])
    }

    private func outcomes(_ store: SQLiteStore, _ writes: LocalWrite...) throws -> [WriteRefusal?] {
        try store.append(writes, wallMilliseconds: 6).outcomes.map { outcome in
            if case .failure(let refusal) = outcome { refusal } else { nil }
        }
    }

    private func role(_ device: UInt8, on store: SQLiteStore) throws -> MemberFact.Role? {
        try store.logState().cuts.verdicts?.roles[TestDevice(device).id]
    }

    @Test(arguments: StoreKind.allCases)
    func `a reader writes nothing of its own, and goes on when it is a writer`(kind: StoreKind) throws {
        let stores = try pair(kind)
        let (founder, other) = (stores[0], stores[1])
        try other.write(.putting("n/1", #"{"x":1}"#))
        try converge(stores)
        try state(founder, .role(TestDevice(2).id, .reader))
        try converge(stores)
        #expect(try role(2, on: other) == .reader)
        let (before, refused) = (try other.vector, WriteRefusal(step: 0, .readOnly))
        let put = LocalWrite.planned([.putting("n/2", "{}")])
        #expect(
            try outcomes(
                other, put, .once(WriteKey(text: "k", request: []), put), .retire(TestDevice(1).id),
                .trust(TrustOrder(.role(TestDevice(2).id, .admin)))) == [refused, refused, refused, refused])
        #expect(try other.vector == before, "nothing was written")
        try state(founder, .role(TestDevice(2).id, .writer))
        try converge(stores)
        #expect(try outcomes(other, put) == [nil])
        try converge(stores)
        #expect(try founder.state().digest == other.state().digest)
        #expect(try founder.state().counts.objects == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `the recovery key speaks on a reader and on a device that was revoked`(kind: StoreKind) throws {
        let stores = try pair(kind)
        let (founder, other) = (stores[0], stores[1])
        let device = TestDevice(2).id
        try state(founder, .recoveryKey(key.publicKey))
        try state(founder, .role(device, .reader))
        try converge(stores)
        try state(other, .role(device, .writer), key)
        #expect(try role(2, on: other) == .writer)
        #expect(try outcomes(other, .planned([.putting("n/1", "{}")])) == [nil])
        try converge(stores)
        #expect(try role(2, on: founder) == .writer)
        try state(founder, .revocation(device, wipes: false))
        try other.pull(from: founder)
        #expect(throws: StoreError.self) { _ = try outcomes(other, .planned([.putting("n/2", "{}")])) }
        try state(other, .readmission(device, .admin), key)
        #expect(try role(2, on: other) == .admin)
        #expect(try outcomes(other, .planned([.putting("n/3", "{}")])) == [nil])
        try converge(stores)
        #expect(try role(2, on: founder) == .admin)
        #expect(try founder.state().digest == other.state().digest)
        #expect(try founder.state().counts.objects == 2)
        let made = try #require(try founder.logState().cuts.recoveryKeyRow?.dot)
        let times = try #require(try founder.trustTimes(at: made))
        #expect(times.wallMilliseconds == 5 && times.knownMilliseconds == 5)
        #expect(try founder.trustTimes(at: Dot(replica: ReplicaID(device: device, incarnation: 9), counter: 0)) == nil)
    }

    /// Has a store hear the newest statement of another one apart from its history.
    private func tell(_ store: SQLiteStore, ofNewestOn source: SQLiteStore) throws {
        let own = try #require(try source.state().ownReplica)
        let rows = try source.logState().cuts.trust.rows.filter { $0.dot.replica == own }
        let placed = PlacedStatement(try #require(rows.last))
        _ = try store.takeStatements([placed], wallMilliseconds: 5)
        let state = try store.logState()
        #expect(state.cuts.verdicts?.counting.contains(placed.dot) == true && !state.held.covers(placed.dot))
    }

    @Test(arguments: StoreKind.allCases)
    func `a statement of the key that came apart stops no writes that count without it`(kind: StoreKind) throws {
        let stores = try pair(kind)
        let (founder, other) = (stores[0], stores[1])
        let device = TestDevice(2).id
        try state(founder, .recoveryKey(key.publicKey))
        try converge(stores)
        try state(founder, .role(device, .writer), key)
        try tell(other, ofNewestOn: founder)
        #expect(try outcomes(other, .planned([.putting("n/1", "{}")])) == [nil])
        // A new history counts behind one statement that is held; that another one is not does not matter.
        try converge(stores)
        try state(founder, .revocation(device, wipes: false))
        try state(founder, .readmission(device, .writer))
        try other.pull(from: founder)
        try state(founder, .role(device, .writer), key)
        try tell(other, ofNewestOn: founder)
        #expect(try outcomes(other, .planned([.putting("n/2", "{}")])) == [nil])
        try converge(stores)
        #expect(try founder.state().counts.objects == 2)
        #expect(try founder.state().digest == other.state().digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `a device that only a statement apart lets in waits for its history`(kind: StoreKind) throws {
        let stores = try pair(kind)
        let (founder, other) = (stores[0], stores[1])
        let device = TestDevice(2).id
        try state(founder, .recoveryKey(key.publicKey))
        // It is held, and does not help: it knows nothing of the revocation.
        try state(founder, .role(device, .writer))
        try state(founder, .revocation(device, wipes: false), key)
        try other.pull(from: founder)
        try state(founder, .readmission(device, .writer), key)
        try tell(other, ofNewestOn: founder)
        let before = try other.vector
        #expect(try outcomes(other, .planned([.putting("n/1", "{}")])) == [WriteRefusal(step: 0, .catchingUp)])
        #expect(try other.vector == before)
        try other.pull(from: founder)
        #expect(try outcomes(other, .planned([.putting("n/1", "{}")])) == [nil])
        try converge(stores)
        #expect(try founder.state().counts.objects == 1)
    }
}
