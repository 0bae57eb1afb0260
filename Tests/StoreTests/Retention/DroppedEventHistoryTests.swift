import LawHistories
import SyncModel
import SyncStore
import Testing

/// Dropped events by every road: as changes in any order, from compacted logs, and as state.
@Suite("Dropped events: histories")
struct DroppedEventHistoryTests {
    @Test(arguments: 1...120 as ClosedRange<UInt64>)
    func `all show the events that no drop names, whichever way they came`(seed: UInt64) throws {
        var world = try DropWorld(seed: seed)
        #expect(try world.live() == nil)
    }

    @Test func `a state that does not say what is dropped is found out`() throws {
        let isFound = try (1...20 as ClosedRange<UInt64>).contains { seed in
            var world = try DropWorld(seed: seed, faults: .stateForgetsDrops)
            return try world.live() != nil
        }
        #expect(isFound)
    }

    /// With 100 events of 4 KiB, half of which go before the log is compacted, and most of the rest afterwards.
    @Test func `bytes of dropped events leave the log, before and after it was compacted`() throws {
        let machines = Machines()
        let store = try machines.open(1)
        let payload = "\"" + String(repeating: "x", count: 4_096) + "\""
        for number in 1...100 {
            _ = try store.append(
                [[.event("s", payload), .event("t", "\(number)")]], wallMilliseconds: Int64(number) * 1_000)
        }
        let setting = Operation.StreamSetting(stream: "s", latestOnly: false, retainMilliseconds: 1_000)
        _ = try store.append([.planned([.setStream(setting)])], wallMilliseconds: 100_000)
        func drop(at wall: Int64) throws {
            let terms = RetentionTerms(stable: try store.vector, supersededMilliseconds: nil)
            _ = try store.dropEvents(terms, of: .home, wallMilliseconds: wall)
        }
        func compact() throws -> Int64 {
            var pass = try store.beginCompaction(stable: store.vector, before: Stamp(rawValue: .max))
            var bytes: Int64 = 0
            while !pass.isOver { bytes += try store.compact(&pass).bytes }
            return bytes
        }
        // Those of a change go together: the other stream's event keeps them.
        let other = Operation.StreamSetting(stream: "t", latestOnly: false, retainMilliseconds: 1_000)
        _ = try store.append([.planned([.setStream(other)])], wallMilliseconds: 100_000)
        try drop(at: 52_000)
        #expect(try store.allEvents("s").count == 50)
        #expect(try compact() > 50 * 4_096)
        #expect(try compact() == 0)
        let positions = try store.allEvents("t").map(\.position)
        try drop(at: 92_000)
        #expect(try compact() > 40 * 4_096)
        #expect(try compact() == 0, "it is noted that nothing of it is left")
        #expect(try store.allEvents("t").map(\.position) == Array(positions.suffix(10)))
        let again = try machines.reopen(store, 0)
        #expect(try again.allEvents("s").count == 10)
        #expect(try again.recomputedDigest(of: .home) == again.state().digest)
        #expect(try again.state().digest == store.state().digest)
        let late = try machines.open(2)
        try late.take(stateFrom: again)
        #expect(try late.state().digest == store.state().digest)
        _ = try late.append([[.event("s", "1")]], wallMilliseconds: 200_000)
        try again.pull(from: late)
        #expect(try late.state().digest == again.state().digest)
    }
}

/// Three writers, one of which compacts its log, and one that only takes state.
private struct DropWorld {
    private static let streams = ["s", "t", "l"]
    private var random: SeededGenerator
    private let faults: StoreFaults
    private let beds: [StoreBed]
    private var stores: [SQLiteStore]
    private let receiverBed = StoreBed(.sqliteInTmpfs, device: TestDevice(4))
    private var receiver: SQLiteStore
    private var wall: Int64 = 1_000

    init(seed: UInt64, faults: StoreFaults = []) throws {
        random = SeededGenerator(seed: seed)
        self.faults = faults
        beds = [StoreKind.sqliteInTmpfs, .sqliteInTmpfs, .memory].enumerated().map {
            StoreBed($0.element, device: TestDevice(UInt8($0.offset + 1)))
        }
        stores = try beds.map { try $0.open(faults: faults) }
        receiver = try receiverBed.open(faults: faults)
        let devices = (beds + [receiverBed]).map(\.device.fact)
        _ = try stores[0].append(devices.map { [.addMember($0)] }, wallMilliseconds: 1)
        for store in stores.dropFirst() { try store.pull(from: stores[0]) }
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// The first difference; nil if there is none.
    mutating func live() throws -> String? {
        for round in 0..<5 {
            for _ in 0..<(10 + below(20)) { try step() }
            if below(2) == 0 {
                // Some of it is there as changes already, and the rest of it was dropped where it comes from.
                if below(2) == 0 {
                    _ = try receiver.apply(some(of: receiver.missing(from: stores[1])), wallMilliseconds: 0)
                }
                try receiver.take(stateFrom: stores[below(2)])
            }
            if below(3) == 0 { try reopen() }
            if let difference = try soundness("round \(round)") { return difference }
        }
        try converge(stores)
        // What the first has dropped from its log comes as state.
        try receiver.take(stateFrom: stores[0])
        return try soundness("converged") ?? difference()
    }

    private mutating func step() throws {
        wall += Int64(below(40))
        let number = below(stores.count)
        let store = stores[number]
        switch below(14) {
        case 0..<6:
            let events = (0...below(3)).map { _ in
                Operation.event(pick(Self.streams), "\(below(99))", type: pick([nil, "x", "y"]))
            }
            _ = try store.append([.operations(events)], wallMilliseconds: wall)
        case 6:
            let setting = Operation.StreamSetting(
                stream: ExactString(pick(Self.streams)), latestOnly: below(2) == 0,
                retainMilliseconds: pick([nil, 0, 50]))
            _ = try store.append([.planned([.setStream(setting)])], wallMilliseconds: wall)
        case 7, 8:
            let terms = RetentionTerms(
                stable: try stable, supersededMilliseconds: pick([nil, 20]), limit: 1 + below(9))
            _ = try store.dropEvents(terms, of: .home, wallMilliseconds: wall)
        case 9: try dropByHand(on: store)
        case 10: try compact()
        default:
            let source = below(stores.count)
            guard source != number else { return }
            _ = try store.apply(some(of: store.missing(from: stores[source])), wallMilliseconds: 0)
        }
    }

    private mutating func some(of missing: [VerifiedSegment]) -> [VerifiedSegment] {
        missing.dropLast(min(missing.count, below(4)))
    }

    private var stable: VersionVector {
        get throws { try stores.dropFirst().reduce(stores[0].vector) { $0.meet(try $1.vector) } }
    }

    /// Anything that its author holds, but for some.
    private mutating func dropByHand(on store: SQLiteStore) throws {
        let stream = pick(Self.streams)
        let events = try store.keptEvents(of: stream, space: .home, after: nil, limit: .max)
        var (vector, kept) = (VersionVector(), [Dot]())
        for event in events.prefix(below(events.count + 1)) {
            vector.advance(event.dot.replica, to: event.dot.counter + 1)
            if below(4) == 0 { kept.append(event.dot) }
        }
        guard !vector.isEmpty else { return }
        let drop = Operation.EventDrop(stream: ExactString(stream), events: DroppedEvents(before: vector, but: kept))
        _ = try store.append([.operations([.dropEvents(drop)])], wallMilliseconds: wall)
    }

    private mutating func compact() throws {
        // The receiver has a log that changes and states made in turn.
        let store = below(2) == 0 ? receiver : stores[0]
        var pass = try store.beginCompaction(
            stable: stable.meet(store.vector), before: Stamp(rawValue: UInt64(max(0, wall - Int64(below(200)))) << 16))
        var steps = 1 + below(6)
        while !pass.isOver, steps > 0 {
            _ = try store.compact(&pass)
            steps -= 1
        }
    }

    private mutating func reopen() throws {
        beds[0].crash(stores[0])
        stores[0] = try beds[0].open(faults: faults)
        receiverBed.crash(receiver)
        receiver = try receiverBed.open(faults: faults)
    }

    // MARK: Comparing

    private var all: [SQLiteStore] { stores + [receiver] }

    private func soundness(_ comment: String) throws -> String? {
        for (number, store) in all.enumerated() {
            let state = try store.state()
            if try store.recomputedDigest(of: .home) != state.digest { return "\(comment): digest of \(number)" }
            var kept = 0
            for stream in Self.streams {
                let events = try store.allEvents(stream)
                kept += try store.keptEvents(of: stream, space: .home, after: nil, limit: .max).count
                if try Set(store.canonicalEvents(stream)) != Set(events) { return "\(comment): orders of \(number)" }
                if try store.eventCount(stream: stream, space: .home, after: 0) != Int64(events.count) {
                    return "\(comment): count of \(stream) in \(number)"
                }
            }
            if state.counts.events != Int64(kept) {
                return "\(comment): \(number) counts \(state.counts.events), and has \(kept)"
            }
        }
        return nil
    }

    /// Against a slow and obvious reading of the second one's log, which is whole.
    private func difference() throws -> String? {
        var events: [String: [StoredEvent]] = [:]
        var drops: [String: [DroppedEvents]] = [:]
        var settings: [String: (key: CanonicalKey, latestOnly: Bool)] = [:]
        for known in try stores[1].state().tips {
            for verified in try stores[1].verifiedSegments(of: known.replica) {
                let bytes = verified.segment.bytes
                var reader = ByteReader(bytes)
                while !reader.isAtEnd {
                    let view = try ChangeView(&reader)
                    view.forEachOperation(in: bytes) { counter, operation in
                        let dot = Dot(replica: known.replica, counter: counter)
                        switch Operation(operation, in: bytes) {
                        case .appendEvent(let event):
                            events[event.stream, default: []].append(
                                StoredEvent(
                                    dot: dot, stamp: view.stamp, type: event.type, payload: event.payload,
                                    wallMilliseconds: view.wallMilliseconds, position: 0))
                        case .dropEvents(let drop): drops[drop.stream.string, default: []].append(drop.events)
                        case .setStream(let setting):
                            let key = CanonicalKey(stamp: view.stamp, dot: dot)
                            if let known = settings[setting.stream.string], known.key > key { return }
                            settings[setting.stream.string] = (key, setting.latestOnly)
                        case _: break
                        }
                    }
                }
            }
        }
        for stream in Self.streams {
            var kept = (events[stream] ?? []).filter { event in
                !(drops[stream] ?? []).contains { $0.contains(event.dot) }
            }
            kept.sort { $0.canonicalKey < $1.canonicalKey }
            if settings[stream]?.latestOnly ?? false {
                let latest = Dictionary(kept.map { ($0.type, $0.dot) }) { $1 }
                kept.removeAll { latest[$0.type] != $0.dot }
            }
            for (number, store) in all.enumerated() {
                let shown = try store.canonicalEvents(stream)
                if shown.map(\.dot) != kept.map(\.dot) {
                    return "\(stream) in \(number): \(shown.map(\.dot)), and it should be \(kept.map(\.dot))"
                }
                if shown.map(\.payload) != kept.map(\.payload) { return "payloads of \(stream) in \(number)" }
            }
        }
        for (number, store) in all.enumerated() where try store.state().digest != stores[1].state().digest {
            return "digest of \(number)"
        }
        return nil
    }
}
