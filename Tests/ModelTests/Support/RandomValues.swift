import SyncModel

extension SeededGenerator {
    /// A few devices only, so that random values meet.
    mutating func replica(of deviceCount: Int = 4) -> ReplicaID {
        let number = UInt8(Int.random(in: 0..<deviceCount, using: &self))
        let device = DeviceID(bytes: [UInt8](repeating: number, count: DeviceID.byteCount))!
        return ReplicaID(device: device, incarnation: UInt64.random(in: 0..<2, using: &self))
    }

    mutating func vector() -> VersionVector {
        var entries: [VersionVector.Entry] = []
        for _ in 0..<Int.random(in: 0..<14, using: &self) {
            entries.append(VersionVector.Entry(replica: replica(), next: UInt64.random(in: 0..<4, using: &self)))
        }
        return VersionVector(entries)
    }

    mutating func operation() -> Operation {
        switch Int.random(in: 0..<4, using: &self) {
        case 0:
            .appendEvent(
                Operation.Event(
                    stream: "näme-\(next() % 100)", type: chance(50) ? "t\(next() % 9)" : nil,
                    payload: Array("[\(next() % 1000),\"ü\"]".utf8)))
        case 1:
            .unknown(
                kind: edgy(below: 1 << 62) + 3, span: edgy(below: 1_000) + 1,
                body: bytes(Int.random(in: 0..<200, using: &self)))
        case 2: .unknown(kind: Operation.Kind.appendEvent, span: 1, body: bytes(3))
        default: .event(Int(next() % 100))
        }
    }

    mutating func change() -> Change {
        let context = vector().entries.map { entry in
            VersionVector.Entry(replica: entry.replica, next: edgy(below: 1 << 61) + 1)
        }
        let wall = Int64.random(in: -Limits.wallMilliseconds...Limits.wallMilliseconds, using: &self)
        return Change(
            start: edgy(below: 1 << 61), stamp: Stamp(rawValue: next()), wallMilliseconds: wall, context: context,
            operations: (0..<Int.random(in: 1..<6, using: &self)).map { _ in operation() })
    }

    /// A statement of any kind that nobody signed.
    mutating func statement() -> TrustStatement {
        let device = replica().device
        var incarnation: UInt64 = 0
        let ends = (0..<Int.random(in: 0..<3, using: &self)).map { _ in
            incarnation += 1 + next() % 9
            return TrustStatement.End(incarnation: incarnation, end: edgy(below: 1 << 61) + 1)
        }
        let role = MemberFact.Role.allCases.randomElement(using: &self)!
        let content: TrustStatement.Content =
            switch Int.random(in: 0..<4, using: &self) {
            case 0: .role(device, role, ends: ends)
            case 1: .readmission(device, role, ends: ends)
            case 2: .revocation(device, ends: ends, wipes: chance(50))
            default: .recoveryKey(bytes(32))
            }
        let knows = VersionVector(
            vector().entries.prefix(2).map { VersionVector.Entry(replica: $0.replica, next: $0.next + 1) })
        let signature = bytes(64)
        return TrustStatement(
            content, by: chance(50) ? .author : .recoveryKey, knows: knows, at: Dot(replica: replica(), counter: 0),
            in: .home
        ) { _ in signature }
    }
}
