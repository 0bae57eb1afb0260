import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import SyncAgent

/// The routes for other agents: the known ones, and addresses of those that mDNS does not show.
struct PeerRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.get, "/v1/peers") { [agent] request throws(ControlError) in
                switch request.format {
                case .page: .json(try await agent.peers())
                case .lines: request.stream(.lines) { try await Self.writeUpdates(of: agent, to: &$0) }
                case .serverSentEvents:
                    request.stream(.serverSentEvents) { try await Self.writeUpdates(of: agent, to: &$0) }
                }
            },
            Route(.post, "/v1/peers") { [agent] request throws(ControlError) in
                let body = try await request.body(PeerAddress.self)
                return .json(try await agent.addPeer(try HostPort(parsing: body.address)))
            },
            Route(.get, "/v1/peers/{peer}/ping", query: ["timeoutMilliseconds"]) {
                [agent] request throws(ControlError) in
                let peer = request.parameters["peer"] ?? ""
                let timeout = try request.integer("timeoutMilliseconds", in: 1...60_000, default: 5_000)
                let answer = try await request.whileClientListens { () throws(ControlError) in
                    try await agent.ping(peer, timeoutMilliseconds: Int64(timeout))
                }
                var response = Response.json(answer)
                response.headers[.connection] = "close"
                return response
            },
            Route(.get, "/v1/peers/{peer}/round-trip", query: ["from", "timeoutMilliseconds"]) {
                [agent] request throws(ControlError) in
                guard let other = request.query["from"] else {
                    throw ControlError(
                        .invalidArgument, "\"from\" is missing.", hint: "Name the device that measures: from=DEVICE.")
                }
                let peer = request.parameters["peer"] ?? ""
                let timeout = try request.integer("timeoutMilliseconds", in: 1...60_000, default: 5_000)
                let answer = try await request.whileClientListens { () throws(ControlError) in
                    try await agent.roundTrip(to: peer, from: other, timeoutMilliseconds: Int64(timeout))
                }
                var response = Response.json(answer)
                response.headers[.connection] = "close"
                return response
            },
            Route(.delete, "/v1/peers/{address}") { [agent] request throws(ControlError) in
                .json(try await agent.removePeer(try HostPort(parsing: request.parameters["address"] ?? "")))
            },
        ]
    }

    private static func writeUpdates(of agent: Agent, to writer: inout StreamWriter) async throws {
        for await peers in await agent.peerUpdates() {
            try await writer.write(JSONEncoding.bytes(peers))
        }
    }
}
