import SyncDiscovery

/// One line of the probe's output.
struct ProbeLine: Codable {
    var node: Int
    var event: String
    var state: String?
    var code: String?
    var instance: String?
    var interface: String?
    var interfaceIndex: Int32?
    var family: String?
    var host: String?
    var addresses: [String]?
    var port: UInt16?
    var text: [String]?
    var ended: Bool?
    var milliseconds: Int?

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
