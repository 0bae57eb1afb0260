import ControlAPI
import LanyardClient
import Synchronization

/// The loop of `lanyard run`: takes one event after the other to the command, and acknowledges it once that is done or the event
/// lies with the dead letters.
struct EventRunner {
    private static let longestPauseSeconds = 60

    let request: EventReadRequest
    let command: EventCommand
    let letters: DeadLetters
    let attempts: Int
    let client: LanyardClient
    let global: GlobalOptions
    /// The command that lists the letters, for hints.
    let lettersCommand: String
    private let stop = RunStop()

    init(
        request: EventReadRequest, command: EventCommand, letters: DeadLetters, attempts: Int, client: LanyardClient,
        global: GlobalOptions, lettersCommand: String
    ) {
        self.lettersCommand = lettersCommand
        self.request = request
        self.command = command
        self.letters = letters
        self.attempts = attempts
        self.client = client
        self.global = global
    }

    // MARK: The stream

    /// Returns when it was stopped, or without `follow` when all events are done.
    func run() async throws {
        Interruption.handle { [command, stop, global] _ in stop.handleSignal(command, global) }
        var losses = 0
        do {
            while true {
                var message = "The agent stopped."
                do {
                    try await stop.unlessStopped { try await read { losses = 0 } }
                    // A reader who follows is told of an end only by an agent that stops.
                    guard request.follow else { return }
                } catch let error as ControlError where request.follow && Self.isOfTheAgent(error) {
                    message = error.message
                }
                losses += 1
                let pause = Self.pauseSeconds(losses)
                if !stop.isAsked { global.note("\(message) Tries again in \(pause) s.") }
                try await stop.unlessStopped { try await Task.sleep(for: .seconds(pause)) }
            }
        } catch {
            // What ran was let end; what waited was cancelled.
            if stop.isAsked { return }
            throw error
        }
    }

    /// The agent is away, or goes: the consumer is where it was.
    private static func isOfTheAgent(_ error: ControlError) -> Bool {
        switch error.code {
        case .agentNotRunning, .connectionLost, .stopping, .upgrading: true
        case _: false
        }
    }

    private func read(_ started: () -> Void) async throws {
        try await client.readEvents(request, started: started) { events in
            for event in events {
                try await handle(event)
                // In a task of its own: a stop cancels what waits, and the command has taken this event.
                try await Task { [client, request] in
                    try await client.acknowledge(
                        event.position, of: request.stream, by: request.consumer ?? "", space: request.space)
                }.value
                if stop.isAsked { throw CancellationError() }
            }
        }
    }

    /// Returns when the command took the event, or its letter is kept.
    private func handle(_ event: EventLine) async throws {
        for attempt in 1... {
            guard case .failed(let reason) = try await command.run(input(event), variables(event, attempt)) else {
                return
            }
            if stop.isAsked { throw CancellationError() }
            let name = shown("\(event.dot)")
            guard attempt < attempts else {
                try letters.keep(
                    DeadLetters.Letter(
                        event: event, consumer: request.consumer ?? "", attempts: attempt, failure: reason, time: .now)
                )
                try report(event, attempt, reason, isDead: true)
                return global.note(
                    "\(name) failed (\(reason)) for the last of \(Amounts.count(attempts, "time")) and is a dead letter. "
                        + "See: \(lettersCommand)")
            }
            try report(event, attempt, reason, isDead: false)
            let pause = Self.pauseSeconds(attempt)
            global.note("\(name) failed (\(reason)), try \(attempt) of \(attempts); again in \(pause) s.")
            try await Task.sleep(for: .seconds(pause))
        }
    }

    /// A failure, for programs.
    private struct Report: Encodable {
        let event: DotText
        let attempt: Int
        let failure: String
        /// True if the event is a dead letter now.
        let isDeadLetter: Bool
    }

    private func report(_ event: EventLine, _ attempt: Int, _ reason: String, isDead: Bool) throws {
        guard global.json else { return }
        let report = Report(event: event.dot, attempt: attempt, failure: reason, isDeadLetter: isDead)
        try StandardOutput.write(json: JSONEncoding.bytes(report) + [0x0A])
    }

    /// 1, 2, 4 … 60.
    private static func pauseSeconds(_ failures: Int) -> Int {
        min(longestPauseSeconds, 1 << min(max(0, failures - 1), 6))
    }

    private func input(_ event: EventLine) -> [UInt8] { JSONEncoding.bytes(event) + [0x0A] }

    private func variables(_ event: EventLine, _ attempt: Int) -> [(name: String, value: String)] {
        var variables = [
            ("LANYARD_STREAM", event.stream), ("LANYARD_TYPE", event.type ?? ""), ("LANYARD_EVENT", "\(event.dot)"),
            ("LANYARD_POSITION", event.position.text), ("LANYARD_DEVICE", event.device),
            ("LANYARD_TIME", "\(event.time)"), ("LANYARD_SPACE", request.space),
            ("LANYARD_CONSUMER", request.consumer ?? ""), ("LANYARD_ATTEMPT", "\(attempt)"),
        ]
        // What the command asks with `lanyard`, it asks the same agent.
        if let socket = global.socket { variables.append(("LANYARD_SOCKET", socket)) }
        return variables
    }

    // MARK: The letters

    /// Runs the command once for each letter, in the order of arrival.
    ///
    /// - Throws: `cancelled` while some are left.
    func retry() async throws {
        Interruption.handle { [command, stop, global] _ in stop.handleSignal(command, global) }
        let entries = try letters.all()
        var left = 0
        for entry in entries {
            if stop.isAsked {
                left += 1
                continue
            }
            var letter = entry.letter
            letter.attempts += 1
            switch try await command.run(input(letter.event), variables(letter.event, letter.attempts)) {
            case .done: try letters.remove(letter.event)
            case .failed(let reason):
                left += 1
                (letter.failure, letter.time) = (reason, .now)
                try letters.keep(letter)
                global.note("\(shown("\(letter.event.dot)")) failed again (\(reason)).")
            }
        }
        guard left > 0 else {
            let taken = "\(Amounts.count(entries.count, "letter")) taken."
            return global.note(entries.isEmpty ? "No dead letters." : taken)
        }
        throw ControlError(
            .cancelled, "Dead letters: \(left) of \(entries.count) left.",
            hint: "See: \(lettersCommand)")
    }
}

/// The wish of a person, or of the system, that `lanyard run` ends: what runs may end, what waits is cancelled.
private final class RunStop: Sendable {
    private struct State {
        var signals = 0
        var waiting: Task<Void, any Error>?
    }

    private let state = Mutex(State())

    var isAsked: Bool { state.withLock { $0.signals > 0 } }

    func handleSignal(_ command: EventCommand, _ global: GlobalOptions) {
        let (count, waiting) = state.withLock { state in
            state.signals += 1
            return (state.signals, state.waiting)
        }
        if count == 1, command.isRunning {
            global.note("Ends once the command has; Ctrl-C again kills it.")
        } else {
            command.stop()
            waiting?.cancel()
        }
    }

    /// Runs `body` so that a signal cancels it.
    func unlessStopped(_ body: @escaping () async throws -> Void) async throws {
        // The task is waited for here: what it captures is used by one of the two at a time.
        nonisolated(unsafe) let body = body
        let task = Task { try await body() }
        let isAsked = state.withLock { state in
            state.waiting = task
            return state.signals > 0
        }
        if isAsked { task.cancel() }
        try await task.value
    }
}
