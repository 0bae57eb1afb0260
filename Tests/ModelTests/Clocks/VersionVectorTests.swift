import SyncModel
import Testing

@Suite struct VersionVectorTests {
    private let a = ReplicaID(device: DeviceID(bytes: [UInt8](repeating: 1, count: 32))!, incarnation: 7)
    private let b = ReplicaID(device: DeviceID(bytes: [UInt8](repeating: 2, count: 32))!, incarnation: 7)

    private func vector(_ entries: (ReplicaID, UInt64)...) -> VersionVector {
        VersionVector(entries.map { VersionVector.Entry(replica: $0.0, next: $0.1) })
    }

    @Test func `a vector with fewer replicas is before one that has them too`() {
        #expect(vector((a, 1)).relation(to: vector((a, 1), (b, 1))) == .before)
        #expect(vector((a, 1), (b, 1)).relation(to: vector((a, 1))) == .after)
        #expect(vector((a, 1)).relation(to: vector((b, 1))) == .concurrent)
        #expect(vector((a, 2)).relation(to: vector((a, 1), (b, 1))) == .concurrent)
        #expect(VersionVector().relation(to: VersionVector()) == .equal)
    }

    @Test func `an entry of zero says nothing and is not kept`() {
        #expect(vector((a, 0)) == VersionVector())
        var vector = vector((a, 3))
        vector.advance(b, to: 0)
        #expect(vector.entries.count == 1)
    }

    @Test func `advancing never lowers an entry`() {
        var vector = vector((a, 3))
        vector.advance(a, to: 2)
        #expect(vector.next(of: a) == 3)
        #expect(vector.covers(Dot(replica: a, counter: 2)))
        #expect(!vector.covers(Dot(replica: a, counter: 3)))
    }

    @Test(arguments: 0..<20) func `join is commutative, associative, idempotent and the least cover`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let (x, y, z) = (random.vector(), random.vector(), random.vector())
            #expect(joined(x, y) == joined(y, x))
            #expect(joined(joined(x, y), z) == joined(x, joined(y, z)))
            #expect(joined(x, x) == x)
            #expect(joined(x, y).covers(x) && joined(x, y).covers(y))
            // Least: whatever covers both covers the join.
            if z.covers(x), z.covers(y) { #expect(z.covers(joined(x, y))) }
            #expect(joined(x, y) == slowJoin(x, y))
        }
    }

    @Test(arguments: 0..<20) func `covers is a partial order and relation tells it`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let (x, y, z) = (random.vector(), random.vector(), random.vector())
            #expect(x.covers(x))
            if x.covers(y), y.covers(x) { #expect(x == y) }
            if x.covers(y), y.covers(z) { #expect(x.covers(z)) }
            #expect(x.covers(y) == y.entries.allSatisfy { x.next(of: $0.replica) >= $0.next })
            #expect((x.relation(to: y) == .equal) == (x == y))
            #expect((x.relation(to: y) == .before) == (y.relation(to: x) == .after))
            #expect(joined(VersionVector(x.entries(beyond: y)), y) == joined(x, y))
        }
    }

    @Test(arguments: 0..<5) func `equal vectors have equal entries whatever the road`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let entries = joined(random.vector(), random.vector()).entries
            var stepwise = VersionVector()
            for entry in entries.shuffled(using: &random) { stepwise.advance(entry.replica, to: entry.next) }
            #expect(stepwise.entries == VersionVector(entries.shuffled(using: &random) + entries).entries)
        }
    }

    private func joined(_ left: VersionVector, _ right: VersionVector) -> VersionVector {
        var result = left
        result.join(right)
        return result
    }

    private func slowJoin(_ left: VersionVector, _ right: VersionVector) -> VersionVector {
        var greatest: [ReplicaID: UInt64] = [:]
        for entry in left.entries + right.entries {
            greatest[entry.replica] = max(greatest[entry.replica] ?? 0, entry.next)
        }
        var result = VersionVector()
        for (replica, next) in greatest { result.advance(replica, to: next) }
        return result
    }
}
