import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// Values that live only as long as their client is connected.
struct PresenceRoutes: Sendable {
    /// The time between two looks for one client: an agent signs no more often.
    private static let leastGap = Duration.milliseconds(25)

    let agent: Agent

    var routes: [Route] {
        [
            Route(.get, "/v1/spaces/{space}/presence/{topic}") { [agent] request throws(ControlError) in
                let topic = try request.name(.topic)
                // Before the answer begins, so that a refusal has a status of its own.
                try agent.checkPresence(topic, in: try request.name(.space))
                return request.stream(request.format == .lines ? .lines : .serverSentEvents) {
                    try await Self.follow(topic, of: agent, to: &$0)
                }
            },
            Route(.put, "/v1/spaces/{space}/presence/{topic}/{session}") { [agent] request throws(ControlError) in
                let (space, topic) = (try request.name(.space), try request.name(.topic))
                let session = try PresenceSession(parsing: request.parameters["session"] ?? "")
                let value = try await request.bodyText()
                return .json(try agent.setPresence(value, of: session, in: topic, space: space))
            },
        ]
    }

    /// Keeps a session for as long as the answer is read, and writes what is present, and each change of it.
    private static func follow(_ topic: String, of agent: Agent, to writer: inout StreamWriter) async throws {
        let session = try agent.joinPresence(topic)
        defer { agent.leavePresence(session) }
        try await writer.write(JSONEncoding.bytes(PresenceLine.joined(session: session)))
        var view = PresenceView()
        let signal = agent.presence.signal
        while !Task.isCancelled, !signal.isFinished {
            let version = signal.version
            let lines = view.lines(to: agent.present(in: topic))
            if !lines.isEmpty { try await writer.write(lines.map { JSONEncoding.bytes($0) }) }
            // What many devices change comes together: every change of any topic wakes every reader.
            try await Task.sleep(for: leastGap)
            await signal.wait(beyond: version)
        }
    }
}
