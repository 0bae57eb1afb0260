public import ControlAPI
import LanyardClient

extension Lanyard {
    /// Saves the state that a consumer computed from the events of a type, for devices that begin later; durable on return, and
    /// on its way to them.
    ///
    /// The state is written as JSON and held in memory. For a larger one there is `client.saveSnapshot`.
    ///
    /// - Parameters:
    ///   - state: exactly what the acknowledged events lead to: read `events` to their end first, or say `position`.
    ///   - schema: the version of the state's form. Count it up when a state of before lacks what the application needs now.
    ///   - position: the place behind the last event in the state; nil: all that is acknowledged is in it.
    ///   - keepMostRecent: deletes older snapshots of this version whose events are in newer ones, all but so many; nil: none.
    @discardableResult
    public func saveSnapshot<State: Encodable, Event: LanyardEvent>(
        _ state: State, of type: Event.Type, consumer: String, schema: Int64, position: EventPosition? = nil,
        keepMostRecent: Int? = nil
    ) async throws -> SavedSnapshot {
        let bytes = try FieldCoding.json(state).bytes
        let chunks = AsyncStream { continuation in
            continuation.yield(bytes)
            continuation.finish()
        }
        return try await client.saveSnapshot(
            chunks,
            SnapshotSaveRequest(
                of: Event.stream, consumer: consumer, schema: schema, space: space, position: position,
                keepMostRecent: keepMostRecent, size: UInt64(bytes.count)))
    }

    /// Begins a consumer with the best snapshot of a schema version, saved by this device or another: from then on it is given
    /// just the events that are not in it. Returns nil where there is none of this version: then begin from nothing, with
    /// ``restart(consumer:of:)``.
    ///
    /// A program that ends before `keep` has returned, or soon after, leaves a consumer that reads nothing
    /// (`restore_unfinished`) until a restore succeeds: never with a state that does not fit. Throws what
    /// `client.restoreSnapshot` throws for other reasons, and `type_mismatch` for bytes that are no such state.
    ///
    /// - Parameter keep: makes the state durable.
    public func restoreSnapshot<State: Decodable, Event: LanyardEvent>(
        _ state: State.Type, of type: Event.Type, consumer: String, schema: Int64,
        keep: (State) async throws -> Void
    ) async throws -> (state: State, snapshot: SnapshotEntry)? {
        var bytes: [UInt8] = []
        var state: State?
        do {
            let restored = try await client.restoreSnapshot(
                RestoreRequest(stream: Event.stream, schema: schema), consumer: consumer, space: space, { bytes += $0 },
                keep: {
                    let value = try FieldCoding.value(State.self, json: try Self.json(bytes))
                    try await keep(value)
                    state = value
                })
            return state.map { ($0, restored.snapshot) }
        } catch let error as ControlError where [.unknownSnapshot, .snapshotSchema].contains(error.code) {
            return nil
        }
    }

    /// Begins a consumer from nothing: it is given all events again. A consumer that is not there yet begins so by itself.
    public func restart<Event: LanyardEvent>(
        consumer: String, of type: Event.Type
    ) async throws(ControlError) {
        guard try await self.consumer(consumer, of: type) != nil else { return }
        _ = try await client.setConsumer(consumer, stream: Event.stream, position: .arrival(0), space: space)
    }

    /// Returns how far a consumer is; nil where it has not read yet.
    public func consumer<Event: LanyardEvent>(
        _ name: String, of type: Event.Type
    ) async throws(ControlError) -> ConsumerEntry? {
        try await client.consumers(space: space).first { $0.name == name && $0.stream == Event.stream }
    }

    private static func json(_ bytes: [UInt8]) throws(ControlError) -> JSONText {
        do throws(JSONSyntaxError) { return try JSONText(bytes) } catch {
            throw ControlError(
                .typeMismatch, "The snapshot holds no JSON.", hint: "Read it with: lanyard snapshot restore.")
        }
    }
}
