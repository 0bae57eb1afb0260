import SyncModel
import Testing

/// What a relay can do to a history on its way, and that each is seen.
@Suite struct ChainTests {
    private let device: TestDevice
    private let empty: ReplicaTip
    private let segment: Segment

    init() throws {
        device = try TestDevice(1)
        empty = .empty(space: .home, replica: device.replica())
        var author = device.author()
        segment = try device.segments((0..<5).map { [.event($0)] }, with: &author)[0].segment
    }

    /// The changes of the segment, each with its own bytes.
    private var changes: [[UInt8]] {
        var reader = ByteReader(segment.bytes)
        var parts: [[UInt8]] = []
        while !reader.isAtEnd {
            guard let view = try? ChangeView(&reader) else { return [] }
            parts.append(Array(segment.bytes[view.range]))
        }
        return parts
    }

    private func altered(
        bytes: [UInt8]? = nil, start: UInt64? = nil, end: UInt64? = nil, replica: ReplicaID? = nil,
        signature: [UInt8]? = nil
    ) -> Segment {
        Segment(
            replica: replica ?? segment.replica, start: start ?? segment.start, end: end ?? segment.end,
            bytes: bytes ?? segment.bytes, signature: signature ?? segment.signature)
    }

    private func isRefused(_ segment: Segment, from tip: ReplicaTip? = nil, space: SpaceID = .home) -> Bool {
        (try? segment.verified(from: tip ?? empty, space: space, signingKey: device.signingKey)) == nil
    }

    @Test func `what the author wrote is accepted`() throws {
        let verified = try segment.verified(from: empty, space: .home, signingKey: device.signingKey)
        #expect(verified.changeCount == 5)
        #expect(verified.tip.next == 5)
        #expect(changes.count == 5)
    }

    @Test
    func `a statement on roles under another signature is refused, and one of the recovery key is left to the law`()
        throws
    {
        let content = TrustStatement.Content.revocation(try TestDevice(2).id, ends: [], wipes: false)
        let dot = Dot(replica: device.replica(), counter: 1)
        func isTaken(_ statement: TrustStatement) throws -> Bool {
            var author = device.author()
            let segment = try device.segments([[.event(1)], [.trust(statement)]], with: &author)[0].segment
            return !isRefused(segment)
        }
        func statement(at dot: Dot, sign: ([UInt8]) -> [UInt8]) -> TrustStatement {
            TrustStatement(content, by: .author, knows: VersionVector(), at: dot, in: .home, sign: sign)
        }
        #expect(try isTaken(statement(at: dot, sign: device.sign)))
        #expect(try !isTaken(statement(at: dot, sign: try TestDevice(2).sign)))
        #expect(try !isTaken(statement(at: Dot(replica: dot.replica, counter: 9), sign: device.sign)))
        #expect(try isTaken(TrustStatement(content, by: RecoveryKey(), knows: VersionVector(), at: dot, in: .home)))
    }

    @Test func `an altered, dropped, repeated or reordered change is refused`() {
        for index in segment.bytes.indices {
            var bytes = segment.bytes
            bytes[index] ^= 1
            #expect(isRefused(altered(bytes: bytes)))
        }
        let changes = changes
        for index in changes.indices {
            var dropped = changes
            dropped.remove(at: index)
            #expect(isRefused(altered(bytes: Array(dropped.joined()))))
            #expect(isRefused(altered(bytes: Array((changes[...index] + changes[index...]).joined()))))
        }
        #expect(isRefused(altered(bytes: Array(changes.reversed().joined()))))
        #expect(isRefused(altered(bytes: Array(changes.dropLast().joined()), end: 4)))
    }

    @Test func `a segment under another replica, space, place or key is refused`() throws {
        #expect(isRefused(altered(replica: device.replica(2))))
        #expect(isRefused(segment, space: SpaceID(bytes: [UInt8](repeating: 1, count: 16))!))
        #expect(isRefused(altered(start: 1)))
        #expect(isRefused(altered(end: 6)))
        let later = try segment.walked(from: empty).tip
        #expect(isRefused(segment, from: later))
        #expect(isRefused(altered(signature: [UInt8](repeating: 0, count: 64))))
        #expect(isRefused(altered(signature: [])))
        let stranger = try TestDevice(2).signingKey
        #expect(throws: SegmentError.badSignature) {
            try segment.verified(from: empty, space: .home, signingKey: stranger)
        }
        #expect(throws: SegmentError.badSignature) {
            try segment.verified(from: empty, space: .home, signingKey: [1, 2, 3])
        }
    }

    @Test func `a signature of one head is none of another`() throws {
        var author = device.author()
        let other = try device.segments((0..<5).map { [.event($0 + 100)] }, with: &author)[0].segment
        #expect(isRefused(altered(signature: other.signature)))
    }

    @Test func `a fork shows as two heads at one counter`() throws {
        var original = device.author()
        let first = try device.segments([[.event(1)]], with: &original)[0]
        var copied = original
        let left = try device.segments([[.event(2)]], with: &original)[0]
        let right = try device.segments([[.event(3)]], with: &copied)[0]
        #expect(left.tip.next == right.tip.next)
        #expect(left.tip.head != right.tip.head)
        #expect(left.tip.digestTerm(of: device.replica()) != right.tip.digestTerm(of: device.replica()))
        // Each verifies from the common part, neither behind the other.
        for branch in [left, right] {
            _ = try branch.segment.verified(from: first.tip, space: .home, signingKey: device.signingKey)
        }
        #expect(isRefused(right.segment, from: left.tip))
    }

    @Test func `stamps that stand still, fall or leap within a segment are refused`() throws {
        func segment(_ stamps: [UInt64]) throws -> Segment {
            var head = empty.head
            var bytes: [UInt8] = []
            for (index, stamp) in stamps.enumerated() {
                let change = Change(
                    start: UInt64(index), stamp: Stamp(rawValue: stamp), wallMilliseconds: 0, context: [],
                    operations: [.event(index)]
                ).encoded
                var reader = ByteReader(change)
                head = head.appending(try ChangeView(&reader).digest(in: change))
                bytes += change
            }
            let end = UInt64(stamps.count)
            let message = ChainSignature.message(space: .home, replica: device.replica(), end: end, head: head)
            return Segment(
                replica: device.replica(), start: 0, end: end, bytes: bytes, signature: device.sign(message))
        }
        #expect(!isRefused(try segment([5, 6])))
        for stamps in [[5, 5], [5, 4], [0], [5, UInt64.max]] as [[UInt64]] { #expect(isRefused(try segment(stamps))) }
        let leap = try segment([.max]).verified(from: empty, space: .home, signingKey: device.signingKey)
        #expect(!leap.isReachable(from: .zero))
        #expect(leap.isReachable(from: Stamp(rawValue: .max - 1)))
    }
}
