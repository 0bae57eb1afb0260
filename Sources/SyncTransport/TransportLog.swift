import Logging
import SyncModel

/// Keys of the transport's log metadata.
enum LogKey: String {
    case code = "reason.code"
    case address = "peer.address"
    case device = "peer.device"
    case connection = "connection.number"
    case direction = "connection.direction"
    case listening = "listen.address"
}

extension Logger.Metadata {
    init(_ pairs: KeyValuePairs<LogKey, String>) {
        self.init(uniqueKeysWithValues: pairs.map { ($0.key.rawValue, .string($0.value)) })
    }
}
