public import ControlAPI

extension LanyardClient {
    /// Returns the newest change of this device to objects, and what undoing it would do; writes nothing.
    public func undoable(space: String = "home") async throws(ControlError) -> UndoResponse {
        try await value(ClientRequest(.GET, "v1", "spaces", .name(space), "undo"))
    }

    /// Undoes the change with this version, if it is still the newest of this device, by a new change.
    public func undo(_ version: DotText, space: String = "home") async throws(ControlError) -> UndoResponse {
        var request = ClientRequest(.POST, "v1", "spaces", .name(space), "undo")
        request.isRepeatable = false
        return try await value(request, body: UndoRequest(version: version))
    }
}
