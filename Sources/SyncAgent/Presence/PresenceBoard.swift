package import SyncModel
import Synchronization

/// The values that are present: those of the sessions of this agent's clients, and those of other members. Nothing of it is
/// stored.
///
/// Bounds: `maximumSessions` sessions, whose values fit one presence record.
package final class PresenceBoard: Sendable {
    /// The value of one session, here or on another device.
    package struct Participant: Hashable, Sendable {
        package let device: DeviceID
        /// The device's name, as its peers know it.
        package let name: String
        package let session: UInt64
        /// JSON text as it came from its device; that of another device was not checked.
        package let value: [UInt8]
    }

    /// The reason why a session cannot begin, or get a value.
    package enum Refusal: Error, Hashable, Sendable {
        case tooManySessions
        /// The values of all sessions together would be beyond `Limits.presenceRecordBytes`.
        case tooMuch
        case unknownSession
    }

    private struct Session {
        let topic: ExactString
        var value: [UInt8]?
    }

    private struct State {
        /// The name of this device.
        var name: String
        var sessions: [UInt64: Session] = [:]
        var others: [PresenceRecord] = []
        var names: [DeviceID: String] = [:]
        /// The agent's own entries: its answers to questions about links.
        var answers: [PresenceRecord.Entry] = []

        /// The entries of this device's record.
        var entries: [PresenceRecord.Entry] {
            sessions.compactMap { id, session in
                session.value.map { PresenceRecord.Entry(topic: session.topic, session: id, value: $0) }
            }
        }
    }

    package static let maximumSessions = Limits.presenceEntries

    /// The signal that wakes those who look at a topic.
    package let signal = ChangeSignal()
    private let own: DeviceID
    /// Called after a value of this device changed.
    private let ownChanged: @Sendable () -> Void
    private let state: Mutex<State>

    init(own: DeviceID, name: String, ownChanged: @escaping @Sendable () -> Void) {
        self.own = own
        state = Mutex(State(name: name))
        self.ownChanged = ownChanged
    }

    // MARK: Sessions

    /// True if another session may begin.
    package var hasRoom: Bool { state.withLock { $0.sessions.count < Self.maximumSessions } }

    /// Begins a session without a value. Its number is random: a number that another device has says nothing.
    package func join(_ topic: ExactString) throws(Refusal) -> UInt64 {
        let session = state.withLock { state -> UInt64? in
            guard state.sessions.count < Self.maximumSessions else { return nil }
            var session: UInt64
            repeat { session = .random(in: 1 ... .max) } while state.sessions[session] != nil
            state.sessions[session] = Session(topic: topic)
            return session
        }
        guard let session else { throw .tooManySessions }
        return session
    }

    /// Sets the value of a session of this topic; nil takes it away.
    ///
    /// - Parameter value: JSON text of at most `Limits.presenceValueBytes`, not empty.
    package func set(_ value: [UInt8]?, of session: UInt64, in topic: ExactString) throws(Refusal) {
        precondition((1...Limits.presenceValueBytes).contains(value?.count ?? 1), "a value of the wrong size")
        let refusal = state.withLock { state -> Refusal? in
            guard let before = state.sessions[session], before.topic == topic else { return .unknownSession }
            state.sessions[session]?.value = value
            guard record(state.entries).isValid else {
                state.sessions[session]?.value = before.value
                return .tooMuch
            }
            return nil
        }
        if let refusal { throw refusal }
        signal.touch()
        ownChanged()
    }

    /// Ends a session, and with it its value.
    package func leave(_ session: UInt64) {
        guard let left = state.withLock({ $0.sessions.removeValue(forKey: session) }), left.value != nil else { return }
        signal.touch()
        ownChanged()
    }

    private func record(_ entries: [PresenceRecord.Entry]) -> PresenceRecord {
        PresenceRecord(device: own, mark: PresenceMark(run: 0, sequence: 0), entries: entries)
    }

    /// The entries of this device's record, in its order. The agent's own take the room that values of clients leave.
    var entries: [PresenceRecord.Entry] {
        let (values, answers) = state.withLock { ($0.entries, $0.answers) }
        return answers.reduce(into: record(values)) { sum, answer in
            let more = record(sum.entries + [answer])
            if more.isValid { sum = more }
        }.entries
    }

    /// Sets the agent's own entries.
    func set(answers: [PresenceRecord.Entry]) {
        state.withLock { $0.answers = answers }
        ownChanged()
    }

    // MARK: What is shown

    /// Takes what other members have; all of it.
    func show(_ records: [PresenceRecord], names: [DeviceID: String]) {
        state.withLock { ($0.others, $0.names) = (records, names) }
        signal.touch()
    }

    /// Takes another name of this device.
    func rename(_ name: String) {
        state.withLock { $0.name = name }
        signal.touch()
    }

    /// Returns those with a value under a topic, sorted by device and session.
    package func participants(in topic: ExactString) -> [Participant] {
        let (name, entries, others, names) = state.withLock { ($0.name, $0.entries, $0.others, $0.names) }
        return (others + [record(entries)]).flatMap { record in
            record.entries.filter { $0.topic == topic }.map { entry in
                Participant(
                    device: record.device,
                    name: record.device == own ? name : names[record.device] ?? record.device.shortID,
                    session: entry.session, value: entry.value)
            }
        }.sorted { ($0.device, $0.session) < ($1.device, $1.session) }
    }
}
