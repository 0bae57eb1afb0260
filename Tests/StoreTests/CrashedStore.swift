import CrashDisk
import Foundation
import Synchronization
import SyncModel
import SyncStore
import Testing

/// A disk that can lose its power, with a real SQLite store on it.
///
/// Alive as long as a store is open on it; used from one thread.
final class PoweredDisk: @unchecked Sendable {
    let disk: OpaquePointer
    let name: String
    private let folder: ScratchFolder

    private static let numbers = Mutex(0)

    private static func nextName() -> String {
        "crash-\(getpid())-"
            + numbers.withLock { number in
                number += 1
                return "\(number)"
            }
    }

    init() {
        name = Self.nextName()
        disk = crash_disk_create(name)
        folder = ScratchFolder(inMemory: true)
    }

    private init(_ original: PoweredDisk, _ operationCount: Int64, _ loss: crash_loss, seed: UInt64) {
        name = Self.nextName()
        disk = crash_disk_after_power_loss(original.disk, operationCount, loss, seed, name)
        folder = original.folder
    }

    private init(copying original: PoweredDisk) {
        name = Self.nextName()
        disk = crash_disk_copy(original.disk, true, name)
        folder = ScratchFolder(inMemory: true)
    }

    deinit { crash_disk_destroy(disk) }

    /// A disk with a store that holds nothing yet, and no operation so far.
    static func withStore() -> PoweredDisk { PoweredDisk(copying: made) }

    /// Made once: a schema takes longer than the copy. Where it cannot be made, opening it says so.
    private static let made: PoweredDisk = {
        let disk = PoweredDisk()
        try? disk.open().close()
        return disk
    }()

    var operationCount: Int64 { crash_disk_operation_count(disk) }

    /// Equal for disks on which a process reads the same.
    var contentHash: UInt64 { crash_disk_content_hash(disk) }

    func afterPowerLoss(operationCount: Int64, _ loss: crash_loss, seed: UInt64) -> PoweredDisk {
        PoweredDisk(self, operationCount, loss, seed: seed)
    }

    /// Small limits, so that a short history has several checkpoints.
    func open(faults: StoreFaults = [], schema: Schema = .current) throws -> SQLiteStore {
        let device = TestDevice(1)
        var configuration = SQLiteConfiguration(directory: folder.path + "/data", leases: nil)
        configuration.schema = schema
        configuration.virtualFileSystem = name
        configuration.readerCount = 1
        configuration.checkpointPages = 40
        return try SQLiteStore(
            configuration, device: device.id, faults: faults, incarnations: { UInt64.random(in: .min ... .max) },
            sign: { [self] message in withExtendedLifetime(self) { device.sign(message) } })
    }
}

/// One write of a history, with what it adds to stream `s`.
enum CrashStep {
    /// Groups of events, each event its number.
    case append([Int])
    /// The n-th write to objects: see `CrashHistory.objectWrites`.
    case write(Int)
    /// Events of a peer.
    case apply([VerifiedSegment], [Int])
    case acknowledge(Int64)
    /// Nobody is there for a while: writes may stay open.
    case leaveOpen
    case seal
}

/// A history of acknowledged writes whose result is known: the events of stream `s` are 0, 1, 2 …
struct CrashHistory {
    let steps: [CrashStep]
    static let peer = TestDevice(2)

    init(rounds: Int) throws {
        let source = try StoreBed(.memory, device: Self.peer).open()
        var steps: [CrashStep] = []
        var next = 0
        var writeCount = 0
        func numbers(_ count: Int) -> [Int] {
            defer { next += count }
            return Array(next..<next + count)
        }
        for round in 0..<rounds {
            if round % 6 == 2 { steps.append(.leaveOpen) }
            if round % 6 == 5 { steps.append(.seal) }
            let own = numbers(1 + round % 3)
            steps.append(.append(own))
            if round % 4 == 1 {
                let foreign = numbers(20)
                let segments = try source.append(
                    foreign.map { .operations([Self.event($0)]) } + [
                        .planned([.editing("p/total", "n", .increment(Int64(foreign.count)), creating: true)])
                    ], wallMilliseconds: 1
                ).commit.segments
                steps.append(.apply(segments, foreign))
            }
            steps.append(.write(writeCount))
            writeCount += 1
            if round % 5 == 2 { steps.append(.acknowledge(Int64(own[0]))) }
        }
        self.steps = steps
    }

    /// Every seventh is larger than a page.
    static func event(_ number: Int) -> SyncModel.Operation {
        .event("s", number % 7 == 0 ? "[\(number),\"\(String(repeating: "x", count: 5_000))\"]" : "[\(number)]")
    }

    /// Events acknowledged once `step` was.
    func eventCount(before step: Int) -> Int {
        steps[..<step].reduce(0) { sum, step in
            switch step {
            case .append(let numbers), .apply(_, let numbers): sum + numbers.count
            case .write, .acknowledge, .leaveOpen, .seal: sum
            }
        }
    }

    /// Writes to objects acknowledged once `step` was.
    func writeCount(before step: Int) -> Int {
        steps[..<step].count { if case .write = $0 { true } else { false } }
    }

    /// One change: object `number % 4` is put, deleted or born again, and a counter says how many such changes there were.
    static func objectWrites(_ number: Int) -> [ObjectWrite] {
        let name = "o/\(number % 4)"
        let large = String(repeating: "x", count: number % 5 == 0 ? 6_000 : 3)
        let first = [ObjectWrite.schema("o", #"{"deletePolicy":"updateWins","indexed":["n"],"fields":{"d":"local"}}"#)]
        let own: ObjectWrite =
            number % 7 == 5
            ? .deleting(name) : .putting(name, #"{"n":\#(number),"large":"\#(large)","d":\#(number)}"#)
        return (number == 0 ? first : []) + [own, .editing("o/total", "count", .increment(1), creating: true)]
    }

    func perform(_ step: CrashStep, on store: SQLiteStore) throws {
        switch step {
        case .append(let numbers): _ = try store.append(numbers.map { [Self.event($0)] }, wallMilliseconds: 1)
        case .write(let number): try store.write(Self.objectWrites(number), at: 1)
        case .apply(let segments, _): _ = try store.apply(segments, wallMilliseconds: 1)
        case .acknowledge(let position):
            try store.acknowledge(
                consumer: "c", stream: "s", space: .home, position: position, rewinding: false)
        case .leaveOpen: try store.leaveOpen()
        case .seal: _ = try store.seal()
        }
    }

    /// What is wrong with the objects; nil when they are those of the first writes, of which `acknowledged` at least.
    private func objectFinding(in store: SQLiteStore, acknowledged: Int) throws -> String? {
        let counted = try store.json("o/total")?["count"] ?? 0
        guard case .integer(let written) = counted else { return "the count of writes is none" }
        if written < acknowledged { return "\(acknowledged - Int(written)) acknowledged writes to objects lost" }
        var live = Set(["o/total"].prefix(Int(written)))
        for remainder in 0..<4 {
            let name = "o/\(remainder)"
            let numbers = (0..<Int(written)).filter { $0 % 4 == remainder }
            let isLive = numbers.last.map { $0 % 7 != 5 } ?? false
            if isLive { live.insert(name) }
            let wanted = isLive ? numbers.last.map { JSONValue.integer(Int64($0)) } : nil
            if try store.json(name)?["n"] != wanted { return "\(name) is another one after \(written) writes" }
            if let wanted, try store.object(name)?.localFields.first?.value != wanted {
                return "\(name) lost its draft"
            }
            if let wanted, try store.find("o", where: "n", is: wanted) != [name] { return "\(name) is not found" }
        }
        let events = try store.allEvents("s").filter { $0.dot.replica.device == Self.peer.id }.count
        if try store.json("p/total")?["n"] ?? 0 != .integer(Int64(events)) {
            return "a peer's object is behind its log"
        }
        let all = try store.find(nil)
        if Set(all) != (events > 0 ? live.union(["p/total"]) : live) { return "other objects are live: \(all)" }
        if try store.state().counts.objects != Int64(all.count) { return "live objects are counted otherwise" }
        return try replayFinding(in: store)
    }

    /// The log says of every object what its row says.
    private func replayFinding(in store: SQLiteStore) throws -> String? {
        let members = try store.members()
        for object in try store.changedObjects(of: nil, space: .home, after: 0, limit: .max) {
            var state = ObjectState()
            for touch in try store.touches(of: object.key, space: .home) {
                _ = state.apply(
                    touch.action, at: touch.origin, wallMilliseconds: touch.wallMilliseconds, members: members,
                    earlier: { [] })
            }
            if state != object.state { return "\(object.key) is not what the log says" }
        }
        return nil
    }

    /// What is wrong with a store that may have lost nothing of the first `acknowledged` events, and of the first
    /// `writes` to objects; nil when it is sound.
    func finding(in store: SQLiteStore, acknowledged: Int, writes: Int) throws -> String? {
        if let finding = try objectFinding(in: store, acknowledged: writes) { return finding }
        let texts = try store.allEvents("s").map(\.text)
        if texts.count < acknowledged { return "\(acknowledged - texts.count) acknowledged events lost" }
        for (number, text) in texts.enumerated() where !text.hasPrefix("[\(number)]") && !text.hasPrefix("[\(number),")
        {
            return "event \(number) is another one"
        }
        let state = try store.state()
        if state.lastPosition != Int64(texts.count) { return "positions and events differ" }
        if try store.recomputedDigest(of: .home) != state.digest { return "the digest is another one" }
        for known in state.tips {
            let device = known.replica.device == Self.peer.id ? Self.peer : TestDevice(1)
            let segments = try store.segments(of: known.replica, from: 0, byteBudget: .max)
            var tip = ReplicaTip.empty(space: .home, replica: known.replica)
            for segment in segments { tip = try segment.walked(from: tip).tip }
            // One signature vouches for the whole chain.
            let isSigned = ChainSignature.isValid(
                segments.last?.signature ?? [], space: .home, replica: known.replica, end: tip.next, head: tip.head,
                signingKey: device.fact.signingKey)
            if !isSigned { return "the tip is not signed" }
            if tip != known.tip { return "the chain does not reach its tip" }
        }
        try store.checkIntegrity()
        return nil
    }
}
