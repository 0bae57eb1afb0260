public import ControlAPI
import Synchronization

/// The connection of the sequences that go on to the agent: a lost agent is a state, not an error.
public final class Connection: Sendable {
    /// The state of the connection.
    public enum State: Equatable, Sendable {
        /// The agent answers.
        case connected
        /// The agent stopped or does not answer, for this reason. It is tried again all the time.
        case lost(ControlError)
    }

    private struct Watch {
        var state: State = .connected
        var watchers: [Int: AsyncStream<State>.Continuation] = [:]
        var nextNumber = 0
    }

    private let watch = Mutex(Watch())

    /// The state as the last request of a sequence found it.
    public var state: State { watch.withLock(\.state) }

    /// The state now and after each change. A slow reader is given the newest one.
    public var states: AsyncStream<State> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = watch.withLock { watch in
                watch.nextNumber += 1
                watch.watchers[watch.nextNumber] = continuation
                continuation.yield(watch.state)
                return watch.nextNumber
            }
            continuation.onTermination = { [weak self] _ in
                self?.watch.withLock { _ = $0.watchers.removeValue(forKey: number) }
            }
        }
    }

    private func record(_ state: State) {
        watch.withLock { watch in
            guard watch.state != state else { return }
            watch.state = state
            for watcher in watch.watchers.values { watcher.yield(state) }
        }
    }

    // MARK: Trying again

    /// The milliseconds between tries: soon at first, since an agent that is started again answers in 50 ms.
    private static let pauses: [Int64] = [50, 100, 250, 500, 1_000, 2_000]

    /// Runs a request that goes on, again and again while the agent is lost, until it returns or throws for another reason.
    ///
    /// - Parameter request: calls `isAlive` with every sign of life.
    func keepTrying(_ request: (_ isAlive: () -> Void) async throws -> Void) async throws {
        var failures = 0
        while true {
            let error: ControlError
            do {
                return try await request {
                    failures = 0
                    record(.connected)
                }
            } catch let lost as ControlError where lost.saysAgentIsLost {
                error = lost
            }
            try Task.checkCancellation()
            record(.lost(error))
            try await Task.sleep(for: .milliseconds(Self.pauses[min(failures, Self.pauses.count - 1)]))
            failures += 1
        }
    }
}

extension ControlError {
    /// True if another try may succeed without anything else being done than starting the agent.
    var saysAgentIsLost: Bool { [.connectionLost, .agentNotRunning, .stopping, .upgrading].contains(code) }
}
