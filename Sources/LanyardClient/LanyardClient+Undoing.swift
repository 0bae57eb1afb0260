public import ControlAPI

extension LanyardClient {
    /// Returns the newest change of this device to objects, and what undoing it would do; writes nothing.
    public func undoable(space: String = "home") async throws(ControlError) -> UndoResponse {
        try await value(ClientRequest(.GET, "v1", "spaces", .name(space), "undo"))
    }

    /// Returns what would make the objects of a space what they were at a time; writes nothing. With `recreate` objects that were
    /// deleted for good come back under new ids.
    public func restorePoint(
        at time: Timestamp, recreate: Bool = false, space: String = "home"
    ) async throws(ControlError) -> RestorePointResponse {
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "restore-point")
        request.query = [("time", time.description), ("recreate", recreate ? "true" : nil)]
        return try await value(request)
    }

    /// Makes the objects of a space what they were at a time, by new changes. Objects that are changed meanwhile, or whose write is
    /// refused, stay, and are named.
    public func restore(
        to time: Timestamp, recreate: Bool = false, space: String = "home"
    ) async throws(ControlError) -> RestorePointResponse {
        var request = ClientRequest(.POST, "v1", "spaces", .name(space), "restore-point")
        request.isRepeatable = false
        return try await value(request, body: RestorePointRequest(time: time, recreate: recreate))
    }

    /// Undoes the change with this version, if it is still the newest of this device, by a new change.
    public func undo(_ version: DotText, space: String = "home") async throws(ControlError) -> UndoResponse {
        var request = ClientRequest(.POST, "v1", "spaces", .name(space), "undo")
        request.isRepeatable = false
        return try await value(request, body: UndoRequest(version: version))
    }
}
