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

    /// Brings back what a device did, as new changes of the agent's own device. Asked for twice, it changes nothing more. Throws
    /// `forbidden` unless the agent's device is an admin.
    ///
    /// - Parameters:
    ///   - objects: each becomes what it would be if that work counted, by one change.
    ///   - events: streams, whose events are emitted again in their order.
    ///   - schemas: collections, whose schemas are set as the device set them.
    ///   - streams: those that are set as the device set them.
    public func accept(
        _ objects: [ObjectName], events: [String] = [], schemas: [String] = [], streams: [String] = [],
        of device: String, space: String = "home"
    ) async throws(ControlError) -> AcceptanceResponse {
        try await value(
            ClientRequest(.POST, "v1", "spaces", .name(space), "devices", .name(device), "acceptance"),
            body: AcceptanceRequest(
                objects: objects.map(\.description), events: Self.named(events), schemas: Self.named(schemas),
                streams: Self.named(streams)))
    }

    /// An agent of an earlier version knows objects only.
    private static func named(_ names: [String]) -> [String]? { names.isEmpty ? nil : names }
}
