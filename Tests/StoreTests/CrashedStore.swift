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

    deinit { crash_disk_destroy(disk) }

    var operationCount: Int64 { crash_disk_operation_count(disk) }

    func afterPowerLoss(operationCount: Int64, _ loss: crash_loss, seed: UInt64) -> PoweredDisk {
        PoweredDisk(self, operationCount, loss, seed: seed)
    }

    /// Small limits, so that a short history has several checkpoints.
    func open(faults: StoreFaults = []) throws -> SQLiteStore {
        let device = TestDevice(1)
        var configuration = SQLiteConfiguration(directory: folder.path + "/data", leases: nil)
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
    /// Events of a peer.
    case apply([VerifiedSegment], [Int])
    case acknowledge(Int64)
}

/// A history of acknowledged writes whose result is known: the events of stream `s` are 0, 1, 2 …
struct CrashHistory {
    let steps: [CrashStep]
    static let peer = TestDevice(2)

    init(rounds: Int) throws {
        let source = try StoreBed(.memory, device: Self.peer).open()
        var steps: [CrashStep] = []
        var next = 0
        func numbers(_ count: Int) -> [Int] {
            defer { next += count }
            return Array(next..<next + count)
        }
        for round in 0..<rounds {
            let own = numbers(1 + round % 3)
            steps.append(.append(own))
            if round % 4 == 1 {
                let foreign = numbers(20)
                let segments = try source.append(foreign.map { [Self.event($0)] }, wallMilliseconds: 1).segments
                steps.append(.apply(segments, foreign))
            }
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
            case .acknowledge: sum
            }
        }
    }

    func perform(_ step: CrashStep, on store: any ReplicaStore) throws {
        switch step {
        case .append(let numbers): _ = try store.append(numbers.map { [Self.event($0)] }, wallMilliseconds: 1)
        case .apply(let segments, _): _ = try store.apply(segments, wallMilliseconds: 1)
        case .acknowledge(let position):
            try store.acknowledge(
                consumer: "c", stream: "s", space: .home, position: position, rewinding: false)
        }
    }

    /// What is wrong with a store that may have lost nothing of the first `acknowledged` events; nil when it is sound.
    func finding(in store: SQLiteStore, acknowledged: Int) throws -> String? {
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
