import Crypto
import SyncModel

/// The statements on roles of which the vectors are made: one of each kind, at counter 12 of the example's history.
struct TrustExample {
    let replica: ReplicaID
    let other: ReplicaID
    /// Signs as the author.
    let sign: ([UInt8]) -> [UInt8]

    static let recoveryKey = RecoveryKey(bytes: [UInt8](repeating: 0x66, count: 32))!

    var dot: Dot { Dot(replica: replica, counter: 12) }

    private var ends: [TrustStatement.End] { [TrustStatement.End(incarnation: 9, end: 300)] }

    private func statement(_ content: TrustStatement.Content) -> TrustStatement {
        TrustStatement(content, by: .author, knows: knows, at: dot, in: .home, sign: sign)
    }

    private var role: TrustStatement.Content { .role(other.device, .reader, ends: ends) }

    private var revocation: TrustStatement {
        let ends = ends + [TrustStatement.End(incarnation: 10, end: 1)]
        return statement(.revocation(other.device, ends: ends, wipes: true))
    }

    private var knows: VersionVector {
        VersionVector([
            VersionVector.Entry(replica: other, next: 300), VersionVector.Entry(replica: replica, next: 5),
        ])
    }

    /// By the recovery key.
    private var readmission: TrustStatement {
        TrustStatement(
            .readmission(other.device, .admin, ends: ends), by: Self.recoveryKey, knows: knows, at: dot, in: .home)
    }

    /// The word of the device that was revoked; signed with the author's key, so that the example needs no other.
    private var receipt: WipeReceipt {
        WipeReceipt(of: other.device, statement: dot, milliseconds: 1_700_000_000_000, in: .home, sign: sign)
    }

    private var receiptMessage: [UInt8] {
        var signed: [UInt8] = []
        _ = WipeReceipt(of: other.device, statement: dot, milliseconds: 1_700_000_000_000, in: .home) { message in
            signed = message
            return sign(message)
        }
        return signed
    }

    /// The bytes that an author signs.
    private var message: [UInt8] {
        var signed: [UInt8] = []
        _ = TrustStatement(role, by: .author, knows: knows, at: dot, in: .home) { message in
            signed = message
            return sign(message)
        }
        return signed
    }

    var parts: [(String, [UInt8])] {
        [
            ("trust.message", message), ("recovery.public", Self.recoveryKey.publicKey),
            ("receipt.message", receiptMessage),
        ]
    }

    var statements: [(String, TrustStatement)] {
        [
            ("role", statement(role)), ("readmission", readmission), ("revocation", revocation),
            ("recovery_key", statement(.recoveryKey(Self.recoveryKey.publicKey))),
        ]
    }

    var frames: [(String, Frame)] {
        let said = [revocation, readmission].map { PlacedStatement(dot: dot, statement: $0) }
        var hello = Frame.Hello.sample()
        hello.runID = 0x0102_0304_0506_0708
        hello.statementCount = 2
        var wiped = Frame.Hello.sample()
        wiped.runID = hello.runID
        wiped.wipeReceipt = receipt
        return [
            ("hello.statements", .hello(hello)), ("hello.wiped", .hello(wiped)),
            ("goodbye.revoked", .goodbye(Frame.Goodbye(code: "revoked", message: "by 2OAFUY5", statements: said))),
            ("statements", .statements(Frame.Statements(space: .home, statements: [said[1]]))),
        ]
    }
}
