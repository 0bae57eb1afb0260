import Synchronization

/// The turns of tests that run agents. An agent has about 25 descriptors and some threads, and tests run all at once. The wait
/// for a turn counts for the time limit of a suite, and all tests together take two minutes and more.
enum AgentTurns {
    @TaskLocal private static var isTaken = false

    private struct Turns {
        var free = 24
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let turns = Mutex(Turns())

    /// Runs `body` once a turn is free; at once inside of a turn, since a test that runs two agents would wait for itself.
    static func with<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        if isTaken { return try await body() }
        await withCheckedContinuation { continuation in
            let isFree = turns.withLock { turns in
                if turns.free > 0 {
                    turns.free -= 1
                    return true
                }
                turns.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = turns.withLock { turns -> CheckedContinuation<Void, Never>? in
                if !turns.waiting.isEmpty { return turns.waiting.removeFirst() }
                turns.free += 1
                return nil
            }
            next?.resume()
        }
        return try await $isTaken.withValue(true) { try await body() }
    }
}
