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

    private func record(isCanonical: Bool = false, size: UInt64 = 12) -> SnapshotRecord {
        SnapshotRecord(
            space: .home, stream: "plays", schema: 3, consumer: "counter", isCanonical: isCanonical,
            key: isCanonical ? key(9) : nil, vector: vector((1, 4), (2, 1 << 60)),
            blob: BlobName(BlobHash(bytes: [UInt8](repeating: 8, count: 32))!, size: size),
            wallMilliseconds: 1_763_700_000_000)
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

    @Test func `a record of more bytes than a blob may have is none`() {
        let most = record(size: BlobLayout.sizeLimit)
        #expect(SnapshotRecord(most.fields) == most)
        for size in [BlobLayout.sizeLimit + 1, UInt64(Int64.max)] {
            #expect(SnapshotRecord(record(size: size).fields) == nil, "its checksum is right")
        }
    }

    @Test func `a record of another space, or ahead of what is here, serves nobody`() {
        let record = record()
        let devices = Set(record.vector.entries.map(\.replica.device))
        func problem(
            _ devices: Set<DeviceID>, _ held: VersionVector, in space: SpaceID = .home,
            dropped: VersionVector = VersionVector()
        ) -> SnapshotRecord.Problem? {
            record.problem(in: space, devices: devices, holding: held, dropped: DroppedEvents(before: dropped))
        }
        #expect(problem(devices, record.vector) == nil)
        #expect(problem(devices, vector((1, 9), (2, .max), (3, 1))) == nil)
        // A vector that claims what its owner never wrote would hide that owner's next events from every reader.
        #expect(problem(devices, vector((1, 4), (2, (1 << 60) - 1))) == .ahead)
        #expect(problem([replica(1).device], record.vector) == .foreign)
        let other = SpaceID(bytes: [UInt8](repeating: 9, count: SpaceID.byteCount))!
        #expect(problem(devices, record.vector, in: other) == .foreign)
        #expect(problem(devices, record.vector, dropped: vector((1, 4))) == nil)
        #expect(problem(devices, record.vector, dropped: vector((1, 5))) == .outdated)
    }

    @Test func `of a newer format it is known whose it is and that it is newer, of a changed one that it was changed`()
    {
        func unreadable(_ name: ExactString, _ value: JSONValue?) -> SnapshotRecord.Unreadable {
            var fields = record().fields.filter { $0.key != name }
            if let value { fields.append(JSONValue.Member(key: name, value: value)) }
            return SnapshotRecord.Unreadable(fields)
        }
        let newer = unreadable("format", .integer(SnapshotRecord.format + 1))
        #expect(newer.newerFormat == SnapshotRecord.format + 1)
        #expect(newer.mayServe(stream: "plays", schema: 3))
        #expect(!newer.mayServe(stream: "plays", schema: 2) && !newer.mayServe(stream: "moves", schema: 3))
        let changed = [
            unreadable("format", .integer(0)), unreadable("format", .text("2")), unreadable("format", nil),
            unreadable("size", .integer(0)),
        ]
        #expect(changed.allSatisfy { $0.newerFormat == nil && $0.mayServe(stream: "plays", schema: 3) })
        #expect(unreadable("schema", .null).mayServe(stream: "plays", schema: 7))
        #expect(!unreadable("stream", .null).mayServe(stream: "plays", schema: 3))
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
