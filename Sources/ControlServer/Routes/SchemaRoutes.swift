import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The types of fields.
struct SchemaRoutes: Sendable {
    let agent: Agent

    private static let schema = "/v1/spaces/{space}/collections/{collection}/schema"

    var routes: [Route] {
        [
            Route(.get, "/v1/spaces/{space}/collections") { [agent] request throws(ControlError) in
                .json(try await agent.collections(space: try request.name(.space)))
            },
            Route(.get, "/v1/spaces/{space}/schemas") { [agent] request throws(ControlError) in
                .json(try await agent.schemas(space: try request.name(.space)))
            },
            Route(.get, Self.schema) { [agent] request throws(ControlError) in
                .json(
                    try await agent.schema(
                        space: try request.name(.space), collection: try request.name(.collection)))
            },
            Route(.post, Self.schema + "/conversions") { [agent] request throws(ControlError) in
                let (space, collection) = (try request.name(.space), try request.name(.collection))
                let schema = try SchemaEntry(setting: try await request.bodyText(), of: collection)
                return .json(try await agent.conversions(space: space, for: schema))
            },
            Route(.put, Self.schema, query: ["convert"]) { [agent] request throws(ControlError) in
                let (space, collection) = (try request.name(.space), try request.name(.collection))
                let converts = try request.flag("convert")
                let schema = try SchemaEntry(setting: try await request.bodyText(), of: collection)
                return .json(
                    try await request.once { () throws(ControlError) in
                        converts
                            ? try await agent.convert(space: space, to: schema)
                            : try await agent.setSchema(space: space, schema)
                    })
            },
        ]
    }
}
