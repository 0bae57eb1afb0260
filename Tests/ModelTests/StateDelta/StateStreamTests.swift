import SyncModel
import Testing

/// A state delta as bytes: one form of each item, and a receiver that takes nothing for complete that is not.
@Suite("State stream")
struct StateStreamTests {
    @Test(arguments: 0..<UInt64(20)) func `what was written is read, in one form`(seed: UInt64) throws {
        let sent = try SentStream(seed: seed)
        var stream = StateStream()
        for (item, bytes) in zip(sent.items, sent.bytes) {
            #expect(stream.vector == nil)
            #expect(try stream.read(bytes) == item)
            #expect(item.canonicalBytes == bytes)
        }
        #expect(stream.vector == sent.vector)
    }

    @Test(arguments: 0..<UInt64(6)) func `an item that is cut short or goes on is malformed`(seed: UInt64) throws {
        for bytes in try SentStream(seed: seed).bytes {
            for count in Set([0, 1, 2, bytes.count / 2, bytes.count - 1]) where count < bytes.count {
                var stream = StateStream()
                #expect(throws: StateDeltaError.self) { try stream.read(Array(bytes[..<count])) }
            }
            var stream = StateStream()
            #expect(throws: StateDeltaError.self) { try stream.read(bytes + [0]) }
        }
    }

    @Test(arguments: 0..<UInt64(6)) func `a stream without one of its items never ends well`(seed: UInt64) throws {
        let sent = try SentStream(seed: seed)
        for index in sent.bytes.indices.dropLast() {
            var bytes = sent.bytes
            bytes.remove(at: index)
            #expect(refusal(of: bytes) != nil, "without item \(index)")
        }
        #expect(refusal(of: sent.bytes.dropLast()) == .incomplete)
    }

    @Test(arguments: 0..<UInt64(6)) func `a stream with two items in each other's place is refused`(seed: UInt64) throws
    {
        let sent = try SentStream(seed: seed)
        for one in sent.bytes.indices {
            for other in sent.bytes.indices where one < other && sent.bytes[one] != sent.bytes[other] {
                var bytes = sent.bytes
                bytes.swapAt(one, other)
                #expect(refusal(of: bytes) != nil, "\(one) and \(other)")
            }
        }
    }

    @Test(arguments: 0..<UInt64(6)) func `a changed byte is found`(seed: UInt64) throws {
        let sent = try SentStream(seed: seed)
        var random = SeededGenerator(seed: seed)
        for index in sent.bytes.indices {
            var bytes = sent.bytes
            bytes[index][Int.random(in: 0..<bytes[index].count, using: &random)] ^= UInt8(1 << (seed % 8))
            #expect(refusal(of: bytes) != nil, "item \(index)")
        }
    }

    @Test func `any bytes are refused or read, and nothing goes on behind the end`() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            var stream = StateStream()
            let kind = UInt8(Int.random(in: 0..<12, using: &random))
            let body = random.bytes(Int.random(in: 0..<60, using: &random))
            _ = try? stream.read([kind, UInt8(body.count)] + body)
        }
        let sent = try SentStream(seed: 1)
        #expect(refusal(of: sent.bytes + [sent.bytes[0]]) == .outOfOrder)
    }

    @Test func `a stream that claims more than its sender holds is refused`() throws {
        var stream = StateStream()
        let replica = try TestDevice(1).replica()
        let births = StateItem.births(StateBirths(replica: replica, runs: [3..<4]))
        var bytes = [stream.write(births)]
        let end = stream.end(vector: VersionVector([VersionVector.Entry(replica: replica, next: 3)]))
        bytes.append(end.canonicalBytes)
        #expect(refusal(of: bytes) == .beyondVector)
    }

    @Test func `births that touch, or that are none, have no form`() throws {
        let replica = try TestDevice(1).replica()
        for body in [[1, 0, 0], [2, 5, 0, 0, 0], [0]] as [[UInt8]] {
            let bytes = replica.bytes + body
            var stream = StateStream()
            let item = [9, UInt8(bytes.count)] + bytes
            if body == [1, 0, 0] {
                #expect(throws: Never.self) { try stream.read(item) }
            } else {
                #expect(throws: StateDeltaError.self) { try stream.read(item) }
            }
        }
    }

    /// What a receiver says of these items; nil if it takes them for a whole stream.
    private func refusal(of items: [[UInt8]]) -> StateDeltaError? {
        var stream = StateStream()
        do throws(StateDeltaError) {
            for bytes in items { _ = try stream.read(bytes) }
        } catch { return error }
        return stream.vector == nil ? .incomplete : nil
    }
}

/// A stream with items of every kind.
struct SentStream {
    private(set) var items: [StateItem] = []
    private(set) var bytes: [[UInt8]] = []
    private(set) var vector = VersionVector()
    private var stream = StateStream()

    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var world = ObjectWorld.random(&random)
        let start = world.nodes[1].held
        world.extend(&random, steps: 20)
        vector = world.nodes[0].held
        let device = try TestDevice(9)
        for counter in 0..<3 {
            let dot = Dot(replica: device.replica(), counter: UInt64(counter))
            send(.fact(StateFact(dot: dot, wallMilliseconds: Int64(counter), fact: device.fact)))
        }
        var cuts = CutTable()
        let cut = CutFact(device: try TestDevice(8).id, isStrict: false, ends: [])
        _ = cuts.record(
            device.dot(3), context: VersionVector(), [(dot: device.dot(3), says: .cut(cut))], members: MemberFacts())
        if let item = StateCuts(cuts, within: vector) { send(.cuts(item)) }
        for name in ["a", "b"] as [ExactString] {
            send(.schema(StateSchema(collection: name, entries: CollectionSchema().delta(since: start))))
            let setting = Operation.StreamSetting(stream: name, latestOnly: true, retainMilliseconds: nil)
            settings.append(StateStreamSetting(setting: setting, key: CanonicalKey(stamp: .zero, dot: device.dot(4))))
        }
        for setting in settings { send(.stream(setting)) }
        for name in ["a", "b"] as [ExactString] {
            let seen = VersionVector([.init(replica: device.replica(1), next: 9)])
            let events = DroppedEvents(before: seen, but: [Dot(replica: device.replica(1), counter: 3)])
            send(.dropped(.init(stream: name, events: events)))
        }
        for (index, node) in world.nodes.enumerated() {
            let key = ObjectKey(collection: "note", id: ExactString("\(index)"))
            send(.announcement(StateAnnouncement(key: key, touched: node.state.lives.touched)))
            vector.join(node.held)
            let delta = node.state.delta(since: start)
            send(.object(StateObject(version: delta.lives.lives.first?.birth, wallMilliseconds: 7, delta: delta)))
        }
        for replica in [device.replica(1), device.replica(2)] {
            for residue in try residues(of: replica, &random) {
                vector.advance(replica, to: residue.end)
                vector.join(VersionVector(residue.context))
                send(.events(residue))
            }
        }
        send(.births(StateBirths(replica: device.replica(1), runs: [0..<2, 4..<5])))
        send(.births(StateBirths(replica: device.replica(1), runs: [7..<8])))
        vector.advance(device.replica(1), to: 9)
        vector.advance(device.replica(2), to: 9)
        for replica in [device.replica(1), device.replica(2)] {
            let tip = ReplicaTip(
                next: vector.next(of: replica), head: ChainHead(space: .home, replica: replica), stamp: .zero)
            send(
                .tip(
                    StateTip(
                        replica: replica, tip: tip, signature: random.bytes(64), first: VersionVector(),
                        named: world.nodes[0].held)))
        }
        let end = stream.end(vector: vector)
        items.append(end)
        bytes.append(end.canonicalBytes)
    }

    private var settings: [StateStreamSetting] = []

    private mutating func send(_ item: StateItem) {
        items.append(item)
        bytes.append(stream.write(item))
    }

    private func residues(of replica: ReplicaID, _ random: inout SeededGenerator) throws -> [EventResidue] {
        let (changes, _) = RandomChanges.some(of: replica, &random)
        return RandomChanges.residues(of: changes, by: replica)
    }
}

extension TestDevice {
    fileprivate func dot(_ counter: UInt64) -> Dot { Dot(replica: replica(), counter: counter) }
}
