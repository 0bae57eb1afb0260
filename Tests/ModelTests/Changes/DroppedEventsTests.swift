import SyncModel
import Testing

/// Which events of a stream are dropped, as nodes put it together from what they hear.
@Suite struct DroppedEventsTests {
    private static let replicas = (1...3).map { number in
        ReplicaID(device: DeviceID(bytes: [UInt8](repeating: UInt8(number), count: 32))!, incarnation: 7)
    }
    private static let dots = replicas.flatMap { replica in
        (0..<8).map { Dot(replica: replica, counter: UInt64($0)) }
    }

    private func random(_ generator: inout SeededGenerator) -> DroppedEvents {
        let vector = VersionVector(
            Self.replicas.map { .init(replica: $0, next: UInt64.random(in: 0..<8, using: &generator)) })
        return DroppedEvents(before: vector, but: Self.dots.filter { _ in Bool.random(using: &generator) })
    }

    @Test func `what several drop is what one of them drops, in whatever order they are joined`() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            let all = (0..<4).map { _ in random(&generator) }
            var joined = DroppedEvents()
            for one in all { joined.join(one) }
            var other = all[3]
            for one in [all[1], all[0], all[2], all[1]] { other.join(one) }
            #expect(joined == other)
            for dot in Self.dots {
                #expect(joined.contains(dot) == all.contains { $0.contains(dot) })
            }
        }
    }

    @Test func `within a vector nothing is dropped beyond it`() {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<200 {
            let (events, bound) = (random(&generator), random(&generator).vector)
            let within = events.within(bound)
            for dot in Self.dots { #expect(within.contains(dot) == (events.contains(dot) && bound.covers(dot))) }
        }
    }

    @Test func `it reads back, and any other form of it is refused`() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let events = random(&generator)
            var reader = ByteReader(events.canonicalBytes)
            #expect(try DroppedEvents(reading: &reader) == events)
            #expect(reader.isAtEnd)
        }
        let (one, two) = (Self.replicas[0], Self.replicas[1])
        func bytes(_ vector: [(ReplicaID, UInt8)], _ kept: [(ReplicaID, UInt8)]) -> [UInt8] {
            [vector, kept].flatMap { rows in
                [UInt8(rows.count)] + rows.flatMap { $0.0.bytes + [$0.1] }
            }
        }
        for wrong in [
            bytes([(two, 1), (one, 1)], []), bytes([(one, 0)], []), bytes([(one, 3)], [(one, 3)]),
            bytes([(one, 3)], [(one, 2), (one, 1)]), bytes([(one, 3)], [(one, 1), (one, 1)]),
            bytes([(one, 3)], [(two, 1)]), Array(bytes([(one, 3)], [(one, 1)]).dropLast()),
            [0xff, 0xff, 0xff, 0xff, 0x0f],
        ] {
            #expect(throws: CodecError.self) {
                var reader = ByteReader(wrong)
                _ = try DroppedEvents(reading: &reader)
            }
        }
    }

    @Test func `a word that drops nothing, or of no stream, is void`() {
        let nothing = Operation.dropEvents(.init(stream: "s", events: DroppedEvents()))
        let nameless = Operation.dropEvents(
            .init(
                stream: "a/b", events: DroppedEvents(before: VersionVector([.init(replica: Self.replicas[0], next: 1)]))
            ))
        for operation in [nothing, nameless] {
            var bytes: [UInt8] = []
            operation.append(to: &bytes)
            var reader = ByteReader(bytes)
            guard let view = try? OperationView(&reader) else { preconditionFailure("an operation is framed") }
            if case .dropEvents = Operation(view, in: bytes) { Issue.record("\(operation) is read as one") }
        }
    }
}
