public import ControlAPI

// What a device wrote that counts nowhere, and taking it over.
extension LanyardClient {
    /// Returns a page of what a device wrote beyond the end of its histories, in the order in which it was written. The device is
    /// named by its name, a beginning of its id, or the id.
    ///
    /// - Parameter after: `next` of the page before.
    public func voidWork(
        of device: String, after: String? = nil, limit: Int? = nil, space: String = "home"
    ) async throws(ControlError) -> VoidWorkResponse {
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "devices", .name(device), "void-work")
        request.query = [("after", after), ("limit", limit.map(String.init))]
        return try await value(request)
    }

    /// Brings back what a device did to these objects, as new changes of the agent's own device, one per object. Asked for twice,
    /// it changes nothing more. Throws `forbidden` unless the agent's device is an admin.
    public func accept(
        _ objects: [ObjectName], of device: String, space: String = "home"
    ) async throws(ControlError) -> AcceptanceResponse {
        try await value(
            ClientRequest(.POST, "v1", "spaces", .name(space), "devices", .name(device), "acceptance"),
            body: AcceptanceRequest(objects: objects.map(\.description)))
    }
}
