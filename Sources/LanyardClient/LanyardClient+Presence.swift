public import ControlAPI

extension LanyardClient {
    /// Joins a topic of presence, and calls `body` with all that is present there: at once, and after each change, until it throws
    /// or the task is cancelled.
    ///
    /// The session that `onJoin` is given lives exactly as long as this call, and with it the value that `setPresence` gives it.
    /// The list is sorted by device and session, and has the client's own value, too. What changes while `body` runs comes
    /// together. Throws `limit_reached` if this device has as many sessions as it may.
    public func followPresence(
        _ topic: String, space: String = "home", onJoin: (PresenceSession) async throws -> Void = { _ in },
        _ body: ([PresentValue]) async throws -> Void
    ) async throws {
        var present: [PresentValue] = []
        try await readLines(of: ClientRequest(.GET, "v1", "spaces", .name(space), "presence", .name(topic))) {
            lines -> Never? in
            for line in lines {
                switch try JSONDecoding.value(PresenceLine.self, from: line, unknownKeys: .ignore) {
                case .joined(let session): try await ClientConnection.handing { try await onJoin(session) }
                case .present(let value):
                    present.removeAll { $0.device == value.device && $0.session == value.session }
                    let key = (value.device, value.session.rawValue)
                    let index = present.firstIndex { ($0.device, $0.session.rawValue) > key } ?? present.count
                    present.insert(value, at: index)
                case .gone(let device, let session):
                    present.removeAll { $0.device == device && $0.session == session }
                }
            }
            if !lines.isEmpty { try await ClientConnection.handing { try await body(present) } }
            return nil
        }
    }

    /// Sets the value of a session under a topic; nil, or `null`, takes it away.
    ///
    /// Throws `too_large` for more than 1,024 bytes, `not_found` if the session does not live any more, and `limit_reached` if the
    /// values of all sessions of this device are too much together. A call whose answer is lost is not repeated: the next value
    /// takes the place of this one.
    @discardableResult
    public func setPresence(
        _ value: JSONText?, of session: PresenceSession, in topic: String, space: String = "home"
    ) async throws(ControlError) -> PresenceSetting {
        var request = ClientRequest(
            .PUT, "v1", "spaces", .name(space), "presence", .name(topic), .name(session.description))
        request.body = value?.bytes ?? Array("null".utf8)
        request.isRepeatable = false
        return try await self.value(request)
    }
}
