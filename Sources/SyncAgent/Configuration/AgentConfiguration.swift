/// The configuration of an agent. A flag wins over the environment, the environment over the file, the file over the default.
package struct AgentConfiguration: Sendable, Hashable {
    package static let defaultPort: UInt16 = 21_817

    package var dataDirectory: String
    package var socketPath: String
    /// Nil: all interfaces, `defaultPort`, or a free port when that is taken.
    package var listen: ListenAddress?
    /// Address to announce over mDNS instead of all of them.
    package var announce: String?
    package var name: String
    package var logLevel: LogLevel
    package var logFormat: LogFormat
    package var usesMDNS: Bool
    /// The upload limit of attachments, over all peers; nil: as much as the link takes. Changes are not held back.
    package var uploadLimit: TransferRate?
    package var downloadLimit: TransferRate?
    /// The time for which changes are kept that every member has.
    package var historyRetention: HistoryRetention
    /// The backups that the agent makes by itself; nil: those that a person set with a command, if any.
    package var backups: BackupPlan?
    /// True if changes may be exchanged as the state that they amount to.
    package var exchangesState: Bool
    /// The address at which metrics are served over TCP; nil: on the control socket only.
    package var metrics: ListenAddress?
    /// The address of the dashboard; nil: there is none.
    package var dashboard: ListenAddress?
    /// The time that a pairing by typed codes has.
    package var pairingMilliseconds: Int64 = 120_000
    /// The file that some of it was read from; nil: there was none.
    package var file: String?
    /// The places of such a file, of which the first that is there is read.
    package var filePlaces: [String] = []
    /// Planted bugs; none in an agent that people use.
    package var faults: AgentFaults = []

    package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
        package let host: String
        package let port: UInt16

        package init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }

        package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

        /// `HOST:PORT`, `[IPV6]:PORT` or `:PORT`. Nil for anything else.
        package init?(text: String) {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
                return nil
            }
            var host = String(text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = String(host.dropFirst().dropLast())
            } else if host.contains(":") {
                return nil
            }
            self.init(host: host, port: port)
        }

        /// Reads the address of the dashboard or of the metrics: `PORT` on the loopback interface, `HOST:PORT` or `[IPV6]:PORT`. An
        /// empty host is no host here: it would mean all interfaces to those who know it from elsewhere, and this device alone
        /// to others.
        package init?(guarded text: String) {
            if let port = UInt16(text) {
                self.init(host: "127.0.0.1", port: port)
            } else if let address = Self(text: text), !address.host.isEmpty, !address.host.hasPrefix("[") {
                self = address
            } else {
                return nil
            }
        }

        /// True if only this device reaches it.
        package var isLoopback: Bool {
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            let isIPv4 = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
            return host == "localhost" || host == "::1" || isIPv4 && parts.first == "127"
        }
    }

    package enum LogLevel: String, Sendable, Hashable, CaseIterable {
        case trace
        case debug
        case info
        case notice
        case warning
        case error
    }

    package enum LogFormat: String, Sendable, Hashable, CaseIterable {
        case text
        case json
    }
}
