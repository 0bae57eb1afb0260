package import ControlAPI
package import SyncAgent
import SyncModel

// What is present: sessions of clients under a topic, and the values of all devices.
extension Agent {
    /// Throws `unknown_space`, `invalid_name` for a topic of the agent's own, or `limit_reached` if this device has as many sessions as
    /// it may.
    package func checkPresence(_ topic: String, in space: String) throws(ControlError) {
        try checkSpace(space)
        guard !topic.hasPrefix(LinkQuestion.reservedPrefix) else {
            throw ControlError(
                .invalidName, "Topics that begin with \"\(LinkQuestion.reservedPrefix)\" are the agent's own.",
                hint: "Choose another name for the topic.")
        }
        guard presence.hasRoom else { throw .tooManySessions }
    }

    /// Begins a session, which lives until `leavePresence`.
    package func joinPresence(_ topic: String) throws(ControlError) -> PresenceSession {
        do throws(PresenceBoard.Refusal) {
            return PresenceSession(rawValue: try presence.join(ExactString(topic)))
        } catch { throw ControlError(error) }
    }

    package func leavePresence(_ session: PresenceSession) { presence.leave(session.rawValue) }

    /// Sets a session's value; `null` takes it away. Throws `too_large`, `too_deep` and `not_found`, and `limit_reached` if the
    /// values of all sessions together are too much.
    package func setPresence(
        _ value: JSONText, of session: PresenceSession, in topic: String, space: String
    ) throws(ControlError) -> PresenceSetting {
        try checkSpace(space)
        guard value.bytes.count <= ControlLimits.presenceValueBytes else {
            throw ControlError(
                .tooLarge,
                "The value has \(value.bytes.count) bytes; what is present has at most \(ControlLimits.presenceValueBytes).",
                hint: "Put what is larger into an object, and what names it here.")
        }
        do throws(JSONSyntaxError) { try Self.checkDepth(of: value) } catch { throw ControlError(malformed: error) }
        let isPresent = value.bytes != Array("null".utf8)
        do throws(PresenceBoard.Refusal) {
            try presence.set(isPresent ? value.bytes : nil, of: session.rawValue, in: ExactString(topic))
        } catch { throw ControlError(error) }
        return PresenceSetting(session: session, isPresent: isPresent)
    }

    /// Returns the values that are present under a topic, sorted by device and session. What another device calls JSON and no
    /// client could read is left out.
    package func present(in topic: String) -> [PresentValue] {
        presence.participants(in: ExactString(topic)).compactMap { participant in
            guard let value = try? JSONText(participant.value), (try? Self.checkDepth(of: value)) != nil else {
                return nil
            }
            return PresentValue(
                device: "\(participant.device)", name: participant.name,
                session: PresenceSession(rawValue: participant.session), value: value,
                isThisDevice: participant.device == device)
        }
    }

    /// Checks that a value can be read inside a line of the answer, which is one container more.
    private static func checkDepth(of value: JSONText) throws(JSONSyntaxError) {
        _ = try JSONScanner.endOfValue(value.bytes.span, from: 0, depth: 1)
    }
}

extension ControlError {
    fileprivate static let tooManySessions = ControlError(
        .limitReached, "This device has \(PresenceBoard.maximumSessions) sessions of presence; that is the limit.",
        hint: "End the answers of others: a session lives as long as its answer is read.")

    init(_ refusal: PresenceBoard.Refusal) {
        switch refusal {
        case .tooManySessions: self = .tooManySessions
        case .tooMuch:
            self.init(
                .limitReached, "All values that are present on this device have together at most 32 KiB.",
                hint: "Set smaller values, or take some away with null.")
        case .unknownSession:
            self.init(
                .notFound, "There is no such session under this topic.",
                hint: "Begin one with GET on the topic; it lives as long as that answer is read.")
        }
    }
}

/// The values of a topic as one client was told of them.
struct PresenceView {
    private struct Key: Hashable {
        let device: String
        let session: PresenceSession
    }

    private var shown: [PresentValue] = []

    /// Returns the lines that bring a client up to date: first what is gone, then what is new or changed.
    mutating func lines(to present: [PresentValue]) -> [PresenceLine] {
        func key(_ value: PresentValue) -> Key { Key(device: value.device, session: value.session) }
        let before = Dictionary(uniqueKeysWithValues: shown.map { (key($0), $0) })
        let here = Set(present.map(key))
        let gone = shown.filter { !here.contains(key($0)) }.map {
            PresenceLine.gone(device: $0.device, session: $0.session)
        }
        shown = present
        return gone + present.filter { before[key($0)] != $0 }.map(PresenceLine.present)
    }
}
