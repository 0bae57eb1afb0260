import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The routes for objects: putting, reading, editing and deleting one; putting many as lines; writing several as one
/// transaction.
struct ObjectRoutes: Sendable {
    let agent: Agent

    static let objects = "/v1/spaces/{space}/collections/{collection}/objects"
    static let object = objects + "/{id}"

    var routes: [Route] {
        [
            Route(.post, Self.objects, query: ["replace", "ifAbsent"]) { [agent] request throws(ControlError) in
                if try request.hasLines() { return try await Self.upload(request, to: agent).run() }
                return try await Self.put(request, id: nil, to: agent)
            },
            Route(.put, Self.object, query: ["replace", "ifVersion", "ifAbsent"]) {
                [agent] request throws(ControlError) in
                try await Self.put(request, id: try request.name(.id), to: agent)
            },
            Route(.get, Self.object, query: ["at"]) { [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.objectName())
                guard let version = try request.version("at") else {
                    return .json(try await agent.object(space: space, name))
                }
                return .json(try await agent.object(space: space, name, at: version))
            },
            Route(.patch, Self.object, query: ["create", "wholeCharacters", "ifVersion", "brief"]) {
                [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.objectName())
                let (creates, condition) = (try request.flag("create"), try request.condition())
                let keepsCharacters = try request.flag("wholeCharacters")
                let isBrief = try request.flag("brief")
                let operations = try EditOperation.list(parsing: try await request.jsonBody())
                let edit = try ObjectEdit(
                    name, operations, create: creates, wholeCharacters: keepsCharacters, condition: condition)
                if isBrief {
                    return .json(
                        try await request.once { () throws(ControlError) in
                            try await agent.editBriefly(space: space, edit)
                        })
                }
                return .json(
                    try await request.once { () throws(ControlError) in try await agent.edit(space: space, edit) })
            },
            Route(.delete, Self.object, query: ["ifVersion"]) { [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.objectName())
                let version = try request.version("ifVersion")
                let deleted = try await request.once { () throws(ControlError) in
                    try await agent.delete(space: space, name, ifVersion: version)
                }
                return .json(DeletedResponse(deleted: deleted))
            },
            Route(.post, "/v1/transactions") { [agent] request throws(ControlError) in
                let transaction = try await request.body(Transaction.self)
                return .json(
                    try await request.once { () throws(ControlError) in try await agent.perform(transaction) })
            },
        ]
    }

    private static func put(
        _ request: ControlRequest, id: String?, to agent: Agent
    ) async throws(ControlError) -> Response {
        let (space, collection) = (try request.name(.space), try request.name(.collection))
        let (replaces, condition) = (try request.flag("replace"), try request.condition())
        let put = try ObjectPut(
            collection: collection, id: id, fields: try await request.bodyText(), replace: replaces,
            condition: condition)
        return .json(try await request.once { () throws(ControlError) in try await agent.put(space: space, put) })
    }

    private static func upload(
        _ request: ControlRequest, to agent: Agent
    ) throws(ControlError) -> LineUpload<ObjectPut> {
        let (space, collection) = (try request.name(.space), try request.name(.collection))
        let (replaces, condition) = (try request.flag("replace"), try request.condition())
        return try LineUpload(request: request, noun: "objects", tooLarge: ValueRule.tooLarge) {
            line throws(ControlError) in
            var put = try ObjectPut(line: line, collection: collection)
            put.replace = replaces
            put.condition = condition
            return (put, nil)
        } write: { puts throws(ControlError) in
            try await agent.put(space: space, all: puts)
        }
    }
}
