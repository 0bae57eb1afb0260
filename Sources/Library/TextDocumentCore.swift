import ControlAPI
import LanyardClient
import Synchronization

/// The part of a document that its tasks hold: they end when the document is gone and what was typed is written.
final class TextDocumentCore: Sendable {
    /// The arrived steps that are kept one by one for a view that does not take them; more become one.
    private static let maximumArrived = 256

    struct State {
        var session: TextSession
        /// The text on the screen.
        var text = ""
        /// Edits of others that are not part of `text` yet.
        var arrived: [TextSplice] = []
        /// The loops over `remoteEdits`.
        var viewers = 0
        var cursors: [Int: (offset: Int, kind: TextCursor.Kind)] = [:]
        var lastCursor = 0
        /// The error that ended the document.
        var failure: (any Error)?
        var isFinishing = false
        /// The task that follows the text. To begin anew it is replaced.
        var task: Task<Void, Never>?
        /// The number of tasks that have followed it.
        var tasks = 0
        /// True while lines come. Only then is anything sent: what a text contains that is read later would be uncertain.
        var isFollowing = false
        /// Those that wait for a change of the state, and look again.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0

        init(unit: TextUnit) { session = TextSession(unit: unit) }
    }

    let unit: TextUnit
    let state: Mutex<State>
    private let lanyard: Lanyard
    private let name: ObjectName
    private let path: FieldPath

    init(_ lanyard: Lanyard, _ name: ObjectName, _ path: FieldPath, _ unit: TextUnit) {
        self.lanyard = lanyard
        self.name = name
        self.path = path
        self.unit = unit
        state = Mutex(State(unit: unit))
    }

    // MARK: The user

    /// Begins to follow the text; returns when it is here.
    func open() async throws {
        state.withLock { begin(&$0) }
        do {
            try await waitUntil { $0.session.version != nil }
        } catch {
            state.withLock { $0.task?.cancel() }
            throw error
        }
    }

    /// Takes an edit of the text on the screen.
    func edit(_ step: TextSplice) throws(ControlError) { try edit { _ in step } }

    /// Takes the edit of the text on the screen that `step` makes of it; none for nil.
    func edit(_ step: (borrowing State) -> TextSplice?) throws(ControlError) {
        // Those that wait for a clean text are woken by the deletion of what was not sent.
        let result: Result<Void, ControlError> = change { state in
            if let failure = state.failure { return .failure(failure as? ControlError ?? .unexpected(failure)) }
            guard let step = step(state) else { return .success(()) }
            guard step.offset >= 0, step.deleted >= 0, step.offset + step.deleted <= unit.count(state.text) else {
                return .failure(.indexOutOfRange(path.description, count: unit.count(state.text)))
            }
            guard state.text.index(at: step.offset, in: unit) != nil,
                state.text.index(at: step.offset + step.deleted, in: unit) != nil
            else {
                return .failure(
                    ControlError(
                        .insideCharacter, "The edit begins or ends inside of a character of \"\(path)\".",
                        hint: "Take the whole character: it has several units."))
            }
            state.text.apply([step], in: unit)
            state.moveCursors(step, isLocal: true)
            let moved = TextTransformation.transform([step], over: state.arrived, in: unit)
            state.arrived = moved.earlier
            for step in moved.later { state.session.edit(step) }
            return .success(())
        }
        try result.get()
        sendNext()
    }

    func saved() async throws { try await waitUntil(\.session.isClean) }

    /// Ends the document when all that was typed is written.
    func finish() {
        state.withLock { state in
            state.isFinishing = true
            if state.session.isClean { state.task?.cancel() }
        }
    }

    // MARK: Others' edits

    func takeRemoteEdits() -> [TextSplice] { state.withLock { $0.takeArrived() } }

    /// Waits for edits of others and takes them; nil when the task is cancelled.
    func nextRemoteEdits() async throws -> [TextSplice]? {
        do { try await waitUntil { !$0.arrived.isEmpty } } catch is CancellationError { return nil }
        return takeRemoteEdits()
    }

    // MARK: The agent

    /// The reason for which the text is read anew.
    private struct BeginAnew: Error {}

    /// Follows the text in a new task, after the end of the one before.
    private func begin(_ state: inout State) {
        let last = state.task
        last?.cancel()
        state.isFollowing = false
        state.tasks += 1
        let number = state.tasks
        state.task = Task {
            await last?.value
            await run(number)
        }
    }

    /// Follows the text until the document ends, or this task is replaced.
    private func run(_ number: Int) async {
        var ending: any Error = CancellationError()
        do {
            while true {
                do {
                    try await lanyard.connection.keepTrying { isAlive in
                        try await resolveSent()
                        try await follow(isAlive)
                    }
                } catch is BeginAnew {}
            }
        } catch {
            ending = error
        }
        change { state in
            if state.tasks == number, state.failure == nil { state.failure = ending }
        }
    }

    private func follow(_ isAlive: () -> Void) async throws {
        defer { state.withLock { $0.isFollowing = false } }
        var isFirst = true
        try await lanyard.client.followText(name, field: path, unit: unit, space: lanyard.space) { line in
            isAlive()
            let mustBeginAnew = change { state in
                switch line {
                case .text where !isFirst && state.session.sent != nil: return true
                case .text(let version, let text):
                    state.show(state.session.take(text: text, version: version), limit: Self.maximumArrived)
                    state.isFollowing = true
                case .edits(let version, let steps, let key):
                    state.show(
                        state.session.take(steps, version: version, key: key), limit: Self.maximumArrived)
                }
                return false
            }
            // Whether the batch on the way is part of this text, only its answer says.
            if mustBeginAnew { throw BeginAnew() }
            isFirst = false
            sendNext()
        }
        throw ControlError.agentStopped
    }

    /// Sends what was typed, unless a batch is on the way.
    private func sendNext() {
        let batch = state.withLock { state -> TextSession.Batch? in
            guard state.failure == nil, state.isFollowing else { return nil }
            if state.isFinishing, state.session.isClean { state.task?.cancel() }
            return state.session.nextBatch { Self.freshKey() }
        }
        guard let batch else { return }
        Task { [self] in
            do {
                _ = try await ask(batch)
                // The line with its key says that it is part of the text, and at which place.
            } catch {
                handle(error, of: batch)
            }
        }
    }

    private func ask(_ batch: TextSession.Batch) async throws -> String {
        while true {
            do {
                return try await lanyard.client.once(batch.key).editText(
                    name, field: path, batch.request, space: lanyard.space)
            } catch {
                // Not applied, and may be later: other writes came first, or this device comes back after it was retired.
                guard [.catchingUp, .writingAgain].contains(error.code), state.withLock({ $0.failure == nil }) else {
                    throw error
                }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    private func handle(_ error: any Error, of batch: TextSession.Batch) {
        change { state in
            // A line may have said meanwhile that it was applied, or another connection asked again.
            guard state.session.sent?.key == batch.key else { return }
            let error = error as? ControlError ?? .unexpected(error)
            if error.code == .textVersionUnknown {
                state.session.handleForgotten()
                begin(&state)
            } else if error.saysAgentIsLost {
                begin(&state)
            } else {
                state.failure = error
                state.task?.cancel()
            }
        }
    }

    /// Asks again for the batch whose answer was lost. The text that is read afterwards contains it, or it never will.
    private func resolveSent() async throws {
        guard let batch = state.withLock(\.session.sent) else { return }
        do {
            _ = try await ask(batch)
            change { if $0.session.sent?.key == batch.key { $0.session.handleApplied() } }
        } catch let error as ControlError where error.code == .textVersionUnknown {
            change { if $0.session.sent?.key == batch.key { $0.session.handleForgotten() } }
        }
    }

    private static func freshKey() -> String {
        "text-\(String(UInt64.random(in: 0 ... .max), radix: 36))-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    // MARK: Waiting

    /// Changes the state, and wakes those that wait.
    @discardableResult
    private func change<Value: Sendable>(_ body: (inout sending State) -> Value) -> Value {
        let (value, waiting) = state.withLock { state in
            let value = body(&state)
            defer { state.waiting = [:] }
            return (value, state.waiting.values.map(\.self))
        }
        for waiter in waiting { waiter.resume() }
        return value
    }

    /// Returns when the condition holds. Throws what ended the document, and `CancellationError`.
    private func waitUntil(_ condition: (borrowing State) -> Bool) async throws {
        while true {
            let id = try state.withLock { state -> Int? in
                if condition(state) { return nil }
                if let failure = state.failure { throw failure }
                state.lastWaiter += 1
                return state.lastWaiter
            }
            guard let id else { return }
            try Task.checkCancellation()
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isDue = state.withLock { state in
                        if condition(state) || state.failure != nil || Task.isCancelled { return true }
                        state.waiting[id] = continuation
                        return false
                    }
                    if isDue { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
            }
        }
    }
}

extension TextDocumentCore.State {
    /// Takes the arrived edits into the text on the screen.
    mutating func takeArrived() -> [TextSplice] {
        let steps = arrived
        arrived = []
        text.apply(steps, in: session.unit)
        for step in steps { moveCursors(step, isLocal: false) }
        return steps
    }

    /// Keeps steps for the view, or shows them at once if there is none.
    mutating func show(_ steps: [TextSplice], limit: Int) {
        arrived += steps
        if viewers == 0 {
            _ = takeArrived()
        } else if arrived.count > limit {
            var target = text
            target.apply(arrived, in: session.unit)
            arrived = TextSplice.difference(from: text, to: target, in: session.unit)
        }
    }

    mutating func moveCursors(_ step: TextSplice, isLocal: Bool) {
        let inserted = session.unit.count(step.inserted)
        for (id, (offset, kind)) in cursors {
            let stays =
                switch kind {
                case .caret: isLocal ? offset < step.offset : offset <= step.offset
                case .start: offset < step.offset
                case .end: offset <= step.offset
                }
            if !stays { cursors[id]?.offset = max(offset - step.deleted, step.offset) + inserted }
        }
    }
}
