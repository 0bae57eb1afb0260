import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The routes for the members of a space and the admission of devices.
struct MembershipRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.post, "/v1/invitations") { [agent] request throws(ControlError) in
                let body = try await request.body(InviteRequest.self)
                let space = body.space ?? "home"
                try NameRule.check(space, is: .space)
                let expiresSeconds = body.expiresSeconds ?? 600
                guard (1...86_400).contains(expiresSeconds) else {
                    throw ControlError(
                        .invalidArgument, "A ticket is good for 1 second to 24 hours.",
                        hint: "Leave the time out for 10 minutes.")
                }
                return .json(
                    try await agent.invite(
                        space: space, role: body.role ?? .writer, expiresSeconds: expiresSeconds, until: body.until))
            },
            Route(.post, "/v1/join") { [agent] request throws(ControlError) in
                .json(try await agent.join(ticket: try await request.body(JoinRequest.self).ticket))
            },
            Route(.get, "/v1/spaces/{space}/devices") { [agent] request throws(ControlError) in
                .json(try await agent.devices(space: try request.name(.space)))
            },
            Route(.get, "/v1/spaces/{space}/devices/log", query: ["after", "limit"]) {
                [agent] request throws(ControlError) in
                let space = try request.name(.space)
                return try await PageReading(request: request) { after, limit throws(ControlError) in
                    try await agent.trust(space: space, after: after, limit: limit)
                }.response()
            },
            Route(.post, "/v1/spaces/{space}/devices/{device}/retirement") { [agent] request throws(ControlError) in
                let (space, device) = (try request.name(.space), request.parameters["device"] ?? "")
                return .json(
                    try await request.once { () throws(ControlError) in
                        try await agent.retire(space: space, device: device)
                    })
            },
            Route(.put, "/v1/spaces/{space}/devices/{device}/role") { [agent] request throws(ControlError) in
                let (space, device) = (try request.name(.space), request.parameters["device"] ?? "")
                let body = try await request.body(RoleRequest.self)
                return .json(
                    try await request.once { () throws(ControlError) in
                        try await agent.setRole(space: space, device: device, body)
                    })
            },
            Route(.post, "/v1/spaces/{space}/devices/{device}/revocation") { [agent] request throws(ControlError) in
                let (space, device) = (try request.name(.space), request.parameters["device"] ?? "")
                let body = try await request.body(RevocationRequest.self)
                return .json(
                    try await request.once { () throws(ControlError) in
                        try await agent.revoke(space: space, device: device, body)
                    })
            },
            Route(.put, "/v1/spaces/{space}/devices/{device}/block") { [agent] request throws(ControlError) in
                .json(
                    try await agent.block(space: try request.name(.space), device: request.parameters["device"] ?? ""))
            },
            Route(.delete, "/v1/spaces/{space}/devices/{device}/block") { [agent] request throws(ControlError) in
                .json(
                    try await agent.unblock(
                        space: try request.name(.space), device: request.parameters["device"] ?? ""))
            },
        ]
    }
}
