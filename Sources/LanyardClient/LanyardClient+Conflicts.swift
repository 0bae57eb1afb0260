public import ControlAPI

extension LanyardClient {
    // MARK: Conflicts

    /// Returns the conflicts in one collection or all.
    public func conflicts(
        in collection: String? = nil, space: String = "home"
    ) async throws(ControlError) -> [ConflictEntry] {
        try await value(conflictsRequest(collection, space))
    }

    /// Calls `body` with the list now and after every change of it, until it throws or the task is cancelled.
    public func watchConflicts(
        in collection: String? = nil, space: String = "home", _ body: ([ConflictEntry]) async throws -> Void
    ) async throws {
        try await watch(conflictsRequest(collection, space), body)
    }

    private func conflictsRequest(_ collection: String?, _ space: String) -> ClientRequest {
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "conflicts")
        request.query = [("collection", collection)]
        return request
    }

    /// Decides a conflict. False when there is none that this would resolve; then nothing is written.
    @discardableResult
    public func resolve(
        _ name: ObjectName, _ resolution: Resolution, space: String = "home"
    ) async throws(ControlError) -> Bool {
        var request = ClientRequest(.POST, object: name, space: space)
        request.path += "/resolve"
        let answer: ResolveResponse = try await value(request, body: resolution)
        return answer.resolved
    }

    // MARK: Schemas

    /// The collections into which something was ever put, and those with a schema.
    public func collections(space: String = "home") async throws(ControlError) -> [CollectionEntry] {
        try await value(ClientRequest(.GET, "v1", "spaces", .name(space), "collections"))
    }

    /// The schemas that were set, by collection.
    public func schemas(space: String = "home") async throws(ControlError) -> [SchemaEntry] {
        try await value(ClientRequest(.GET, "v1", "spaces", .name(space), "schemas"))
    }

    /// A collection's schema. Throws `unknown_collection` where none was set.
    public func schema(
        of collection: String, space: String = "home"
    ) async throws(ControlError) -> SchemaEntry {
        try await value(
            ClientRequest(.GET, "v1", "spaces", .name(space), "collections", .name(collection), "schema"))
    }

    /// Sets the settings that the schema names and leaves the rest; returns the whole. Throws `schema_would_lose_data` if it
    /// would hide existing values, unless they are to be converted first, each object in a change of its own.
    public func setSchema(
        _ schema: SchemaEntry, converting: Bool = false, space: String = "home"
    ) async throws(ControlError) -> SchemaEntry {
        var request = ClientRequest(
            .PUT, "v1", "spaces", .name(space), "collections", .name(schema.collection), "schema")
        request.query = [("convert", converting ? "true" : nil)]
        request.body = schema.settingText.bytes
        return try await value(request)
    }

    /// Returns the values that would be converted; nothing is written. Throws `schema_would_lose_data` if a value cannot be.
    public func conversions(
        for schema: SchemaEntry, space: String = "home"
    ) async throws(ControlError) -> [SchemaConversion] {
        var request = ClientRequest(
            .POST, "v1", "spaces", .name(space), "collections", .name(schema.collection), "schema", "conversions")
        request.body = schema.settingText.bytes
        return try await value(request)
    }

    // MARK: Streams

    /// Says how a stream is kept, on all nodes; what is not named stays as it is.
    public func setStream(
        _ stream: String, _ settings: StreamSettings, space: String = "home"
    ) async throws(ControlError) -> StreamEntry {
        try await value(
            ClientRequest(.PUT, "v1", "spaces", .name(space), "streams", .name(stream)), body: settings)
    }
}
