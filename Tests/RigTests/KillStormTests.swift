import Foundation
import Testing

extension RigSuites {
    /// Agents killed at random moments while all of them write.
    @Suite struct KillStormTests {
        static let kills = 60

        @Test func `sixty kills lose no acknowledged event, reuse no counter and hide nothing from a consumer`() throws
        {
            let seed =
                UInt64(ProcessInfo.processInfo.environment["LANYARD_SEED"] ?? "") ?? UInt64.random(in: 1...999_999)
            print("    LANYARD_SEED=\(seed) draws the same nodes and pauses again")
            try Rig.with(3) { rig in
                let folder = try Shell.temporaryFolder()
                defer { try? FileManager.default.removeItem(at: folder) }
                let storm = Storm(rig: rig, folder: folder)
                try storm.begin()
                var chance = Chance(seed: seed)
                for _ in 1...Self.kills {
                    let victim = Int(chance.next() % 3) + 1
                    Thread.sleep(forTimeInterval: Double(chance.next() % 400) / 1_000)
                    try rig("kill", "\(victim)")
                    try rig("start", "\(victim)")
                }
                try storm.end()
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                try check(rig, storm)
            }
        }

        private func check(_ rig: Rig, _ storm: Storm) throws {
            let acknowledged = try (1...3).flatMap { try storm.acknowledged(by: $0) }
            print("    \(acknowledged.count) events acknowledged during \(Self.kills) kills")
            #expect(acknowledged.count > Self.kills, "a storm in which nothing is written shows nothing")
            var payloads: [String: StreamEvent.Payload] = [:]
            for number in 1...3 {
                let events = try rig.node(number).events("storm")
                #expect(Set(events.map(\.dot)).count == events.count, "node \(number) lists no dot twice")
                for event in events {
                    let known = payloads.updateValue(event.payload, forKey: event.dot)
                    #expect(known == nil || known == event.payload, "dot \(event.dot) names two payloads")
                }
                // A writer whose connection was lost sent its event again, under the same key.
                #expect(
                    Set(events.map { "\($0.payload)" }).count == events.count, "node \(number) lists no event twice")
                let held = Set(events.map(\.dot))
                let lost = acknowledged.filter { !held.contains($0) }
                #expect(
                    lost.isEmpty, "node \(number) lost \(lost.count) acknowledged events, such as \(lost.prefix(3))")
            }
            try checkConsumer(rig, try storm.consumed(), all: Set(payloads.keys))
        }

        private func checkConsumer(_ rig: Rig, _ seen: [StreamEvent], all: Set<String>) throws {
            // What it had not been given when it was stopped.
            let rest = try rig.node(1).lanyard("events", "storm", "--consumer", "watcher", "--json").lines
                .map { try JSONDecoder().decode(StreamEvent.self, from: Data($0.utf8)) }
            var given: Set<String> = []
            for event in seen + rest where !given.insert(event.dot).inserted {
                #expect(event.redelivered, "dot \(event.dot) came twice and the second time was not marked")
            }
            #expect(given == all, "the consumer saw \(given.count) of \(all.count) events")
        }
    }
}

/// Writers on three nodes and a consumer on the first, which go on through every kill until a file tells them to end.
private final class Storm {
    private let rig: Rig
    private let folder: URL
    private var processes: [Process] = []

    init(rig: Rig, folder: URL) {
        self.rig = rig
        self.folder = folder
    }

    private var stop: String { folder.appending(path: "stop").path }

    /// A line per acknowledged event: its dot. A write that failed is tried no more: its fate is unknown, the next is new.
    private var writer: String {
        """
        number=0
        while [ ! -e \(stop) ]; do
            number=$((number + 1))
            lanyard emit storm "{\\"from\\":\\"$(hostname)\\",\\"number\\":$number}" --json 2>/dev/null || sleep 0.02
        done
        """
    }

    private var consumer: String {
        "while [ ! -e \(stop) ]; do lanyard events storm --consumer watcher --follow --json 2>/dev/null || sleep 0.02; done"
    }

    func begin() throws {
        for number in 1...3 { try start("writer\(number)", on: number, script: writer) }
        try start("consumer", on: 1, script: consumer)
    }

    func end() throws {
        try Data().write(to: URL(filePath: stop))
        // The consumer follows for ever: killing what it follows ends it, and that is one more crash to survive.
        try rig("kill", "1")
        for process in processes { process.waitUntilExit() }
        try rig("start", "1")
    }

    func acknowledged(by number: Int) throws -> [String] {
        try lines("writer\(number)").compactMap { line in
            // The last line may be cut off by a kill: then its client was not told, either.
            (try? JSONDecoder().decode(Emitted.self, from: Data(line.utf8)))?.first
        }
    }

    func consumed() throws -> [StreamEvent] {
        try lines("consumer").map { try JSONDecoder().decode(StreamEvent.self, from: Data($0.utf8)) }
    }

    private func lines(_ name: String) throws -> [String] {
        try Shell.text(of: folder.appending(path: name)).split(separator: "\n").map(String.init)
    }

    private func start(_ name: String, on number: Int, script: String) throws {
        processes.append(
            try Shell.start(
                ["deploy/rig", "exec", "\(number)", "--", "sh", "-c", script],
                output: folder.appending(path: name), errors: folder.appending(path: name + ".errors"),
                environment: Rig.environment, limitSeconds: 600))
    }
}

/// SplitMix64: the same seed, the same storm.
private struct Chance {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
