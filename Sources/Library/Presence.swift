public import ControlAPI
import LanyardClient
import Synchronization

/// A value that is present in a room, for as long as its client is connected.
public struct Present<Value: Codable & Sendable>: Sendable {
    /// The id of the device on which the client runs.
    public let device: String
    /// The device's name.
    public let deviceName: String
    /// The client's session. A device may have several, and a client has another one after its agent was away.
    public let session: PresenceSession
    /// The value.
    public let value: Value
    /// True for a client of this device.
    public let isThisDevice: Bool
    /// True for the value that this room has set.
    public let isMine: Bool
}

extension Present: Equatable where Value: Equatable {}
extension Present: Hashable where Value: Hashable {}

/// A topic under which clients show each other values that are never stored: a cursor, a name, "is typing".
///
/// ```swift
/// let room = try await home.presence(Cursor.self, in: "note:\(id)")
/// try await room.set(Cursor(name: "Ada", offset: 12))
/// for try await people in room.people { show(people) }
/// room.leave()
/// ```
///
/// A value is there for as long as its client is connected to its agent, and 15 s longer where a whole device was lost. An agent
/// that stops is waited for: nothing is present meanwhile, then the room joins anew and sets its newest value again. The room is
/// left when it is not referenced any more; a sequence that is iterated refers to it.
public final class Presence<Value: Codable & Sendable>: Sendable {
    private let room: PresenceRoom
    private let task: Task<Void, Never>

    fileprivate init(_ lanyard: Lanyard, topic: String) async throws(ControlError) {
        let room = PresenceRoom(lanyard, topic: topic)
        self.room = room
        task = Task { await room.run() }
        do { for try await _ in room.lists() { return } } catch let error as ControlError { throw error } catch {
            throw .unexpected(error)
        }
        // Without a list the task was cancelled.
        task.cancel()
        throw .unexpected(CancellationError())
    }

    deinit { task.cancel() }

    /// Sets the value of this room, in place of the one before. Nil takes it away.
    ///
    /// The newest value counts: of several that are set at once, those that were overtaken are not sent. While the agent is away
    /// the value is kept, and set when the room has joined again. Throws `too_large` for more than 1,024 bytes as JSON, and
    /// `limit_reached` if all values of this device are too much together.
    public func set(_ value: Value?) async throws(ControlError) {
        var text: JSONText?
        if let value { text = try FieldCoding.json(value) }
        try await room.set(text)
    }

    /// The values that are present, now and after every change: those of this device, too, sorted by device and session.
    ///
    /// What changes while the loop's body runs comes together. A value that is no `Value` is left out. It ends when the room is
    /// left or the task is cancelled, and throws what keeps the room from being joined again.
    public var people: PulledSequence<[Present<Value>]> {
        PulledSequence { [self] give in
            for try await (present, session) in room.lists() {
                try await give(
                    present.compactMap { entry in
                        guard let value = try? FieldCoding.value(Value.self, json: entry.value) else { return nil }
                        return Present(
                            device: entry.device, deviceName: entry.name, session: entry.session, value: value,
                            isThisDevice: entry.isThisDevice, isMine: entry.isThisDevice && entry.session == session)
                    })
            }
        }
    }

    /// Leaves the room: the value goes at once, and sequences end.
    public func leave() { task.cancel() }
}

extension Lanyard {
    /// Joins a topic of presence, under which clients show each other values that are never stored.
    ///
    /// - Parameter topic: a name of the application's choice, 1 to 128 bytes without `/` and control characters.
    /// - Throws: `agent_not_running`, `invalid_name`, and `limit_reached` if this device has as many sessions as it may.
    public func presence<Value: Codable & Sendable>(
        _ type: Value.Type, in topic: String
    ) async throws(ControlError) -> Presence<Value> {
        _ = try await client.version()
        return try await Presence(self, topic: topic)
    }
}

/// The session of a room with its agent: joins again when that was away, and sends the newest value.
private final class PresenceRoom: Sendable {
    private typealias List = (present: [PresentValue], session: PresenceSession?)

    private struct State {
        /// The session; nil while there is none.
        var session: PresenceSession?
        /// The list as it was told last; nil before the first.
        var list: List?
        var watchers: [Int: AsyncThrowingStream<([PresentValue], PresenceSession?), any Error>.Continuation] = [:]
        var lastWatcher = 0
        /// The reason why the room is not joined any more.
        var end: Result<Void, any Error>?
        /// The value to be sent, and the number of values until it.
        var wanted: JSONText?
        var wantedNumber = 0
        /// The newest value that the agent took.
        var taken: JSONText?
        /// The sending under way, behind which the next one waits.
        var sending: Task<ControlError?, Never>?
    }

    private let lanyard: Lanyard
    private let topic: String
    private let state = Mutex(State())

    init(_ lanyard: Lanyard, topic: String) {
        self.lanyard = lanyard
        self.topic = topic
    }

    /// Keeps the room joined until the task is cancelled, or for good reason it cannot be.
    func run() async {
        let end: Result<Void, any Error>
        do {
            try await lanyard.connection.keepTrying { isAlive in
                defer { lose() }
                try await lanyard.client.followPresence(topic, space: lanyard.space) { session in
                    isAlive()
                    join(session)
                } _: { present in
                    isAlive()
                    show(present)
                }
                throw ControlError.agentStopped
            }
            end = .success(())
        } catch {
            end = Task.isCancelled ? .success(()) : .failure(error)
        }
        finish(end)
    }

    /// Ends the session. Without an agent it is not known any more what is present.
    private func lose() {
        let wasShown = state.withLock { state in
            state.session = nil
            return !(state.list?.present.isEmpty ?? true)
        }
        if wasShown { show([]) }
    }

    private func join(_ session: PresenceSession) {
        let hasValue = state.withLock { state in
            state.session = session
            state.taken = nil
            return state.wanted != nil
        }
        if hasValue { _ = send() }
    }

    // MARK: Lists

    /// The lists of what is present, each with the session of this room; the newest only for a slow reader.
    func lists() -> AsyncThrowingStream<([PresentValue], PresenceSession?), any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = state.withLock { state -> Int? in
                if let list = state.list { continuation.yield((list.present, list.session)) }
                if let end = state.end {
                    Self.finish(continuation, end)
                    return nil
                }
                state.lastWatcher += 1
                state.watchers[state.lastWatcher] = continuation
                return state.lastWatcher
            }
            guard let number else { return }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.watchers.removeValue(forKey: number) }
            }
        }
    }

    private func show(_ present: [PresentValue]) {
        let (watchers, session) = state.withLock { state in
            state.list = (present, state.session)
            return (Array(state.watchers.values), state.session)
        }
        for watcher in watchers { watcher.yield((present, session)) }
    }

    private func finish(_ end: Result<Void, any Error>) {
        let watchers = state.withLock { state in
            state.end = end
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers { Self.finish(watcher, end) }
    }

    private static func finish(
        _ watcher: AsyncThrowingStream<([PresentValue], PresenceSession?), any Error>.Continuation,
        _ end: Result<Void, any Error>
    ) {
        switch end {
        case .success: watcher.finish()
        case .failure(let error): watcher.finish(throwing: error)
        }
    }

    // MARK: Values

    /// Sends a value, unless a newer one overtakes it.
    func set(_ value: JSONText?) async throws(ControlError) {
        state.withLock { state in
            state.wanted = value
            state.wantedNumber += 1
        }
        if let error = await send().value { throw error }
    }

    /// Sends the newest value behind the one that is being sent: two requests at once could overtake each other.
    private func send() -> Task<ControlError?, Never> {
        state.withLock { state in
            let (number, before) = (state.wantedNumber, state.sending)
            let task = Task { [self] in
                _ = await before?.value
                return await sendWanted(number)
            }
            state.sending = task
            return task
        }
    }

    private func sendWanted(_ number: Int) async -> ControlError? {
        // Until it is overtaken, or to be sent once the room has joined.
        while let (session, value) = state.withLock({ state in
            state.wantedNumber == number ? state.session.map { ($0, state.wanted) } : nil
        }) {
            do throws(ControlError) {
                try await lanyard.client.setPresence(value, of: session, in: topic, space: lanyard.space)
                state.withLock { $0.taken = value }
                return nil
            } catch {
                // The session ended: the room joins again, with this value.
                if error.code == .notFound { return nil }
                guard error.saysAgentIsLost else {
                    // What was refused is not sent again.
                    state.withLock { state in
                        if state.wantedNumber == number { state.wanted = state.taken }
                    }
                    return error
                }
                // Only this connection may be lost, and the session live on.
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        return nil
    }
}
