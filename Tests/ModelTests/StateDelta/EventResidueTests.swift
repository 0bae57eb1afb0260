import SyncModel
import Testing

/// What is left of changes when only their events are kept.
@Suite("Event residues")
struct EventResidueTests {
    @Test(arguments: 0..<UInt64(200)) func `every event keeps its dot, its stamp and its bytes`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let replica = try TestDevice(1).replica()
        let (changes, events) = RandomChanges.some(of: replica, &random)
        let residues = RandomChanges.residues(of: changes, by: replica)
        #expect(RandomChanges.events(in: residues) == events)
        // Residues of residues are the same residues, and read back.
        #expect(RandomChanges.residues(of: residues.map(\.bytes), by: replica) == residues)
        for residue in residues {
            #expect(try EventResidue(canonicalBytes: residue.canonicalBytes) == residue)
            #expect(try EventResidue(canonicalBytes: residue.canonicalBytes).context == residue.context)
        }
    }

    @Test(arguments: 0..<UInt64(100)) func `what is behind a change keeps what its author knew`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let replica = try TestDevice(1).replica()
        let (changes, events) = RandomChanges.some(of: replica, &random)
        let residues = RandomChanges.residues(of: changes, by: replica)
        for bytes in changes {
            var reader = ByteReader(bytes)
            let start = try ChangeView(&reader).start
            let rest = residues.compactMap { $0.within(start..<UInt64.max) }
            #expect(RandomChanges.events(in: rest) == events.filter { $0.dot.counter >= start })
            let before = residues.compactMap { $0.within(0..<start) }
            #expect(RandomChanges.events(in: before) == events.filter { $0.dot.counter < start })
            for residue in residues {
                guard let behind = residue.within(start..<UInt64.max) else { continue }
                #expect(VersionVector(behind.context) == VersionVector(residue.context))
            }
        }
    }

    @Test func `what an author came to know without an event is named with the next one`() throws {
        let (replica, other) = (try TestDevice(1).replica(), try TestDevice(2).replica())
        func change(_ start: UInt64, naming next: UInt64, _ operations: [Operation]) -> [UInt8] {
            Change(
                start: start, stamp: Stamp(rawValue: start + 1), wallMilliseconds: 0,
                context: [VersionVector.Entry(replica: other, next: next)], operations: operations
            ).encoded
        }
        let residues = RandomChanges.residues(
            of: [
                change(0, naming: 3, [.void(span: 2)]), change(2, naming: 5, [.void(span: 1), .event(1)]),
                change(4, naming: 9, [.void(span: 1)]),
            ], by: replica)
        #expect(residues.count == 1)
        #expect(residues.first?.start == 2)
        #expect(residues.first?.context == [VersionVector.Entry(replica: other, next: 5)])
    }

    @Test func `what says more than events, or says it in another way, is none`() throws {
        let replica = try TestDevice(1).replica()
        func bytes(_ operations: [Operation], start: UInt64 = 0, context: [VersionVector.Entry] = []) -> [UInt8] {
            Change(
                start: start, stamp: Stamp(rawValue: start + 1), wallMilliseconds: 0, context: context,
                operations: operations
            ).encoded
        }
        let itself = [VersionVector.Entry(replica: replica, next: 1)]
        let other = [VersionVector.Entry(replica: try TestDevice(2).replica(), next: 1)]
        #expect(throws: Never.self) { try EventResidue(replica: replica, bytes: bytes([.event(1)])) }
        for wrong in [
            [], bytes([.void(span: 1)]), bytes([.void(span: 1), .void(span: 1), .event(1)]),
            bytes([.event(1), .unknown(kind: 50, span: 1, body: [])]), bytes([.event(1)], context: itself),
            bytes([.event(1)], start: 3) + bytes([.event(1)], start: 2),
            bytes([.event(1)]) + bytes([.event(1)], start: 2, context: other),
            bytes([.unknown(kind: Operation.Kind.appendEvent, span: 1, body: [0])]),
        ] {
            #expect(throws: CodecError.self) { try EventResidue(replica: replica, bytes: wrong) }
        }
    }
}

enum RandomChanges {
    struct Event: Hashable {
        let dot: Dot
        let stamp: Stamp
        let body: [UInt8]
    }

    /// The bytes of some changes of one replica, one behind the other, and the events in them.
    static func some(of replica: ReplicaID, _ random: inout SeededGenerator) -> (changes: [[UInt8]], events: [Event]) {
        var changes: [[UInt8]] = []
        var (next, stamp) = (UInt64(0), UInt64(1))
        for _ in 0..<Int.random(in: 1..<12, using: &random) {
            let operations = (0..<Int.random(in: 1..<5, using: &random)).map { _ in random.operation() }
            let named = random.vector().entries.filter { $0.replica != replica && random.chance(30) }
            let change = Change(
                start: next, stamp: Stamp(rawValue: stamp), wallMilliseconds: 5, context: named,
                operations: operations)
            changes.append(change.encoded)
            (next, stamp) = (next + change.count, stamp + 1 + random.next() % 9)
        }
        return (changes, events(in: changes, by: replica))
    }

    static func residues(of changes: [[UInt8]], by replica: ReplicaID) -> [EventResidue] {
        var writer = EventResidueWriter(of: replica)
        for bytes in changes {
            forEachChange(in: bytes) { view in writer.add(view, in: bytes) }
        }
        return writer.finish()
    }

    static func events(in residues: [EventResidue]) -> [Event] {
        residues.flatMap { events(in: [$0.bytes], by: $0.replica) }
    }

    private static func events(in changes: [[UInt8]], by replica: ReplicaID) -> [Event] {
        var events: [Event] = []
        for bytes in changes {
            forEachChange(in: bytes) { view in
                view.forEachOperation(in: bytes) { counter, operation in
                    guard operation.kind == Operation.Kind.appendEvent, operation.span == 1,
                        (try? EventView(operation.body, in: bytes)) != nil
                    else { return }
                    events.append(
                        Event(
                            dot: Dot(replica: replica, counter: counter), stamp: view.stamp,
                            body: Array(bytes[operation.body])))
                }
            }
        }
        return events
    }

    private static func forEachChange(in bytes: [UInt8], _ body: (ChangeView) -> Void) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) { body(view) }
    }
}
