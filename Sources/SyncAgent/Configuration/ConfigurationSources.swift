import Foundation
import SyncModel

/// A source of settings: every value optional, as text or flag.
package struct ConfigurationLayer: Sendable, Hashable {
    /// The settings by their key in the file. The flag is `--KEY`, the environment variable `LANYARD_KEY` in capitals.
    package enum Key: String, Sendable, CaseIterable {
        case dataDirectory = "data-dir"
        case socket
        case listen
        case announce
        case name
        case logLevel = "log-level"
        case logFormat = "log-format"
        case mdns
        case uploadLimit = "upload-limit"
        case downloadLimit = "download-limit"
        case keepHistory = "keep-history"
        case state
        case backupTo = "backup-to"
        case backupEvery = "backup-every"
        case backupKeep = "backup-keep"
        case metrics
        case dashboard

        fileprivate var isSwitch: Bool { self == .mdns || self == .state }
        fileprivate var isRate: Bool { self == .uploadLimit || self == .downloadLimit }
        fileprivate var isNumber: Bool { isRate || self == .backupKeep || self == .dashboard }

        fileprivate var allowedInFile: String {
            if isSwitch { return "true or false" }
            if self == .backupKeep { return AgentConfiguration.allowedCounts }
            if self == .metrics || self == .dashboard { return AgentConfiguration.allowedAddresses }
            return isRate ? AgentConfiguration.allowedRates : "a string"
        }

        package var environmentName: String {
            "LANYARD_" + rawValue.uppercased().replacing("-", with: "_")
        }
    }

    /// The line of a file that has a value.
    package struct Place: Sendable, Hashable {
        let path: String
        /// Counted from 1.
        let line: Int
    }

    package var values: [Key: String] = [:]
    /// The places of the values that came from a file.
    fileprivate var places: [Key: Place] = [:]

    package init(_ values: [Key: String] = [:]) { self.values = values }

    package init(environment: [String: String]) {
        for key in Key.allCases {
            if let value = environment[key.environmentName], !value.isEmpty { values[key] = value }
        }
    }

    /// Reads a TOML file. An unknown key, a table or a value of another kind is an error that names it.
    package init(file path: String) throws(ConfigurationError) {
        let text: String
        do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
            let detail = error.localizedDescription
            throw .unreadableFile(path: path, detail: detail.hasSuffix(".") ? String(detail.dropLast()) : detail)
        }
        try self.init(text: text, path: path)
    }

    /// - Parameter path: for messages.
    package init(text: String, path: String) throws(ConfigurationError) {
        let file: ConfigurationFile
        do throws(ConfigurationFile.Fault) { file = try ConfigurationFile(text) } catch {
            throw .badLine(path: path, line: error.line, detail: error.detail)
        }
        for setting in file.settings {
            let place = Place(path: path, line: setting.line)
            guard let key = Key(rawValue: setting.key) else { throw .unknownKey(setting.key, place) }
            places[key] = place
            switch setting.value {
            case .flag(let isOn) where key.isSwitch: values[key] = isOn ? "on" : "off"
            case .number(let count) where (key.isNumber || key == .metrics) && count >= 0: values[key] = "\(count)"
            case .text(let text): values[key] = text
            case .flag(let isOn): throw .badValue(key, value: "\(isOn)", allowed: key.allowedInFile, place)
            case .number(let count): throw .badValue(key, value: "\(count)", allowed: key.allowedInFile, place)
            }
        }
    }
}

package enum ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    case unreadableFile(path: String, detail: String)
    case badLine(path: String, line: Int, detail: String)
    case unknownKey(String, ConfigurationLayer.Place)
    /// A value that is none. It has no place where it was given as a flag or in the environment.
    case badValue(ConfigurationLayer.Key, value: String, allowed: String, ConfigurationLayer.Place? = nil)

    package var description: String {
        switch self {
        case .unreadableFile(let path, let detail): "cannot read \(path): \(detail)"
        case .badLine(let path, let line, let detail): "\(path) line \(line): \(detail)"
        case .unknownKey(let name, let place):
            "\(place.path) line \(place.line): unknown key \"\(name)\"; known are: "
                + ConfigurationLayer.Key.allCases.map(\.rawValue).joined(separator: ", ")
        case .badValue(let key, let value, let allowed, let place):
            (place.map { "\($0.path) line \($0.line): " } ?? "")
                + "\(key.rawValue) is \"\(value)\"; allowed: \(allowed)"
        }
    }

    /// Returns the same with the place of a value in the layer that gave it.
    fileprivate func placed(in layers: [ConfigurationLayer]) -> ConfigurationError {
        guard case .badValue(let key, let value, let allowed, nil) = self else { return self }
        let giver = layers.first { $0.values[key] != nil }
        return .badValue(key, value: value, allowed: allowed, giver?.places[key])
    }
}

extension AgentConfiguration {
    /// - Parameters:
    ///   - layers: the strongest first.
    ///   - environment: for the default places only.
    package init(layers: [ConfigurationLayer], environment: [String: String], hostName: String)
        throws(ConfigurationError)
    {
        do throws(ConfigurationError) {
            try self.init(valuesOf: layers, environment, hostName)
        } catch {
            throw error.placed(in: layers)
        }
    }

    private init(valuesOf layers: [ConfigurationLayer], _ environment: [String: String], _ hostName: String)
        throws(ConfigurationError)
    {
        func value(_ key: ConfigurationLayer.Key) -> String? {
            layers.lazy.compactMap { $0.values[key] }.first
        }
        func choice<Choice: RawRepresentable & CaseIterable>(
            _ key: ConfigurationLayer.Key, default fallback: Choice
        ) throws(ConfigurationError) -> Choice where Choice.RawValue == String {
            guard let text = value(key) else { return fallback }
            guard let choice = Choice(rawValue: text) else {
                throw .badValue(key, value: text, allowed: Choice.allCases.map(\.rawValue).joined(separator: ", "))
            }
            return choice
        }
        let directory = value(.dataDirectory) ?? Self.defaultDataDirectory(environment)
        dataDirectory = directory
        socketPath = value(.socket) ?? directory + "/control.sock"
        if let text = value(.listen) {
            guard let address = ListenAddress(text: text) else {
                throw .badValue(.listen, value: text, allowed: "HOST:PORT, [IPV6]:PORT or :PORT")
            }
            listen = address
        } else {
            listen = nil
        }
        announce = value(.announce)
        if let announce, !Self.isAddress(announce) {
            throw .badValue(.announce, value: announce, allowed: "an IP address of this device, or of its host")
        }
        func rate(_ key: ConfigurationLayer.Key) throws(ConfigurationError) -> TransferRate? {
            guard let text = value(key) else { return nil }
            switch TransferRate.parse(text) {
            case .limited(let rate): return rate
            case .unlimited: return nil
            case nil: throw .badValue(key, value: text, allowed: Self.allowedRates)
            }
        }
        uploadLimit = try rate(.uploadLimit)
        downloadLimit = try rate(.downloadLimit)
        if let text = value(.keepHistory) {
            guard let retention = HistoryRetention(text: text) else {
                throw .badValue(.keepHistory, value: text, allowed: HistoryRetention.allowed)
            }
            historyRetention = retention
        } else {
            historyRetention = .usual
        }
        let name = value(.name) ?? hostName
        // The rule for names of members: another one would be refused by all devices that it is sent to.
        guard !name.isEmpty, name.utf8.count <= Limits.deviceNameBytes, Name.isText(name.utf8) else {
            throw .badValue(.name, value: name, allowed: "1 to 128 bytes without control characters")
        }
        self.name = name
        logLevel = try choice(.logLevel, default: .info)
        logFormat = try choice(.logFormat, default: .text)
        func isOn(_ key: ConfigurationLayer.Key) throws(ConfigurationError) -> Bool {
            switch value(key) {
            case nil, "on": return true
            case "off": return false
            case let text?: throw .badValue(key, value: text, allowed: "on, off")
            }
        }
        usesMDNS = try isOn(.mdns)
        exchangesState = try isOn(.state)
        backups = try Self.backups(to: value(.backupTo), every: value(.backupEvery), keep: value(.backupKeep))
        // As `lanyard backup` says: it would be lost together with what it is a backup of.
        if let folder = backups?.directory, (folder + "/").hasPrefix(directory + "/") {
            throw .badValue(.backupTo, value: folder, allowed: "a folder outside of the data directory")
        }
        metrics = try Self.address(value(.metrics), .metrics)
        dashboard = try Self.address(value(.dashboard), .dashboard)
    }

    private static func isAddress(_ text: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }

    private static func backups(
        to directory: String?, every: String?, keep: String?
    ) throws(ConfigurationError) -> BackupPlan? {
        var plan = BackupPlan(directory: directory ?? "")
        if let every {
            guard case .seconds(let seconds)? = HistoryRetention(text: every),
                BackupPlan.everySeconds.contains(seconds)
            else { throw .badValue(.backupEvery, value: every, allowed: "a time such as 1d or 12h, at most 365d") }
            plan.everySeconds = seconds
        }
        if let keep {
            guard let count = Int(keep), BackupPlan.keep.contains(count) else {
                throw .badValue(.backupKeep, value: keep, allowed: allowedCounts)
            }
            plan.keep = count
        }
        guard let directory else {
            if let text = every { throw .badValue(.backupEvery, value: text, allowed: allowedAlone) }
            if let text = keep { throw .badValue(.backupKeep, value: text, allowed: allowedAlone) }
            return nil
        }
        guard directory.hasPrefix("/"), directory.utf8.count <= 4_096, !directory.utf8.contains(0) else {
            throw .badValue(.backupTo, value: directory, allowed: "the absolute path of a folder")
        }
        return plan
    }

    fileprivate static let allowedCounts = "a whole number from 1 to 10000"
    private static let allowedAlone = "only together with backup-to"
    fileprivate static let allowedAddresses = "PORT for this device alone, HOST:PORT or [IPV6]:PORT"

    /// Returns the address of the dashboard or of the metrics.
    private static func address(
        _ text: String?, _ key: ConfigurationLayer.Key
    ) throws(ConfigurationError) -> ListenAddress? {
        guard let text else { return nil }
        guard let address = ListenAddress(guarded: text) else {
            throw .badValue(key, value: text, allowed: allowedAddresses)
        }
        return address
    }

    fileprivate static let allowedRates = "bytes a second, such as 10M or 500K; 0: no limit"

    private static func defaultDataDirectory(_ environment: [String: String]) -> String {
        if let base = environment["XDG_DATA_HOME"], !base.isEmpty { return base + "/lanyard" }
        // Without HOME (cron, a service) the user database knows.
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectoryForUser(NSUserName()) ?? ""
        return home + "/.local/share/lanyard"
    }
}
