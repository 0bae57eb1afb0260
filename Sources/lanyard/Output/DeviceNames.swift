import ControlAPI
import LanyardClient

/// What people call the devices whose ids stand in an answer.
struct DeviceNames {
    private let names: [String: String]

    /// One call for all of them. Without an answer short ids have to do.
    init(_ client: LanyardClient, space: String) async {
        let devices = (try? await client.devices(space: space)) ?? []
        names = Dictionary(devices.map { ($0.id, $0.name) }) { first, _ in first }
    }

    subscript(_ id: String) -> String { shown(names[id] ?? String(id.prefix(7))) }
}
