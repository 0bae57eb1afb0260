import SyncModel
import SyncStore
import Testing

/// What every store promises about acknowledgements and about forgetting deletions.
@Suite("Store contract: collection")
struct CollectionContractTests {
    private static let note = ObjectKey(collection: "note", id: "1")

    private static func key(_ number: Int) -> ObjectKey { ObjectKey(collection: "note", id: ExactString("\(number)")) }

    private static func put(_ key: ObjectKey, _ title: String) -> LocalWrite {
        .planned([.put(key, .init(fields: [JSONValue.Member(key: "title", value: .string(ExactString(title)))]))])
    }

    private static func delete(_ key: ObjectKey) -> LocalWrite { .planned([.delete(key, ifVersion: nil)]) }

    private static func held(_ store: SQLiteStore) throws -> VersionVector {
        VersionVector(try store.state().tips.map { VersionVector.Entry(replica: $0.replica, next: $0.tip.next) })
    }

    private static func collectAll(_ store: SQLiteStore, limit: Int = 100) throws -> Int {
        let stable = try held(store)
        var (count, after): (Int, Dot?) = (0, nil)
        repeat {
            let step = try store.collect(upTo: stable, after: after, limit: limit)
            #expect(step.objects <= limit)
            count += step.objects
            after = step.next
        } while after != nil
        return count
    }

    @Test(arguments: StoreKind.allCases)
    func `our acknowledgement names what we have written beyond it, and survives a start`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let commit = try store.append([[.event("s")]], wallMilliseconds: 1)
        let tip = try #require(commit.segments.first)
        _ = try store.append([[.event("s")]], wallMilliseconds: 1)
        let asked = Acknowledgement(
            device: bed.device.id, stamp: Stamp(rawValue: 5),
            vector: VersionVector([VersionVector.Entry(replica: tip.segment.replica, next: 1)]),
            digest: tip.tip.digestTerm(of: tip.segment.replica))
        let signed = try store.acknowledge(asked)
        #expect(signed.acknowledgement.vector == asked.vector)
        #expect(signed.acknowledgement.ends.next(of: tip.segment.replica) == 2)
        #expect(signed.isValid(in: .home, signingKey: bed.device.fact.signingKey))
        bed.crash(store)
        #expect(try bed.open().state().acknowledgements == [signed])
    }

    @Test(arguments: StoreKind.allCases)
    func `the newest of each member is kept`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        func signed(_ device: UInt8, _ stamp: UInt64) -> SignedAcknowledgement {
            let device = TestDevice(device)
            return SignedAcknowledgement(
                Acknowledgement(
                    device: device.id, stamp: Stamp(rawValue: stamp), vector: VersionVector(), digest: .zero),
                space: .home, sign: device.sign)
        }
        try store.keep([signed(2, 5), signed(3, 9)])
        try store.keep([signed(2, 4), signed(3, 10)])
        let kept = try store.state().acknowledgements
        #expect(Set(kept) == [signed(2, 5), signed(3, 10)])
        #expect(kept.map(\.device) == kept.map(\.device).sorted())
    }

    @Test(arguments: StoreKind.allCases)
    func `heads are found inside of segments too`(kind: StoreKind) throws {
        let bed = StoreBed(.memory)
        let author = try bed.open()
        let segment = try #require(
            try author.append((0..<9).map { _ in [.event("s")] }, wallMilliseconds: 1).segments.first)
        let store = try StoreBed(kind, device: TestDevice(2)).open()
        _ = try store.apply([segment], wallMilliseconds: 0)
        let replica = segment.segment.replica
        func entry(_ next: UInt64) -> VersionVector.Entry { VersionVector.Entry(replica: replica, next: next) }
        let heads = try store.heads(at: (1...10).map(entry))
        #expect(heads[8] == segment.tip.head && heads[9] == nil)
        var head = ChainHead(space: .home, replica: replica)
        var reader = ByteReader(segment.segment.bytes)
        for index in 0..<9 {
            head = head.appending(try ChangeView(&reader).digest(in: segment.segment.bytes))
            #expect(heads[index] == head)
        }
        let stranger = ReplicaID(device: replica.device, incarnation: 99)
        #expect(try store.heads(at: [VersionVector.Entry(replica: stranger, next: 1)]) == [nil])
    }

    @Test(arguments: StoreKind.allCases)
    func `what is stable is forgotten in steps, and nobody sees a difference`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        let store = try bed.open()
        let keys = (0..<30).map(Self.key)
        _ = try store.append(keys.map { Self.put($0, "note") }, wallMilliseconds: 1)
        _ = try store.append(keys.prefix(20).map(Self.delete), wallMilliseconds: 2)
        let before = try store.state()
        let feed = try store.changedObjects(of: nil, space: .home, after: 0, limit: 100).map(\.position)
        #expect(before.counts.deletedObjects == 20 && before.floor.isEmpty)
        #expect(try Self.collectAll(store, limit: 7) == 20)
        let after = try store.state()
        #expect(after.counts.deletedObjects == 0 && after.counts.objects == 10)
        #expect(after.digest == before.digest)
        #expect(try store.recomputedDigest(of: .home) == after.digest)
        #expect(after.floor == (try Self.held(store)))
        // Who resumes a watch still learns that they are gone.
        #expect(try store.changedObjects(of: nil, space: .home, after: 0, limit: 100).map(\.position) == feed)
        #expect(try Self.collectAll(store) == 0)
        bed.crash(store)
        let opened = try bed.open()
        #expect(try opened.state().floor == after.floor && opened.state().counts == after.counts)
        // And may begin anew under the same id.
        let result = try opened.append([Self.put(keys[3], "again")], wallMilliseconds: 3)
        #expect(try result.outcomes[0].get().dots != nil)
        #expect(try opened.recomputedDigest(of: .home) == opened.state().digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `nothing is forgotten that is not covered, or at a vector that is not held`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        _ = try store.append([Self.put(Self.note, "milk")], wallMilliseconds: 1)
        let stable = try Self.held(store)
        _ = try store.append([Self.delete(Self.note)], wallMilliseconds: 1)
        #expect(try store.collect(upTo: stable, after: nil, limit: 10).objects == 0)
        var beyond = try Self.held(store)
        beyond.advance(beyond.entries[0].replica, to: 1_000)
        #expect(try store.collect(upTo: beyond, after: nil, limit: 10).objects == 0)
        #expect(try store.state().floor.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation for a life that was collected is dropped and counted`(kind: StoreKind) throws {
        let author = TestDevice(2)
        let store = try StoreBed(kind).open()
        let admission = try store.append([[.addMember(author.fact)]], wallMilliseconds: 1)
        let birth = try store.append([Self.put(Self.note, "milk")], wallMilliseconds: 1)
        let dot = try #require(try birth.outcomes[0].get().dots).lowerBound
        let before = try Self.held(store)
        _ = try store.append([Self.delete(Self.note)], wallMilliseconds: 1)
        #expect(try Self.collectAll(store) == 1)
        let digest = try store.state().digest
        // By a device that was put back to a state before the deletion.
        let replica = ReplicaID(device: author.id, incarnation: 1)
        var history = ChangeAuthor(
            space: .home, replica: replica, tip: .empty(space: .home, replica: replica), named: VersionVector())
        let edit = Operation.editObject(
            Operation.ObjectEdit(
                object: Self.note, life: .other(dot), edits: [.update("title", .register(.set("oat milk")))]))
        let greatest = try #require(admission.segments.last).tip.stamp
        let authored = history.author(
            [[edit]], held: before, greatestStamp: greatest, wallMilliseconds: 1, sign: author.sign)
        let segments = try #require(authored)
        let commit = try store.apply(segments, wallMilliseconds: 1)
        #expect(commit.counts.lateOperations == 1 && commit.counts.objects == 0)
        #expect(commit.digest == digest)
        #expect(try store.state().counts.lateOperations == 1)
        #expect(try store.object(Self.note, space: .home)?.summary.standing == .nothing)
    }

    @Test(arguments: [StoreKind.sqliteInTmpfs])
    func `a crash between two steps leaves what was done, and the rest is found again`(kind: StoreKind) throws {
        let bed = StoreBed(kind)
        var store = try bed.open()
        let keys = (0..<20).map(Self.key)
        _ = try store.append(keys.map { Self.put($0, "note") }, wallMilliseconds: 1)
        _ = try store.append(keys.map(Self.delete), wallMilliseconds: 2)
        let stable = try Self.held(store)
        var left: Int64 = 20
        while left > 0 {
            let step = try store.collect(upTo: stable, after: nil, limit: 3)
            left -= Int64(step.objects)
            bed.crash(store)
            store = try bed.open()
            #expect(try store.state().counts.deletedObjects == left)
            #expect(try store.state().floor == stable)
        }
        #expect(try Self.collectAll(store) == 0)
    }
}
