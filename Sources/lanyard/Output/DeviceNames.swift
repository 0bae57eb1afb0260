import ControlAPI
import LanyardClient

/// The names of the devices whose ids stand in an answer.
struct DeviceNames {
    private let names: [String: String]

    /// Reads the names of all devices in one call. Without an answer short ids have to do.
    init(_ client: LanyardClient, space: String) async {
        let devices = (try? await client.devices(space: space)) ?? []
        names = Dictionary(devices.map { ($0.id, $0.name) }) { first, _ in first }
    }

    subscript(_ id: String) -> String { shown(names[id] ?? String(id.prefix(7))) }
}
