public import ControlAPI

extension LanyardClient {
    /// Calls `body` with the text in a field, and then with each edit of it by any device, until it throws or the task is
    /// cancelled.
    ///
    /// The first line is the whole text, and so is a later one behind which the reader must begin anew. Offsets count in `unit`.
    /// Throws `not_found`, `type_mismatch`, and what the agent ends the answer with, such as the deletion of the object.
    public func followText(
        _ name: ObjectName, field: FieldPath, unit: TextUnit = .scalars, space: String = "home",
        _ body: (TextLine) async throws -> Void
    ) async throws {
        var request = Self.request(.GET, name, field, space)
        request.query.append(("unit", unit.rawValue))
        try await readBlocks(request, onStart: { _ in }) { block in
            for line in block.split(separator: 0x0A) {
                try await body(try JSONDecoding.value(TextLine.self, from: Array(line), unknownKeys: .ignore))
            }
        }
    }

    /// Edits the text in a field as it was at a version that was read: the agent moves the edit over what changed since.
    ///
    /// - Returns: a version that contains the edit; it is durable.
    /// - Throws: `text_version_unknown` where the edit was not applied, because the agent does not know the version any more.
    public func editText(
        _ name: ObjectName, field: FieldPath, _ edits: TextEdits, space: String = "home"
    ) async throws(ControlError) -> String {
        let answer: TextVersion = try await value(Self.request(.POST, name, field, space), body: edits)
        return answer.version
    }

    private static func request(
        _ method: HTTPMethod, _ name: ObjectName, _ field: FieldPath, _ space: String
    ) -> ClientRequest {
        var request = ClientRequest(
            method, "v1", "spaces", .name(space), "collections", .name(name.collection), "objects", .name(name.id),
            "text")
        request.query = [("field", field.description)]
        return request
    }
}
