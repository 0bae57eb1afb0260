import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The routes for what a device wrote beyond the end of its histories: looking at it, and taking it over.
struct ReviewRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.get, "/v1/spaces/{space}/devices/{device}/void-work", query: ["after", "limit"]) {
                [agent] request throws(ControlError) in
                .json(
                    try await agent.voidWork(
                        space: try request.name(.space), device: request.parameters["device"] ?? "",
                        after: try request.cursor(),
                        limit: try request.optionalInteger("limit", in: ControlLimits.pageEntries)
                            ?? PageSize.standard))
            },
            Route(.post, "/v1/spaces/{space}/devices/{device}/acceptance") { [agent] request throws(ControlError) in
                let (space, device) = (try request.name(.space), request.parameters["device"] ?? "")
                let wanted = try await request.body(AcceptanceRequest.self)
                var names: [ObjectName] = []
                for text in wanted.objects ?? [] { names.append(try ObjectName(parsing: text)) }
                let others = wanted.others
                guard AcceptanceRequest.nameCount.contains(names.count + others.count) else {
                    throw ControlError(
                        .invalidArgument,
                        "It takes 1 to 1,000 names of objects, of streams with events, of schemas and streams.",
                        hint:
                            "For example {\"objects\":[\"note/n1\"],\"events\":[\"lights\"]}; ask several times for more."
                    )
                }
                let answer = try await request.whileClientListens { [names] () throws(ControlError) in
                    try await agent.accept(space: space, device: device, names, others: others)
                }
                var response = Response.json(answer)
                response.headers[.connection] = "close"
                return response
            },
        ]
    }
}
