import SyncModel
import SyncStore
import Testing

/// The log of trust: which facts a node knows, since when, and which of them hold.
@Suite("Store contract: log of trust")
struct TrustTests {
    /// A row in short: kind, author and device by number, the author's clock, and the time known here.
    private struct Line: Hashable, CustomStringConvertible {
        let kind: TrustFact.Kind
        let author: UInt8
        let device: UInt8
        let at: Int64?
        let known: Int64?

        private static let numbers = Dictionary(uniqueKeysWithValues: (1...9).map { (TestDevice($0).id, UInt8($0)) })

        var description: String { "\(author) \(kind) \(device) at \(at ?? -1), known \(known ?? -1)" }

        init(_ kind: TrustFact.Kind, by author: UInt8, of device: UInt8, at: Int64?, known: Int64?) {
            self.kind = kind
            self.author = author
            self.device = device
            self.at = at
            self.known = known
        }

        init(_ record: TrustRecord) {
            self.init(
                record.fact.kind, by: Self.numbers[record.fact.author] ?? 0,
                of: Self.numbers[record.fact.device] ?? 0,
                at: record.fact.wallMilliseconds, known: record.knownMilliseconds)
        }
    }

    private func lines(_ store: SQLiteStore) throws -> [Line] {
        try store.trust(after: 0, limit: 10_000).map(Line.init)
    }

    /// The judgement of a node whose own device this is.
    private func judgement(_ store: SQLiteStore, own: UInt8) throws -> TrustRecord.Judgement {
        let state = try store.state()
        var membership = Membership(own: TestDevice(own).fact, sinceMilliseconds: 0)
        for addition in state.additions { _ = membership.add(addition) }
        return TrustRecord.Judgement(
            of: try store.trust(after: 0, limit: 10_000), membership: membership, cuts: state.cuts,
            blocked: state.blocked)
    }

    private func effects(_ store: SQLiteStore, own: UInt8) throws -> [TrustEffect] {
        let now = try judgement(store, own: own)
        return try store.trust(after: 0, limit: 10_000).map { $0.effect(now) }
    }

    private func returns(_ store: SQLiteStore, own: UInt8) throws -> [Bool] {
        let now = try judgement(store, own: own)
        return try store.trust(after: 0, limit: 10_000).map { $0.isReturn(now) }
    }

    private func admit(_ store: SQLiteStore, _ devices: UInt8..., at wallMilliseconds: Int64) throws {
        let facts = devices.map { SyncModel.Operation.addMember(TestDevice($0).fact) }
        _ = try store.append([.operations(facts)], wallMilliseconds: wallMilliseconds)
    }

    private func retire(_ store: SQLiteStore, _ device: UInt8, at wallMilliseconds: Int64) throws {
        _ = try store.append([.retire(TestDevice(device).id)], wallMilliseconds: wallMilliseconds)
    }

    private func pull(_ store: SQLiteStore, from source: SQLiteStore, at wallMilliseconds: Int64) throws {
        _ = try store.apply(try store.missing(from: source), wallMilliseconds: wallMilliseconds)
    }

    /// Device 1 of this kind and device 2, which admitted each other at 10 and 20, known to both at 30.
    private func pair(_ bed: StoreBed) throws -> [SQLiteStore] {
        let stores = [try bed.open(), try StoreBed(.memory, device: TestDevice(2)).open()]
        try admit(stores[0], 2, at: 10)
        try pull(stores[1], from: stores[0], at: 30)
        try admit(stores[1], 1, at: 20)
        try pull(stores[0], from: stores[1], at: 30)
        return stores
    }

    // MARK: Times

    @Test(arguments: StoreKind.allCases)
    func `a fact is known since the commit that brought it, by this node's clock`(kind: StoreKind) throws {
        let stores = try pair(StoreBed(kind))
        #expect(
            try lines(stores[0]) == [
                Line(.admission, by: 1, of: 2, at: 10, known: 10), Line(.admission, by: 2, of: 1, at: 20, known: 30),
            ])
        #expect(
            try lines(stores[1]) == [
                Line(.admission, by: 1, of: 2, at: 10, known: 30), Line(.admission, by: 2, of: 1, at: 20, known: 20),
            ])
        #expect(try effects(stores[0], own: 1) == [.holds, .holds])
        // A page begins behind a position.
        let first = try #require(try stores[0].trust(after: 0, limit: 1).first)
        let second = try stores[0].trust(after: first.position, limit: 1)
        #expect(second.map(Line.init) == [Line(.admission, by: 2, of: 1, at: 20, known: 30)])
    }

    @Test(arguments: StoreKind.allCases)
    func `a retirement and a return are lines of their own, and the last one holds`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let stores = try pair(bed)
        try admit(stores[0], 3, at: 40)
        try retire(stores[0], 3, at: 50)
        #expect(try effects(stores[0], own: 1)[2...] == [.void(.retired), .holds])
        try admit(stores[0], 3, at: 60)
        #expect(
            try lines(stores[0])[2...] == [
                Line(.admission, by: 1, of: 3, at: 40, known: 40), Line(.retirement, by: 1, of: 3, at: 50, known: 50),
                Line(.admission, by: 1, of: 3, at: 60, known: 60),
            ])
        #expect(try effects(stores[0], own: 1)[2...] == [.void(.retired), .void(.returned), .holds])
        #expect(try returns(stores[0], own: 1)[2...] == [false, false, true])
        // Another device that is admitted after the retirement did not come back.
        try admit(stores[0], 4, at: 70)
        #expect(try returns(stores[0], own: 1).last == false)
        let before = try lines(stores[0])
        bed.crash(stores[0])
        #expect(try lines(bed.open()) == before)
    }

    @Test func `what comes as state is known since then, of a retirement without its author's clock`() throws {
        let stores = try pair(StoreBed(.sqliteInTmpfs))
        try admit(stores[0], 3, at: 40)
        try admit(stores[0], 4, at: 41)
        try retire(stores[0], 4, at: 50)
        let third = try StoreBed(.sqliteInTmpfs, device: TestDevice(3)).open()
        var staging = try third.beginStaging()
        let source = try stores[0].stateSource(staging.request)
        defer { source.close() }
        while let (_, bytes) = try source.next(unless: { _ in false }) { try third.stage([bytes], of: &staging) }
        _ = try third.joinStaged(wallMilliseconds: 90)
        let known = try lines(third)
        #expect(
            Set(known) == [
                Line(.admission, by: 1, of: 2, at: 10, known: 90), Line(.admission, by: 2, of: 1, at: 20, known: 90),
                Line(.admission, by: 1, of: 3, at: 40, known: 90), Line(.admission, by: 1, of: 4, at: 41, known: 90),
                Line(.retirement, by: 1, of: 4, at: nil, known: 90),
            ])
        #expect(known.count == 5)
        let now = try judgement(third, own: 3)
        for record in try third.trust(after: 0, limit: 10) where record.fact.kind == .retirement {
            #expect(record.effect(now) == .holds)
        }
    }

    @Test func `of facts that an older program stored the time known here is unknown, and later ones have theirs`()
        throws
    {
        let bed = StoreBed(.sqliteInTmpfs)
        let stores = try pair(bed)
        try admit(stores[0], 3, at: 40)
        try retire(stores[0], 3, at: 50)
        try stores[0].setBlocked(TestDevice(3).id, true, wallMilliseconds: 55)
        stores[0].close()
        let step = "DELETE FROM trust; UPDATE space SET keeps_trust = 0;"
        let again = try bed.open(schema: Schema(steps: Schema.current.steps + [step]))
        #expect(
            try lines(again) == [
                Line(.admission, by: 1, of: 2, at: 10, known: nil), Line(.admission, by: 2, of: 1, at: 20, known: nil),
                Line(.admission, by: 1, of: 3, at: 40, known: nil),
                Line(.retirement, by: 1, of: 3, at: 50, known: nil), Line(.block, by: 1, of: 3, at: nil, known: nil),
            ])
        try admit(again, 4, at: 60)
        #expect(try lines(again).last == Line(.admission, by: 1, of: 4, at: 60, known: 60))
        #expect(try effects(again, own: 1) == [.holds, .holds, .void(.retired), .holds, .holds, .holds])
    }

    @Test func `times stay when tables are derived again and when the log is compacted`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let stores = try pair(bed)
        try retire(stores[0], 3, at: 50)
        try stores[0].write(.putting("n/1", #"{"x":1}"#), at: 60)
        let before = try lines(stores[0])
        #expect(before.count == 3)
        stores[0].close()
        let again = try bed.open(schema: Schema(steps: Schema.current.steps + ["UPDATE space SET derived = NULL;"]))
        #expect(try lines(again) == before)
        #expect(try again.compactAll(upTo: again.vector) > 0)
        #expect(try lines(again) == before)
    }

    // MARK: Facts that do not hold

    @Test func `a fact by a device that is no member waits, and holds once its author is one`() throws {
        let stores = try pair(StoreBed(.sqliteInTmpfs))
        let third = try StoreBed(.memory, device: TestDevice(3)).open()
        try admit(third, 4, at: 40)
        try pull(stores[0], from: third, at: 50)
        #expect(try lines(stores[0]).last == Line(.admission, by: 3, of: 4, at: 40, known: 50))
        #expect(try effects(stores[0], own: 1).last == .void(.waiting))
        try admit(stores[0], 3, at: 60)
        #expect(try effects(stores[0], own: 1)[2...] == [.holds, .holds])
        #expect(try lines(stores[0])[2].known == 50, "it was known before it had effect")
    }

    @Test func `a fact beyond the end of its author's history does not hold`() throws {
        let stores = try pair(StoreBed(.sqliteInTmpfs))
        try retire(stores[0], 2, at: 50)
        try admit(stores[1], 5, at: 60)
        try pull(stores[0], from: stores[1], at: 70)
        #expect(try lines(stores[0]).last == Line(.admission, by: 2, of: 5, at: 60, known: 70))
        #expect(try effects(stores[0], own: 1).last == .void(.beyondEnd))
    }

    @Test func `of two members that retire each other one is overruled, the same one on both`() throws {
        let stores = try pair(StoreBed(.sqliteInTmpfs))
        try retire(stores[0], 2, at: 50)
        try retire(stores[1], 1, at: 60)
        try converge(stores)
        var overruled: Set<DeviceID> = []
        for (store, own) in zip(stores, [UInt8(1), 2]) {
            let now = try judgement(store, own: own)
            let retirements = try store.trust(after: 0, limit: 10).filter { $0.fact.kind == .retirement }
            #expect(retirements.count == 2)
            #expect(Set(retirements.map { $0.effect(now) }) == [.holds, .void(.overruled)])
            overruled.formUnion(
                retirements.filter { $0.effect(now) == .void(.overruled) }.map(\.fact.author))
        }
        #expect(overruled.count == 1)
    }

    @Test func `two members that admit one device have a line each, and both hold`() throws {
        let stores = try pair(StoreBed(.sqliteInTmpfs))
        try admit(stores[0], 3, at: 40)
        try admit(stores[1], 3, at: 50)
        try pull(stores[0], from: stores[1], at: 60)
        #expect(
            try lines(stores[0])[2...] == [
                Line(.admission, by: 1, of: 3, at: 40, known: 40), Line(.admission, by: 2, of: 3, at: 50, known: 60),
            ])
        #expect(try effects(stores[0], own: 1)[2...] == [.holds, .holds])
    }

    @Test func `facts without a binding, of oneself, and revocations are kept and do not hold`() throws {
        let stores = try pair(StoreBed(.sqliteInTmpfs))
        let (fact, other) = (TestDevice(6).fact, TestDevice(7).fact)
        let forged = MemberFact(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: other.signingKey, binding: fact.binding,
            discoveryKey: fact.discoveryKey, role: .writer, name: "forged")
        let revocation = CutFact(device: TestDevice(1).id, isStrict: true, ends: [])
        _ = try stores[1].append(
            [.operations([.addMember(forged), .addMember(TestDevice(2).fact), .cut(revocation)])],
            wallMilliseconds: 40)
        try pull(stores[0], from: stores[1], at: 50)
        #expect(
            try lines(stores[0])[2...] == [
                Line(.admission, by: 2, of: 6, at: 40, known: 50), Line(.admission, by: 2, of: 2, at: 40, known: 50),
                Line(.revocation, by: 2, of: 1, at: 40, known: 50),
            ])
        #expect(
            try effects(stores[0], own: 1)[2...] == [.void(.notBound), .void(.ofItself), .void(.noEffect)])
    }

    @Test func `of two roles for one device the one that counts holds`() throws {
        let stores = try pair(StoreBed(.sqliteInTmpfs))
        let fact = TestDevice(8, name: "kiosk").fact
        let reader = MemberFact(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding,
            discoveryKey: fact.discoveryKey, role: .reader, name: "kiosk")
        _ = try stores[0].append([.operations([.addMember(reader)])], wallMilliseconds: 40)
        #expect(try effects(stores[0], own: 1).last == .holds)
        _ = try stores[0].append([.operations([.addMember(fact)])], wallMilliseconds: 50)
        #expect(try effects(stores[0], own: 1)[2...] == [.void(.otherRole), .holds])
        let last = try stores[0].trust(after: 0, limit: 10).suffix(2).map(\.fact.admission)
        #expect(last.map { $0?.role } == [.reader, .writer] && last.allSatisfy { $0?.name == "kiosk" })
    }

    // MARK: Blocks

    @Test(arguments: StoreKind.allCases)
    func `blocks and their ends are lines of this node, and the last one holds`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let stores = try pair(bed)
        for (isBlocked, wall) in [(true, Int64(40)), (true, 41), (false, 42), (false, 43), (true, 44)] {
            try stores[0].setBlocked(TestDevice(2).id, isBlocked, wallMilliseconds: wall)
        }
        #expect(
            try lines(stores[0])[2...] == [
                Line(.block, by: 1, of: 2, at: 40, known: 40), Line(.unblock, by: 1, of: 2, at: 42, known: 42),
                Line(.block, by: 1, of: 2, at: 44, known: 44),
            ])
        #expect(try effects(stores[0], own: 1)[2...] == [.void(.undone), .void(.undone), .holds])
        try converge(stores)
        #expect(try lines(stores[1]).count == 2, "a block is no fact of the space")
    }

    // MARK: Bounds

    @Test func `of facts that a member repeats without end the first and the newest stay`() throws {
        let stores = try pair(StoreBed(.sqliteInTmpfs))
        for wall in 100..<140 { try admit(stores[1], 3, at: Int64(wall)) }
        try pull(stores[0], from: stores[1], at: 200)
        let times = try lines(stores[0]).filter { $0.author == 2 && $0.device == 3 }.compactMap(\.at)
        #expect(times == Array(100..<108) + Array(132..<140))
        // Of others nothing is lost by that.
        #expect(try lines(stores[0]).filter { $0.author == 1 }.count == 1)
    }

    @Test func `an author has at most a thousand lines, whatever it invents`() throws {
        let stores = try pair(StoreBed(.sqliteInTmpfs))
        // Invented keys: no device bound anything, and the facts are stored all the same.
        let known = TestDevice(9).fact
        func invented(_ number: Int) -> SyncModel.Operation {
            .addMember(
                MemberFact(
                    subjectPublicKeyInfo: Array(known.subjectPublicKeyInfo.dropLast(2))
                        + [UInt8(number >> 8), UInt8(number & 255)],
                    signingKey: known.signingKey, binding: known.binding, discoveryKey: known.discoveryKey,
                    role: .writer, name: "invented"))
        }
        for start in stride(from: 0, to: 1_280, by: 64) {
            let facts = (start..<start + 64).map(invented)
            _ = try stores[1].append([.operations(facts)], wallMilliseconds: Int64(1_000 + start))
        }
        try pull(stores[0], from: stores[1], at: 5_000)
        let lines = try lines(stores[0])
        #expect(lines.filter { $0.author == 2 }.count == 1_000)
        #expect(lines.first == Line(.admission, by: 1, of: 2, at: 10, known: 10))
        #expect(lines.last?.at == Int64(1_000 + 1_216))
    }
}
