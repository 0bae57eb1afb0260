import SyncModel
import Testing

@Suite struct CutOperationTests {
    private let replica: ReplicaID
    private let head: ChainHead

    init() throws {
        replica = try TestDevice(1).replica(3)
        head = ChainHead(space: .home, replica: replica)
    }

    private var operations: [SyncModel.Operation] {
        let edit = SyncModel.Operation.ObjectEdit(
            object: ObjectKey(collection: "note", id: "1"), life: .own(counter: 0),
            edits: [.update("title", .register(.set("a"))), .update("plays", .counter(.increment(by: 2)))])
        return [
            .cut(CutFact(device: replica.device, isStrict: false, ends: [])),
            .cut(CutFact(device: replica.device, isStrict: true, ends: [.init(incarnation: 3, end: 9, head: head)])),
            .markRewriting(.init(incarnation: 3, start: 9, count: 2)),
            .editAgain(.init(edit, known: VersionVector([.init(replica: replica, next: 9)]))),
            .settleCut(.init(Dot(replica: replica, counter: 300))),
            .acceptWork(
                .init(
                    object: ObjectKey(collection: "note", id: "1"), device: replica.device,
                    stretches: [
                        .init(incarnation: 3, start: 9, end: 300), .init(incarnation: 4, start: 0, end: 1),
                    ])),
        ]
    }

    private func read(_ bytes: [UInt8]) throws -> SyncModel.Operation {
        var reader = ByteReader(bytes)
        return SyncModel.Operation(try OperationView(&reader), in: bytes)
    }

    @Test func `operations of cuts read back`() throws {
        for operation in operations {
            var bytes: [UInt8] = []
            operation.append(to: &bytes)
            #expect(try read(bytes) == operation)
        }
        #expect(operations.map(\.span) == [1, 1, 1, 2, 1, 1])
    }

    @Test func `damaged bytes are refused or stay unknown, and never trap`() throws {
        for operation in operations {
            var bytes: [UInt8] = []
            operation.append(to: &bytes)
            for index in bytes.indices {
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[index] ^= 1 << UInt8(bit)
                    _ = try? read(damaged)
                }
                _ = try? read(Array(bytes.prefix(index)))
            }
        }
    }

    @Test func `an edit written again knows what its author knew then, and nothing that is not in its past`() {
        let other = ReplicaID(device: replica.device, incarnation: 8)
        let edit = SyncModel.Operation.ObjectEdit(
            object: ObjectKey(collection: "note", id: "1"), life: .own(counter: 0),
            edits: [.update("title", .register(.set("a")))])
        let known = VersionVector([.init(replica: replica, next: 90), .init(replica: other, next: 2)])
        let origin = Origin(
            dot: Dot(replica: ReplicaID(device: replica.device, incarnation: 9), counter: 4), stamp: .zero,
            context: VersionVector([.init(replica: replica, next: 7), .init(replica: other, next: 5)]))
        let judged = SyncModel.Operation.editAgain(.init(edit, known: known)).judged(at: origin)
        #expect(judged.knows(Dot(replica: replica, counter: 6)))
        #expect(!judged.knows(Dot(replica: replica, counter: 7)))
        #expect(!judged.knows(Dot(replica: other, counter: 3)))
    }

    @Test func `an edit written again is admitted by what its change knows`() throws {
        let owner = try TestDevice(2).id
        let word = Dot(replica: ReplicaID(device: owner, incarnation: 1), counter: 5)
        var members = MemberFacts()
        members.add(replica.device, role: .writer, at: word)
        let edit = SyncModel.Operation.ObjectEdit(
            object: ObjectKey(collection: "note", id: "1"), life: .own(counter: 0), edits: [])
        let known = VersionVector([.init(replica: word.replica, next: 5)])
        let again = SyncModel.Operation.editAgain(.init(edit, known: known))
        func judged(knowing next: UInt64) -> Origin {
            again.judged(
                at: Origin(
                    dot: Dot(replica: replica, counter: 4), stamp: .zero,
                    context: VersionVector([.init(replica: word.replica, next: next)]))
            ).advanced(by: 1)
        }
        #expect(!members.admits(judged(knowing: 5), onWorkOf: owner))
        #expect(members.admits(judged(knowing: 6), onWorkOf: owner))
        #expect(!judged(knowing: 6).knows(word), "what else it means its author's knowledge of then decides")
    }

    private func deletion(_ ranges: DotRange...) -> ObjectFields.Operation {
        .update("body", .text(.delete(ranges)))
    }

    @Test func `ranges of dots of which some moved are told in pieces`() {
        let new = ReplicaID(device: replica.device, incarnation: 9)
        let mapping = DotMapping(
            from: replica, to: new,
            [Rewriting(old: Dot(replica: replica, counter: 10), count: 5, new: Dot(replica: new, counter: 101))])
        let edit = mapping(
            deletion(DotRange(first: .own(8), count: 10)), on: ObjectFields())
        #expect(
            edit
                == deletion(
                    DotRange(first: .other(Dot(replica: replica, counter: 8)), count: 2),
                    DotRange(first: .own(101), count: 5),
                    DotRange(first: .other(Dot(replica: replica, counter: 15)), count: 3)))
    }

    @Test func `what was written again twice is where it was written last`() {
        let (second, third) = (
            ReplicaID(device: replica.device, incarnation: 8), ReplicaID(device: replica.device, incarnation: 9)
        )
        let places = [
            Rewriting(old: Dot(replica: replica, counter: 10), count: 5, new: Dot(replica: second, counter: 101)),
            Rewriting(old: Dot(replica: second, counter: 103), count: 9, new: Dot(replica: third, counter: 1)),
        ]
        let edit = DotMapping(from: replica, to: third, places)(
            deletion(DotRange(first: .own(10), count: 6)), on: ObjectFields())
        #expect(
            edit
                == deletion(
                    DotRange(first: .other(Dot(replica: second, counter: 101)), count: 2),
                    DotRange(first: .own(1), count: 3),
                    DotRange(first: .other(Dot(replica: replica, counter: 15)), count: 1)))
    }

    @Test func `what is said of one's own dots in a circle comes to an end`() {
        let other = ReplicaID(device: replica.device, incarnation: 8)
        let (one, two) = (Dot(replica: replica, counter: 1), Dot(replica: other, counter: 1))
        let mapping = DotMapping(
            from: replica, to: other,
            [Rewriting(old: one, count: 1, new: two), Rewriting(old: two, count: 1, new: one)])
        #expect(mapping.place(of: one) != nil)
    }

    @Test func `a removal carries of counters what counts, and what was written again`() {
        // Its author had added 2, which counts, then 3, which was cut and stands again as the new replica's.
        let new = ReplicaID(device: replica.device, incarnation: 9)
        let other = ReplicaID(device: replica.device, incarnation: 4)
        var fields = ObjectFields()
        func add(_ amount: Int64, _ replica: ReplicaID, _ counter: UInt64) {
            fields.apply(
                .update("n", .dictionary(.update("k", .counter(.increment(by: amount))))),
                at: Origin(dot: Dot(replica: replica, counter: counter), stamp: .zero, context: VersionVector()))
        }
        var removal: ObjectFields.Operation { .remove("n", fields.state(of: "n").removal) }
        add(2, replica, 4)
        add(1, other, 0)
        let counted = fields
        add(3, replica, 12)
        let then = removal
        fields = counted
        add(3, new, 103)
        // Apart from whoever removed.
        let seen = removal
        add(9, other, 1)
        let mapping = DotMapping(
            from: replica, to: new,
            [Rewriting(old: Dot(replica: replica, counter: 10), count: 5, new: Dot(replica: new, counter: 101))])
        #expect(mapping(then, on: fields) == seen)
        fields.apply(
            mapping(then, on: fields),
            at: Origin(
                dot: Dot(replica: new, counter: 104), stamp: .zero,
                context: VersionVector([.init(replica: replica, next: 13), .init(replica: other, next: 1)])))
        #expect(fields["n"]?.dictionary["k"]?.counter.value == 9)
    }
}
