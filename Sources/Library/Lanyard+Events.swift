public import ControlAPI
import LanyardClient

/// An event as it was read.
public struct ReceivedEvent<Event: LanyardEvent>: Sendable {
    /// The event as its author wrote it.
    public let value: Event
    /// The name of the event, the same on every device.
    public let dot: DotText
    /// The id of the device that wrote it; this one's, too.
    public let device: String
    /// The time at which it was written, by the author's clock.
    public let time: Timestamp
    /// The place behind the event in the stream, for ``Lanyard/events(of:consumer:after:follow:skipping:)``.
    public let position: EventPosition
    /// True if the consumer was given the event before and did not finish with it.
    public let redelivered: Bool
}

extension Lanyard {
    // MARK: Writing

    /// Appends an event to the stream of its type; it is durable when this returns.
    @discardableResult
    public func emit<Event: LanyardEvent>(_ event: Event) async throws(ControlError) -> EmitResponse {
        try await client.emit(try FieldCoding.json(event), type: event.eventType, to: Event.stream, space: space)
    }

    /// Appends an event, and returns when `devices` devices, this one included, have it on their disks. Throws `timed_out` after
    /// `bound`; the event is written then, too.
    @discardableResult
    public func emit<Event: LanyardEvent>(
        _ event: Event, durableOn devices: Int, within bound: Duration = .seconds(10)
    ) async throws(ControlError) -> EmitResponse {
        let answer = try await emit(event)
        if let version = answer.last { try await untilDurable(version, on: devices, within: bound) }
        return answer
    }

    /// Sets how the stream of a type is kept, on all devices. A setting that is nil, or as it is already, is left alone.
    public func setStream<Event: LanyardEvent>(
        of type: Event.Type, _ settings: StreamSettings
    ) async throws(ControlError) {
        let stream = try await client.streams(space: space).first { $0.name == Event.stream }
        if settings.isMet(by: stream) { return }
        _ = try await client.setStream(Event.stream, settings, space: space)
    }

    // MARK: Reading

    /// The events of a stream: those that are there and, with `follow`, those that come, from every device.
    ///
    /// Of a struct with a `type`, events of other types are left out. With a consumer, events that arrived together are acknowledged once the loop has asked for the one behind them. A
    /// program that is ended in a loop's body is given these again, with `redelivered`: at least once, never less. An agent
    /// that stops is waited for.
    ///
    /// - Parameters:
    ///   - consumer: the name of a reader whose place in the stream the agent keeps; nil: from `after`, or the beginning.
    ///   - after: the place to begin behind.
    ///   - follow: false to end with the last event that is there.
    ///   - skipping: is given the error and the line of each event that does not fit the struct; nil: such an event ends the
    ///     sequence with `type_mismatch`, and a consumer stays before it.
    public func events<Event: LanyardEvent>(
        of type: Event.Type, consumer: String? = nil, after: EventPosition? = nil, follow: Bool = true,
        skipping: (@Sendable (ControlError, EventLine) -> Void)? = nil
    ) -> PulledSequence<ReceivedEvent<Event>> {
        let batches = eventBatches(of: type, consumer: consumer, after: after, follow: follow, skipping: skipping)
        return PulledSequence { give in
            for try await batch in batches {
                for event in batch { try await give(event) }
            }
        }
    }

    /// The same events in the batches in which they arrive, none of them empty.
    ///
    /// A program that keeps what it computed writes it down once for each batch: a consumer's place moves on when the loop asks
    /// for the next one.
    public func eventBatches<Event: LanyardEvent>(
        of type: Event.Type, consumer: String? = nil, after: EventPosition? = nil, follow: Bool = true,
        skipping: (@Sendable (ControlError, EventLine) -> Void)? = nil
    ) -> PulledSequence<[ReceivedEvent<Event>]> {
        PulledSequence { give in
            var place = after
            try await connection.keepTrying { isAlive in
                // A consumer's place is one in all of the stream, so it is given events of other types, too.
                let request = EventReadRequest(
                    space: space, stream: Event.stream, after: place, consumer: consumer, follow: follow,
                    type: consumer == nil ? Event.type : nil)
                try await client.readEvents(request, started: isAlive) { lines in
                    let (events, error) = Self.received(lines, as: Event.self, skipping)
                    if !events.isEmpty { try await give(events) }
                    if let error { throw error }
                    // A consumer's place is the agent's to keep.
                    place = consumer == nil ? lines.last?.position ?? place : nil
                }
                if follow { throw ControlError.agentStopped }
            }
        }
    }

    /// Returns the events up to the first that does not fit the struct, and the error for that one.
    private static func received<Event: LanyardEvent>(
        _ lines: [EventLine], as type: Event.Type, _ skipping: ((ControlError, EventLine) -> Void)?
    ) -> (events: [ReceivedEvent<Event>], error: ControlError?) {
        var events: [ReceivedEvent<Event>] = []
        for line in lines where Event.type == nil || line.type == Event.type {
            do throws(ControlError) {
                events.append(
                    ReceivedEvent(
                        value: try FieldCoding.value(Event.self, json: line.payload), dot: line.dot,
                        device: line.device, time: line.time, position: line.position, redelivered: line.redelivered))
            } catch {
                guard let skipping else {
                    return (events, error.concerning("\(Event.stream), event \(line.dot)"))
                }
                skipping(error, line)
            }
        }
        return (events, nil)
    }
}

extension StreamSettings {
    /// True if nothing has to be written for `stream` to be kept so.
    fileprivate func isMet(by stream: StreamEntry?) -> Bool {
        if let latestOnly, latestOnly != stream?.latestOnly { return false }
        switch retention {
        case nil: return true
        case .forever: return stream.map { $0.retainSeconds == nil } ?? false
        case .seconds(let seconds): return stream?.retainSeconds == seconds
        }
    }
}
