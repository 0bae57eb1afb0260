import SyncDiscovery

/// One line of the probe's output.
package struct ProbeLine: Codable, Sendable {
    package var node: Int
    package var event: String
    package var state: String?
    package var code: String?
    package var instance: String?
    package var interface: String?
    package var interfaceIndex: Int32?
    package var family: String?
    package var host: String?
    package var addresses: [String]?
    package var port: UInt16?
    package var text: [String]?
    package var ended: Bool?
    package var milliseconds: Int?

    init(node: Int, event: DiscoveryEvent) {
        self.node = node
        switch event {
        case .state(let state):
            self.event = "state"
            switch state {
            case .running: self.state = "running"
            case .unavailable(let trouble): (self.state, code) = ("unavailable", trouble.rawValue)
            case .off: self.state = "off"
            }
        case .announced(let instance):
            self.event = "announced"
            self.instance = instance
        case .found(let record):
            self.event = "found"
            (interface, host, addresses, port) = (record.interfaceName, record.hostName, record.addresses, record.port)
            text = record.text.strings
            fill(record.key)
        case .lost(let key):
            self.event = "lost"
            fill(key)
        case .interfacesChanged:
            self.event = "interfacesChanged"
        }
    }

    init(node: Int, stopped: Bool, milliseconds: Int) {
        (self.node, event, ended, self.milliseconds) = (node, "stopped", stopped, milliseconds)
    }

    private mutating func fill(_ key: RecordKey) {
        (instance, interfaceIndex, family) = (key.instance, key.interfaceIndex, key.family.rawValue)
    }
}
