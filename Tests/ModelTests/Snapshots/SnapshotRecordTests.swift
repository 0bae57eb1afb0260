import SyncModel
import Testing

/// What snapshots are called, and which of them serve and may go.
struct SnapshotRecordTests {
    private func replica(_ number: UInt8) -> ReplicaID {
        ReplicaID(device: DeviceID(bytes: [UInt8](repeating: number, count: 32))!, incarnation: 7)
    }

    private func vector(_ entries: (UInt8, UInt64)...) -> VersionVector {
        VersionVector(entries.map { VersionVector.Entry(replica: replica($0.0), next: $0.1) })
    }

    private func key(_ stamp: UInt64) -> CanonicalKey {
        CanonicalKey(stamp: Stamp(rawValue: stamp), dot: Dot(replica: replica(1), counter: 5))
    }

    private func record(isCanonical: Bool = false) -> SnapshotRecord {
        SnapshotRecord(
            space: .home, stream: "plays", schema: 3, consumer: "counter", isCanonical: isCanonical,
            key: isCanonical ? key(9) : nil, vector: vector((1, 4), (2, 1 << 60)),
            blob: BlobHash(bytes: [UInt8](repeating: 8, count: 32))!, size: 12, wallMilliseconds: 1_763_700_000_000)
    }

    @Test func `a record reads back from its fields, whatever their order`() {
        for record in [record(), record(isCanonical: true)] {
            #expect(SnapshotRecord(record.fields) == record)
            #expect(SnapshotRecord(record.fields.reversed()) == record)
        }
    }

    @Test func `a record of which anything was changed is none`() {
        let fields = record(isCanonical: true).fields
        for index in fields.indices {
            for value in [JSONValue.integer(4), .text("arrival"), .text(""), .null] where value != fields[index].value {
                var changed = fields
                changed[index] = JSONValue.Member(key: fields[index].key, value: value)
                #expect(SnapshotRecord(changed) == nil, "\(fields[index].key.string)")
            }
            var missing = fields
            missing.remove(at: index)
            #expect(SnapshotRecord(missing) == nil)
        }
        #expect(SnapshotRecord(fields + [JSONValue.Member(key: "more", value: .integer(1))]) == nil)
    }

    @Test func `keys have the order of their bytes, and nothing stands between one and its predecessor`() {
        let keys = [key(1), key(2), CanonicalKey(stamp: Stamp(rawValue: 2), dot: Dot(replica: replica(2), counter: 0))]
        for key in keys {
            #expect(CanonicalKey(bytes: key.bytes) == key)
            let before = key.predecessor
            #expect(before.map { $0 < key } ?? false)
            #expect(before.map { $0.bytes.lexicographicallyPrecedes(key.bytes) } ?? false)
        }
        #expect(
            key(1).predecessor == CanonicalKey(stamp: Stamp(rawValue: 1), dot: Dot(replica: replica(1), counter: 4)))
        #expect(CanonicalKey(bytes: [UInt8](repeating: 0, count: CanonicalKey.byteCount))?.predecessor == nil)
    }

    private func candidates(_ vectors: [VersionVector]) -> [SnapshotChoice.Candidate] {
        vectors.enumerated().map { SnapshotChoice.Candidate(key: key(UInt64($0.offset + 1)), vector: $0.element) }
    }

    @Test func `the best is the newest of those that no other one holds more than`() {
        // The newest was saved by a consumer that lags behind.
        let ranked = SnapshotChoice.ranked(
            candidates([vector((1, 3)), vector((1, 5), (2, 5)), vector((2, 9)), vector((1, 1))]))
        #expect(ranked == [2, 1, 0, 3])
    }

    @Test func `what no kept one holds stays, however old it is`() {
        let all = candidates([vector((2, 4)), vector((1, 1)), vector((1, 2)), vector((1, 3))])
        #expect(SnapshotChoice.superfluous(all, keepingNewest: 1) == [2, 1])
        #expect(SnapshotChoice.superfluous(all, keepingNewest: 3) == [])
        #expect(SnapshotChoice.superfluous([], keepingNewest: 1) == [])
    }

    @Test func `of two that hold the same the newer stays, on every node`() {
        let two = candidates([vector((1, 2)), vector((1, 2))])
        #expect(SnapshotChoice.superfluous(two, keepingNewest: 1) == [0])
        #expect(SnapshotChoice.superfluous(two.reversed(), keepingNewest: 1) == [1])
    }
}
