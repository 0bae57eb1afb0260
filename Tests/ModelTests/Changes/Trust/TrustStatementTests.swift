import SyncModel
import Testing

/// A statement on a role as bytes, and what its signature is over.
@Suite struct TrustStatementTests {
    private let author: TestDevice
    private let subject: TestDevice
    private let key = RecoveryKey(bytes: [UInt8](repeating: 6, count: 32))!
    private let dot: Dot

    init() throws {
        (author, subject) = (try TestDevice(1), try TestDevice(2))
        dot = Dot(replica: author.replica(), counter: 12)
    }

    private var ends: [TrustStatement.End] {
        [
            TrustStatement.End(incarnation: 3, end: 1), TrustStatement.End(incarnation: 4, end: 300),
            TrustStatement.End(incarnation: .max, end: Limits.counters),
        ]
    }

    private var contents: [TrustStatement.Content] {
        let roles = MemberFact.Role.allCases
        return roles.flatMap { role -> [TrustStatement.Content] in
            [
                .role(subject.id, role, ends: ends), .role(subject.id, role, ends: []),
                .readmission(subject.id, role, ends: ends), .readmission(subject.id, role, ends: []),
            ]
        } + [
            .revocation(subject.id, ends: ends, wipes: false), .revocation(subject.id, ends: [], wipes: true),
            .recoveryKey(key.publicKey),
        ]
    }

    private func knows(_ entries: [(ReplicaID, UInt64)]) -> VersionVector {
        VersionVector(entries.map { VersionVector.Entry(replica: $0.0, next: $0.1) })
    }

    /// Two by its author and two by the recovery key, of each content.
    private var statements: [TrustStatement] {
        contents.flatMap { content in
            [VersionVector(), knows([(author.replica(), 12), (subject.replica(7), 1)])].flatMap { known in
                [
                    TrustStatement(content, by: .author, knows: known, at: dot, in: .home, sign: author.sign),
                    TrustStatement(content, by: key, knows: known, at: dot, in: .home),
                ]
            }
        }
    }

    private func read(_ bytes: [UInt8]) throws(CodecError) -> TrustStatement {
        var reader = ByteReader(bytes)
        let statement = try TrustStatement(reading: &reader)
        guard reader.isAtEnd else { throw .trailingBytes }
        return statement
    }

    private func expectRefused(
        _ bytes: [UInt8], _ error: CodecError, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: error, sourceLocation: sourceLocation) { _ = try read(bytes) }
    }

    @Test func `each kind, with each signer, reads back as it was written`() throws {
        #expect(Set(statements).count == 60)
        for statement in statements {
            #expect(try read(statement.canonicalBytes) == statement)
            let operation = SyncModel.Operation.trust(statement)
            var bytes: [UInt8] = []
            operation.append(to: &bytes)
            var reader = ByteReader(bytes)
            #expect(SyncModel.Operation(try OperationView(&reader), in: bytes) == operation)
            let placed = PlacedStatement(dot: dot, statement: statement)
            let placedBytes = placed.canonicalBytes
            var placedReader = ByteReader(placedBytes)
            #expect(try PlacedStatement(reading: &placedReader) == placed && placedReader.isAtEnd)
        }
    }

    @Test func `one that is cut off at any byte is refused, and so is one with a byte too many`() {
        for statement in statements {
            let bytes = statement.canonicalBytes
            for length in 0..<bytes.count {
                #expect(throws: CodecError.self, "\(statement.content), \(length) bytes") {
                    _ = try read(Array(bytes.prefix(length)))
                }
            }
            expectRefused(bytes + [0], .trailingBytes)
        }
    }

    @Test func `no single wrong byte traps, and what is accepted is written as it was read`() {
        for statement in statements {
            let bytes = statement.canonicalBytes
            for index in bytes.indices {
                for value in [0, 1, 2, 5, 0x7f, 0x80, 0xff] as [UInt8] {
                    var wrong = bytes
                    wrong[index] = value
                    guard let accepted = try? read(wrong) else { continue }
                    #expect(accepted.canonicalBytes == wrong)
                }
            }
        }
    }

    @Test func `an unknown kind, role, flag or signer is refused`() {
        let role = TrustStatement(
            .role(subject.id, .writer, ends: []), by: .author, knows: VersionVector(), at: dot, in: .home,
            sign: author.sign
        ).canonicalBytes
        for kind in [0, 5, 0x80] as [UInt8] {
            expectRefused([kind] + role.dropFirst(), .outOfRange(field: "trust.kind"))
        }
        func with(_ value: UInt8, at index: Int, in bytes: [UInt8]) -> [UInt8] {
            var bytes = bytes
            bytes[index] = value
            return bytes
        }
        // Kind, device, role, count of ends, signer.
        for value in [0, 4, 0x7f] as [UInt8] {
            expectRefused(with(value, at: 33, in: role), .outOfRange(field: "trust.role"))
        }
        for value in [2, 0xff] as [UInt8] {
            expectRefused(with(value, at: 35, in: role), .outOfRange(field: "trust.signer"))
        }
        // Kind, device, count of ends, flags.
        let revocation = TrustStatement(
            .revocation(subject.id, ends: [], wipes: true), by: .author, knows: VersionVector(), at: dot, in: .home,
            sign: author.sign
        ).canonicalBytes
        #expect(revocation[34] == 1)
        for value in [2, 0x80] as [UInt8] {
            expectRefused(with(value, at: 34, in: revocation), .outOfRange(field: "trust.flags"))
        }
    }

    @Test func `ends are ascending, single and not empty, and there are no more than bytes for them`() {
        func statement(_ ends: [(UInt64, UInt64)]) -> [UInt8] {
            TrustStatement(
                .revocation(
                    subject.id, ends: ends.map { TrustStatement.End(incarnation: $0.0, end: $0.1) }, wipes: false),
                by: .author, knows: VersionVector(), at: dot, in: .home, sign: author.sign
            ).canonicalBytes
        }
        #expect(throws: Never.self) { _ = try read(statement([(1, 1), (2, 1)])) }
        expectRefused(statement([(2, 1), (1, 1)]), .outOfRange(field: "trust.ends"))
        expectRefused(statement([(1, 1), (1, 2)]), .outOfRange(field: "trust.ends"))
        expectRefused(statement([(1, 0)]), .outOfRange(field: "trust.end"))
        expectRefused(statement([(1, Limits.counters + 1)]), .outOfRange(field: "trust.end"))
        var claim = Array(statement([]).prefix(33))
        claim.append(varint: UInt64(Limits.contextEntries) + 1)
        expectRefused(claim + [UInt8](repeating: 0, count: 99), .outOfRange(field: "trust.ends"))
        claim = Array(claim.prefix(33))
        claim.append(varint: UInt64(Limits.contextEntries))
        expectRefused(claim + [UInt8](repeating: 0, count: 99), .truncated)
    }

    @Test func `what its author knew is ascending, and says something of each history it names`() {
        func statement(_ entries: [(ReplicaID, UInt64)]) -> [UInt8] {
            var bytes: [UInt8] = [4] + key.publicKey + [1]
            bytes.append(varint: UInt64(entries.count))
            for (replica, next) in entries {
                bytes += replica.bytes
                bytes.append(varint: next)
            }
            return bytes + [UInt8](repeating: 0, count: 64)
        }
        let replicas = [author.replica(1), author.replica(2)]
        #expect(throws: Never.self) { _ = try read(statement([(replicas[0], 1), (replicas[1], 9)])) }
        expectRefused(statement([(replicas[1], 1), (replicas[0], 9)]), .outOfRange(field: "trust.knows"))
        expectRefused(statement([(replicas[0], 1), (replicas[0], 9)]), .outOfRange(field: "trust.knows"))
        expectRefused(statement([(replicas[0], 0)]), .outOfRange(field: "trust.knows"))
    }

    @Test func `a signature counts for one content, at one place, in one space, by one key`() throws {
        let ours = try #require(statements.first)
        let other = try #require(SpaceID(bytes: [UInt8](repeating: 9, count: SpaceID.home.bytes.count)))
        let dots = [
            Dot(replica: dot.replica, counter: 13), Dot(replica: author.replica(2), counter: 12),
            Dot(replica: subject.replica(), counter: 12),
        ]
        for statement in statements {
            let signer = statement.isRecovery ? key.publicKey : author.signingKey
            #expect(statement.isSigned(by: signer, at: dot, in: .home))
            #expect(!statement.isSigned(by: signer, at: dot, in: other))
            for dot in dots { #expect(!statement.isSigned(by: signer, at: dot, in: .home)) }
            let wrong: [[UInt8]] = [
                subject.signingKey, RecoveryKey().publicKey, statement.isRecovery ? author.signingKey : key.publicKey,
                [], [UInt8](repeating: 0, count: 31), [UInt8](repeating: 0xff, count: 32),
            ]
            for key in wrong { #expect(!statement.isSigned(by: key, at: dot, in: .home)) }
            // The signature of one under the content, or the claim, of another.
            guard statement != ours else { continue }
            let forged = TrustStatement(
                statement.content, by: statement.signer, knows: statement.knows, at: dot, in: .home
            ) { _ in
                ours.signature
            }
            #expect(!forged.isSigned(by: signer, at: dot, in: .home))
            #expect(!forged.isSigned(by: author.signingKey, at: dot, in: .home))
        }
    }

    @Test func `no peer can say that an author knew more, or less, than it signed`() throws {
        let known = knows([(author.replica(), 12), (subject.replica(7), 1)])
        let content = TrustStatement.Content.readmission(subject.id, .writer, ends: [])
        let signed = TrustStatement(content, by: .author, knows: known, at: dot, in: .home, sign: author.sign)
        #expect(signed.isSigned(by: author.signingKey, at: dot, in: .home))
        for other in [VersionVector(), knows([(author.replica(), 12), (subject.replica(7), 2)])] {
            let changed = TrustStatement(content, by: .author, knows: other, at: dot, in: .home) { _ in
                signed.signature
            }
            #expect(!changed.isSigned(by: author.signingKey, at: dot, in: .home))
        }
    }

    @Test func `a statement's bytes are bound by its signature, each of them`() throws {
        for statement in statements {
            let (bytes, signer) = (statement.canonicalBytes, statement.isRecovery ? key.publicKey : author.signingKey)
            for index in 0..<bytes.count {
                var wrong = bytes
                wrong[index] ^= 1
                guard let accepted = try? read(wrong) else { continue }
                #expect(!accepted.isSigned(by: signer, at: dot, in: .home), "byte \(index) of \(statement.content)")
            }
        }
    }

    @Test func `the ends of a device are those of its histories of which something is held, in order`() {
        let tips: [(replica: ReplicaID, next: UInt64)] = [
            (replica: subject.replica(9), next: 4), (replica: author.replica(1), next: 7),
            (replica: subject.replica(2), next: 5), (replica: subject.replica(3), next: 0),
        ]
        #expect(
            TrustStatement.ends(of: subject.id, at: tips)
                == [TrustStatement.End(incarnation: 2, end: 5), TrustStatement.End(incarnation: 9, end: 4)])
    }

    // MARK: Apart from the history

    @Test func `as many statements as fit go, and one that is too long does not keep back those behind it`() {
        func placed(_ counter: UInt64, ends: Int = 0) -> PlacedStatement {
            let ends = (0..<ends).map { TrustStatement.End(incarnation: UInt64($0), end: 1) }
            let dot = Dot(replica: author.replica(), counter: counter)
            return PlacedStatement(
                dot: dot,
                statement: TrustStatement(
                    .revocation(subject.id, ends: ends, wipes: false), by: key, knows: VersionVector(), at: dot,
                    in: .home))
        }
        let all = (0..<40).map { placed($0) }
        let size = all[0].canonicalBytes.count
        #expect(all.allSatisfy { $0.canonicalBytes.count == size })
        #expect(PlacedStatement.fitting(all, upTo: PlacedStatement.byteLimit) == Array(all.prefix(32)))
        #expect(PlacedStatement.fitting(all, upTo: 3 * size) == Array(all.prefix(3)))
        #expect(PlacedStatement.fitting(all, upTo: 3 * size - 1) == Array(all.prefix(2)))
        #expect(PlacedStatement.fitting(all, upTo: size - 1).isEmpty)
        let long = placed(40, ends: 8_000)
        #expect(long.canonicalBytes.count > PlacedStatement.goodbyeByteLimit)
        #expect(
            PlacedStatement.fitting([long, all[0], long, all[1]], upTo: PlacedStatement.goodbyeByteLimit)
                == [all[0], all[1]])
        #expect(PlacedStatement.fitting([long], upTo: PlacedStatement.byteLimit) == [long])
    }
}
