import SyncModel
import Testing

/// Statements by devices that cannot be admins. Device 1 founded the space and let in 2, a writer.
@Suite struct IdleStatementTests {
    private let devices: [TestDevice]
    private let space = SpaceID.home

    init() throws { devices = try (1...4).map { try TestDevice($0) } }

    private func dot(_ device: Int, _ counter: UInt64) -> Dot {
        Dot(replica: devices[device - 1].replica(), counter: counter)
    }

    /// - Parameter knows: per device, the counter before which all is known.
    private func statement(
        _ content: TrustStatement.Content, by device: Int, at counter: UInt64, knows: [Int: UInt64] = [:]
    ) -> TrustStatement {
        let known = knows.map { VersionVector.Entry(replica: devices[$0.key - 1].replica(), next: $0.value) }
        return TrustStatement(
            content, by: .author, knows: VersionVector(known), at: dot(device, counter), in: space,
            sign: devices[device - 1].sign)
    }

    private func law(_ table: TrustTable, _ more: [TrustLaw.Addition] = [], key: RecoveryKey? = nil) -> TrustLaw {
        let added = TrustLaw.Addition(device: devices[1].id, role: .writer, dot: dot(1, 0))
        return TrustLaw(table, [added] + more, founder: devices[0].id, key: key?.publicKey, space: space)
    }

    @Test func `what a writer says of roles is not judged, however much it is`() {
        var table = TrustTable()
        for counter in 0..<300 as Range<UInt64> {
            let content: TrustStatement.Content =
                counter.isMultiple(of: 2)
                ? .role(devices[1].id, .admin, ends: []) : .revocation(devices[0].id, ends: [], wipes: false)
            _ = table.record(
                statement(content, by: 2, at: counter), at: dot(2, counter), context: VersionVector())
        }
        #expect(law(table).rows.isEmpty)
        #expect(law(table).role(of: devices[0].id) == .admin && law(table).role(of: devices[1].id) == .writer)
        // An accomplice that it calls an admin makes it none.
        let accomplice = TrustLaw.Addition(device: devices[2].id, role: .admin, dot: dot(2, 500))
        #expect(law(table, [accomplice]).rows.isEmpty)
    }

    @Test func `what a device said is judged where a chain of facts makes it an admin`() {
        var table = TrustTable()
        let known = VersionVector([VersionVector.Entry(replica: dot(1, 0).replica, next: 2)])
        _ = table.record(
            statement(.role(devices[1].id, .admin, ends: []), by: 1, at: 1, knows: [1: 1]), at: dot(1, 1),
            context: VersionVector())
        _ = table.record(
            statement(.revocation(devices[2].id, ends: [], wipes: false), by: 2, at: 0, knows: [1: 2]), at: dot(2, 0),
            context: known)
        #expect(law(table).rows.count == 2)
        let third = TrustLaw.Addition(device: devices[2].id, role: .writer, dot: dot(1, 5))
        #expect(law(table, [third]).role(of: devices[2].id) == nil)
    }

    @Test func `a node keeps no statement without effect, so none takes the place of a real one`() {
        var members = MemberFacts()
        members.add(devices[1].id, role: .writer, at: dot(1, 0))
        var cuts = CutTable()
        cuts.follow(devices[0].id, recoveryKey: nil, in: space, members: members)
        // As a member may hand them on, at a place that the founder has not reached: there is no recovery key.
        let forged = TrustStatement(
            .revocation(devices[0].id, ends: [], wipes: true), by: RecoveryKey(), knows: VersionVector(), at: dot(1, 5),
            in: space)
        _ = cuts.record(PlacedStatement(dot: dot(1, 5), statement: forged), members: members)
        #expect(cuts.trust.isEmpty && cuts.verdicts == nil)
        func take(_ statement: TrustStatement, at dot: Dot) {
            _ = cuts.record(dot, context: VersionVector(), [(dot: dot, says: .trust(statement))], members: members)
        }
        for counter in 0..<20 as Range<UInt64> {
            let content = TrustStatement.Content.revocation(devices[0].id, ends: [], wipes: false)
            take(statement(content, by: 2, at: counter), at: dot(2, counter))
        }
        #expect(cuts.trust.isEmpty && cuts.verdicts == nil)
        let content = TrustStatement.Content.revocation(devices[1].id, ends: [], wipes: false)
        take(statement(content, by: 1, at: 5, knows: [1: 5]), at: dot(1, 5))
        #expect(cuts.isRevoked(devices[1].id))
    }

    @Test func `a statement that other members judge otherwise is kept for them`() {
        let (own, other, third) = (devices[0].id, devices[1].id, devices[2].id)
        func revoked(others founder: DeviceID) -> (here: Bool, there: Bool) {
            var members = MemberFacts()
            members.add(other, role: .writer, founder: own, at: dot(1, 0))
            members.add(own, role: .writer, founder: founder, at: dot(2, 0))
            members.add(third, role: .writer, founder: founder, at: dot(2, 1))
            var (here, there) = (CutTable(), CutTable())
            here.follow(own, recoveryKey: nil, in: space, members: members)
            there.follow(other, recoveryKey: nil, in: space, members: members)
            let revocation = statement(.revocation(third, ends: [], wipes: false), by: 2, at: 2, knows: [2: 2])
            let says = CutStatement.trust(revocation)
            _ = here.record(dot(2, 2), context: VersionVector(), [(dot: dot(2, 2), says: says)], members: members)
            // As it hands on what it knows.
            there.join(here, members: members)
            return (here.isRevoked(third), there.isRevoked(third))
        }
        #expect(revoked(others: other) == (false, true), "2 is a founder, too")
        #expect(revoked(others: own) == (false, false), "no member follows 2, a writer")
    }

    @Test func `a device that only a reader let in is barred`() {
        let reader = TrustLaw.Addition(device: devices[1].id, role: .reader, dot: dot(1, 0))
        let guest = TrustLaw.Addition(device: devices[2].id, role: .writer, dot: dot(2, 0))
        let law = TrustLaw(TrustTable(), [reader, guest], founder: devices[0].id, key: nil, space: space)
        #expect(law.isBarred(devices[2].id) && law.role(of: devices[2].id) == nil)
        #expect(!law.isBarred(devices[1].id) && law.role(of: devices[1].id) == .reader)
        // One that no fact connects with the founder: its host is not known yet.
        #expect(!law.isBarred(devices[3].id))
    }

    @Test func `an author claims to know no more than it had seen, in no history and in no table`() throws {
        let dot = dot(2, 3)
        let held = VersionVector(
            [(1, 6), (2, 4)].map { VersionVector.Entry(replica: self.dot($0, 0).replica, next: $1) })
        func table(_ knows: [Int: UInt64]) throws -> TrustTable {
            var bytes: [UInt8] = []
            bytes.append(varint: 1)
            bytes += dot.replica.bytes
            bytes.append(varint: dot.counter)
            bytes.append(
                lengthPrefixed: statement(
                    .readmission(devices[1].id, .admin, ends: []), by: 2, at: 3, knows: knows
                ).canonicalBytes)
            bytes.append(varint: 0)
            var reader = ByteReader(bytes)
            return try TrustTable(reading: &reader)
        }
        func expect(_ isTaken: Bool, _ knows: [Int: UInt64], _ comment: Comment? = nil) throws {
            let claimed = try table(knows)
            #expect(claimed.isWithin(held, besides: TrustTable()) == isTaken, comment)
            var taken = TrustTable()
            #expect(taken.record(claimed.rows[0].statement, at: dot, context: held) == isTaken, comment)
        }
        try expect(true, [1: 6, 2: 3])
        try expect(true, [:])
        try expect(false, [1: 7])
        try expect(false, [2: 4], "it knows itself")
        try expect(false, [3: 1])
        let before = VersionVector([VersionVector.Entry(replica: dot.replica, next: 3)])
        #expect(try !table([:]).isWithin(before, besides: TrustTable()), "the statement is not there yet")
        #expect(try table([1: 7]).isWithin(held, besides: try table([1: 7])), "what is known here is not asked")
    }

    @Test func `a statement that claims to be the recovery key's is not judged unless it is`() {
        var table = TrustTable()
        let (key, other) = (RecoveryKey(), RecoveryKey())
        for (counter, signer) in [(0, other), (1, key)] as [(UInt64, RecoveryKey)] {
            let statement = TrustStatement(
                .role(devices[1].id, .admin, ends: []), by: signer, knows: VersionVector(), at: dot(2, counter),
                in: space)
            _ = table.record(statement, at: dot(2, counter))
        }
        #expect(law(table, key: key).rows.map(\.dot) == [dot(2, 1)])
        #expect(law(table).rows.isEmpty, "without a key nothing is the key's")
        #expect(law(table, key: key).role(of: devices[1].id) == .admin)
    }

    /// The key that a node knows which hears of a revocation of the founder, and then of the key at the founder's third counter.
    private func keyLearned(_ ends: [TrustStatement.End], by author: Int, knowing counter: UInt64) -> [UInt8]? {
        var members = MemberFacts()
        members.add(devices[1].id, role: .admin, at: dot(1, 0))
        var cuts = CutTable()
        cuts.follow(devices[0].id, recoveryKey: nil, in: space, members: members)
        let revocation = statement(
            .revocation(devices[0].id, ends: ends, wipes: false), by: author, at: 0, knows: [1: counter])
        let key = TrustStatement(
            .recoveryKey([UInt8](repeating: 9, count: 32)), by: .author, knows: VersionVector(), at: dot(1, 2),
            in: space,
            sign: devices[0].sign)
        let known = VersionVector([VersionVector.Entry(replica: dot(1, 0).replica, next: counter)])
        _ = cuts.record(
            dot(author, 0), context: known, [(dot: dot(author, 0), says: .trust(revocation))], members: members)
        _ = cuts.record(dot(1, 2), context: VersionVector(), [(dot: dot(1, 2), says: .trust(key))], members: members)
        return cuts.recoveryKey
    }

    @Test func `a revocation that knows the key and names an end before it takes the key from no newcomer`() {
        #expect(keyLearned([], by: 2, knowing: 3) != nil)
        #expect(keyLearned([TrustStatement.End(incarnation: 1, end: 2)], by: 2, knowing: 3) != nil)
        #expect(keyLearned([TrustStatement.End(incarnation: 1, end: 2)], by: 2, knowing: 2) == nil, "it knew no key")
        #expect(keyLearned([TrustStatement.End(incarnation: 1, end: 3)], by: 2, knowing: 2) != nil, "it ends later")
    }

    @Test func `a founder that was revoked names no recovery key, and one before that stays`() {
        func key(_ keyIsFirst: Bool) -> [UInt8]? {
            var members = MemberFacts()
            members.add(devices[1].id, role: .admin, at: dot(1, 0))
            var cuts = CutTable()
            cuts.follow(devices[0].id, recoveryKey: nil, in: space, members: members)
            let end = TrustStatement.End(incarnation: 1, end: 3)
            let content = TrustStatement.Content.revocation(devices[0].id, ends: [end], wipes: false)
            let revocation = statement(content, by: 2, at: 0, knows: [1: 3])
            let named = keyIsFirst ? dot(1, 2) : Dot(replica: devices[0].replica(7), counter: 0)
            let key = TrustStatement(
                .recoveryKey([UInt8](repeating: 9, count: 32)), by: .author, knows: VersionVector(), at: named,
                in: space,
                sign: devices[0].sign)
            let known = VersionVector([VersionVector.Entry(replica: dot(1, 0).replica, next: 3)])
            let said: [(dot: Dot, statement: TrustStatement, context: VersionVector)] = [
                (dot(2, 0), revocation, known), (named, key, VersionVector()),
            ]
            for (dot, statement, context) in keyIsFirst ? said.reversed() : said {
                _ = cuts.record(dot, context: context, [(dot: dot, says: .trust(statement))], members: members)
            }
            #expect(cuts.isRevoked(devices[0].id))
            return cuts.recoveryKey
        }
        #expect(key(false) == nil)
        #expect(key(true) == [UInt8](repeating: 9, count: 32))
    }
}
