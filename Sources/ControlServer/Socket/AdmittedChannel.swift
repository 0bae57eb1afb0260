import ControlAPI
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

/// An HTTP/1.1 connection whose peer's credentials were checked when it was accepted. One that is not admitted is
/// answered too, with `forbidden`: a person must see why, not a closed socket.
struct AdmittedChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let connection: HTTP1Channel.Value
        let admission: AdmissionRule.Admission
        var channel: any Channel { connection.channel }
    }

    let rule: AdmissionRule
    let connections: ControlConnections
    let owner: HTTP1Channel
    let group: HTTP1Channel
    let refused: HTTP1Channel
    let turnedAway: HTTP1Channel

    init(
        rule: AdmissionRule, connections: ControlConnections,
        responder: (ControlRequest.Origin) -> HTTPChannelHandler.Responder
    ) {
        self.rule = rule
        self.connections = connections
        // 64 KiB of header: the conditions of a list have 8 KiB, three times that when percent-encoded, and nothing
        // else long travels there. What is longer is answered without a body, so our own bounds must come first.
        var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
        decoder.maxHeaderListSize = 65_536
        decoder.maxHeaderFieldSize = 65_536
        decoder.maxHeaderFieldCount = 100
        let configuration = HTTP1Channel.Configuration(httpDecoderConfiguration: decoder)
        owner = HTTP1Channel(responder: responder(.owner), configuration: configuration)
        group = HTTP1Channel(responder: responder(.group), configuration: configuration)
        refused = Self.answering(
            ControlError(
                .forbidden, "This user may not speak to the agent.",
                hint: "Run the command as the agent's user or root, or join the socket's group."), configuration)
        turnedAway = Self.answering(
            ControlError(
                .limitReached, "The agent has as many connections as it takes, and all are in use.",
                hint: "End some of the programs and commands that watch or follow, and try again."), configuration)
    }

    /// Gives the same answer to whatever is asked.
    private static func answering(_ error: ControlError, _ configuration: HTTP1Channel.Configuration) -> HTTP1Channel {
        HTTP1Channel(
            responder: { _, writer, _ in
                var response = Response.failure(error)
                response.headers[.connection] = "close"
                try await writer.write(response: response.head, body: response.body)
            }, configuration: configuration)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let isAdmitted = connections.enter(channel)
        let admission = isAdmitted ? rule.admission(of: channel) : .turnedAway
        return owner.setup(channel: channel, logger: logger).map { Value(connection: $0, admission: admission) }
    }

    func handle(value: Value, logger: Logger) async {
        switch value.admission {
        case .owner: await owner.handle(value: value.connection, logger: logger)
        case .group: await group.handle(value: value.connection, logger: logger)
        case .refused: await refused.handle(value: value.connection, logger: logger)
        case .turnedAway: await turnedAway.handle(value: value.connection, logger: logger)
        }
    }
}
