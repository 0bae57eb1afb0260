import SyncModel
import Testing

/// The statements that a node knows: the same table, in whatever causal order they came.
@Suite struct TrustTableTests {
    private let devices: [TestDevice]
    private let key = RecoveryKey(bytes: [UInt8](repeating: 6, count: 32))!

    init() throws { devices = try (1...4).map { try TestDevice($0) } }

    private func dot(_ device: Int, _ counter: UInt64, incarnation: UInt64 = 1) -> Dot {
        Dot(replica: devices[device].replica(incarnation), counter: counter)
    }

    private func vector(_ dots: Dot...) -> VersionVector {
        VersionVector(dots.map { VersionVector.Entry(replica: $0.replica, next: $0.counter + 1) })
    }

    private func statement(
        _ content: TrustStatement.Content, at dot: Dot, knows: VersionVector
    ) -> TrustStatement {
        let author = devices.first { $0.id == dot.replica.device }
        return TrustStatement(content, by: .author, knows: knows, at: dot, in: .home) { author?.sign($0) ?? [] }
    }

    private func revocation(of device: Int, at dot: Dot, knows: VersionVector) -> TrustStatement {
        statement(.revocation(devices[device].id, ends: [], wipes: false), at: dot, knows: knows)
    }

    /// A fact that a node takes, and what must have come before.
    private struct Fact {
        let dot: Dot
        let context: VersionVector
        /// Nil for the beginning of a history.
        let statement: TrustStatement?
    }

    /// The add-facts that all know.
    private var additions: [Dot] { [dot(0, 0), dot(0, 1), dot(1, 0)] }

    /// 0 and 1 revoke 2 at the same time; 0 lets it in again knowing both, and 2 begins a history behind that; 1 revokes 3 without
    /// having heard; the recovery key speaks on 3's own device.
    private var facts: [Fact] {
        let (byFirst, bySecond, back) = (dot(0, 5), dot(1, 4), dot(0, 9))
        let knows = vector(dot(0, 1), dot(1, 0))
        return [
            Fact(dot: byFirst, context: vector(dot(1, 0)), statement: revocation(of: 2, at: byFirst, knows: knows)),
            Fact(dot: bySecond, context: vector(dot(0, 1)), statement: revocation(of: 2, at: bySecond, knows: knows)),
            Fact(
                dot: back, context: vector(bySecond),
                statement: statement(
                    .readmission(devices[2].id, .writer, ends: []), at: back, knows: vector(byFirst, bySecond))),
            Fact(dot: dot(2, 0, incarnation: 8), context: vector(back, bySecond), statement: nil),
            // It knows of nothing that is about its device.
            Fact(dot: dot(2, 0, incarnation: 9), context: vector(dot(0, 1)), statement: nil),
            Fact(
                dot: dot(1, 6), context: vector(byFirst),
                statement: revocation(of: 3, at: dot(1, 6), knows: vector(byFirst, bySecond))),
            Fact(
                dot: dot(3, 2), context: vector(back, dot(1, 6)),
                statement: TrustStatement(
                    .readmission(devices[3].id, .admin, ends: []), by: key, knows: knows, at: dot(3, 2), in: .home)),
        ]
    }

    private func take(_ fact: Fact, _ table: inout TrustTable) -> Bool {
        if fact.dot.counter == 0 { return table.recordStart(of: fact.dot.replica, context: fact.context) }
        guard let statement = fact.statement else { return false }
        return table.record(statement, at: fact.dot, context: fact.context)
    }

    private var whole: TrustTable {
        var table = TrustTable()
        for fact in facts { _ = take(fact, &table) }
        return table
    }

    @Test func `a row says what its author knew, and of each statement there is one`() throws {
        var table = whole
        #expect(table.rows.map(\.dot) == facts.compactMap { $0.statement == nil ? nil : $0.dot }.sorted())
        let back = try #require(table.row(at: dot(0, 9)))
        #expect(back.statement == facts[2].statement)
        #expect(back.knows == vector(dot(0, 5), dot(1, 4)))
        #expect(table.row(at: dot(0, 5))?.knows == vector(dot(0, 1), dot(1, 0)))
        #expect(table.row(at: dot(1, 6))?.knows == vector(dot(0, 5), dot(1, 4)))
        // The recovery key's is complete by itself, whatever its change had seen.
        #expect(table.row(at: dot(3, 2))?.knows == vector(dot(0, 1), dot(1, 0)))
        #expect(table.row(at: dot(3, 3)) == nil)
        let before = table
        let news = facts.map { take($0, &table) }
        #expect(!news.contains(true))
        // Of two at one place the first is kept: a chain has one.
        let isNews = table.record(
            revocation(of: 1, at: dot(0, 9), knows: VersionVector()), at: dot(0, 9), context: VersionVector())
        #expect(!isNews)
        #expect(table == before)
    }

    @Test func `a history begins behind the statements about its device that its first change knew`() {
        let replica = devices[2].replica(8)
        #expect(whole.starts.map(\.replica) == [replica, replica, replica])
        #expect(whole.starts.map(\.statement) == [dot(0, 5), dot(0, 9), dot(1, 4)].sorted())
    }

    @Test func `in every order in which causes come first the table is the same, byte for byte`() {
        let (facts, expected) = (facts, whole)
        // Causes are before their effects in the list, and of a history what is before.
        func mayCome(_ index: Int, _ taken: [Int]) -> Bool {
            facts.indices.allSatisfy { cause in
                let earlier = facts[cause].dot
                let isCause =
                    cause != index
                    && (facts[index].context.covers(earlier)
                        || earlier.replica == facts[index].dot.replica && earlier.counter < facts[index].dot.counter)
                return !isCause || taken.contains(cause)
            }
        }
        var orders = 0
        func go(_ taken: [Int], _ table: TrustTable) {
            guard taken.count < facts.count else {
                orders += 1
                #expect(table == expected && table.canonicalBytes == expected.canonicalBytes, "\(taken)")
                return
            }
            for index in facts.indices where !taken.contains(index) && mayCome(index, taken) {
                var table = table
                _ = take(facts[index], &table)
                go(taken + [index], table)
            }
        }
        go([], TrustTable())
        #expect(orders > 20, "the facts can come in \(orders) orders")
    }

    @Test func `a statement of the recovery key that came apart is the one that its history brings`() throws {
        let fact = try #require(facts.last)
        let statement = try #require(fact.statement)
        var (apart, table) = (TrustTable(), TrustTable())
        let isNews = apart.record(statement, at: fact.dot)
        #expect(isNews)
        let isNewsAgain = apart.record(statement, at: fact.dot)
        #expect(!isNewsAgain)
        let isNewsByHistory = take(fact, &apart)
        #expect(!isNewsByHistory)
        _ = take(fact, &table)
        #expect(apart == table)
        // One that a device made in its own name comes with its history.
        let other = try #require(facts.first)
        let isTaken = apart.record(try #require(other.statement), at: other.dot)
        #expect(!isTaken && apart == table)
    }

    @Test func `tables join to what both know, in either order, and twice is once`() {
        for split in 0...facts.count {
            var (left, right) = (TrustTable(), TrustTable())
            for fact in facts.prefix(split) { _ = take(fact, &left) }
            for fact in facts { _ = take(fact, &right) }
            var (one, other) = (left, right)
            one.join(right)
            other.join(left)
            #expect(one == whole && other == whole)
            one.join(other)
            #expect(one == whole)
        }
        // Of two that took different parts.
        var (first, second) = (TrustTable(), TrustTable())
        _ = take(facts[0], &first)
        _ = take(facts[1], &second)
        var (one, other) = (first, second)
        one.join(second)
        other.join(first)
        #expect(one == other && one.rows.map(\.dot) == [dot(0, 5), dot(1, 4)].sorted())
    }

    @Test func `what a node knows is all statements and add-facts, of each history all before a counter`() {
        #expect(whole.known(with: additions) == vector(dot(0, 9), dot(1, 6), dot(3, 2)))
        #expect(TrustTable().known(with: additions) == vector(dot(0, 1), dot(1, 0)))
        #expect(whole.known(with: [dot(2, 7)]) == vector(dot(0, 9), dot(1, 6), dot(2, 7), dot(3, 2)))
    }

    // MARK: Bytes

    private func read(_ bytes: [UInt8]) throws(CodecError) -> TrustTable {
        var reader = ByteReader(bytes)
        let table = try TrustTable(reading: &reader)
        guard reader.isAtEnd else { throw .trailingBytes }
        return table
    }

    @Test func `a table reads back, and nothing shorter does`() throws {
        #expect(whole.starts.count == 3)
        for table in [TrustTable(), whole] {
            let bytes = table.canonicalBytes
            #expect(try read(bytes) == table)
            for length in 0..<bytes.count {
                #expect(throws: CodecError.self, "\(length) bytes") { _ = try read(Array(bytes.prefix(length))) }
            }
        }
        #expect(TrustTable().canonicalBytes == [0, 0])
    }

    @Test func `rows and starts are ascending, each once, and a row is as long as it says`() {
        func row(_ dot: Dot, _ trailing: [UInt8] = []) -> [UInt8] {
            var bytes = dot.replica.bytes
            bytes.append(varint: dot.counter)
            bytes.append(lengthPrefixed: revocation(of: 2, at: dot, knows: VersionVector()).canonicalBytes + trailing)
            return bytes
        }
        func start(_ replica: ReplicaID, _ dot: Dot) -> [UInt8] {
            var bytes = replica.bytes + dot.replica.bytes
            bytes.append(varint: dot.counter)
            return bytes
        }
        let (first, second) = (dot(0, 5), dot(0, 6))
        #expect(throws: Never.self) { _ = try read([2] + row(first) + row(second) + [0]) }
        for wrong in [[2] + row(second) + row(first) + [0], [2] + row(first) + row(first) + [0]] {
            #expect(throws: CodecError.outOfRange(field: "trust.rows")) { _ = try read(wrong) }
        }
        #expect(throws: CodecError.trailingBytes) { _ = try read([1] + row(first, [0]) + [0]) }
        let replica = devices[2].replica(8)
        #expect(throws: Never.self) { _ = try read([0, 2] + start(replica, first) + start(replica, second)) }
        for wrong in [
            [0, 2] + start(replica, second) + start(replica, first),
            [0, 2] + start(replica, first) + start(replica, first),
        ] {
            #expect(throws: CodecError.outOfRange(field: "trust.starts")) { _ = try read(wrong) }
        }
    }
}
