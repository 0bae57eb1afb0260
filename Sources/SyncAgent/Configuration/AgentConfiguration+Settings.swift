// The configuration as a list of settings: to be written down, and compared with what its file says by now.
extension AgentConfiguration {
    /// A setting that has a value.
    struct Setting {
        let key: ConfigurationLayer.Key
        /// The value as a person writes it, without quotes.
        let value: String
        /// True if a file has it in quotes.
        let isText: Bool

        init(text: String, of key: ConfigurationLayer.Key) { (self.key, value, isText) = (key, text, true) }

        init(bare: String, of key: ConfigurationLayer.Key) { (self.key, value, isText) = (key, bare, false) }
    }

    /// The settings that have a value, in the order of a file.
    var settings: [Setting] {
        var settings = [Setting(text: dataDirectory, of: .dataDirectory), Setting(text: socketPath, of: .socket)]
        func add(_ text: String?, _ key: ConfigurationLayer.Key) {
            if let text { settings.append(Setting(text: text, of: key)) }
        }
        add(listen?.description, .listen)
        add(announce, .announce)
        add(name, .name)
        add(logLevel.rawValue, .logLevel)
        add(logFormat.rawValue, .logFormat)
        settings.append(Setting(bare: "\(usesMDNS)", of: .mdns))
        add(uploadLimit?.description, .uploadLimit)
        add(downloadLimit?.description, .downloadLimit)
        add(historyRetention.description, .keepHistory)
        settings.append(Setting(bare: "\(exchangesState)", of: .state))
        if let backups {
            add(backups.directory, .backupTo)
            add(HistoryRetention.seconds(backups.everySeconds).description, .backupEvery)
            settings.append(Setting(bare: "\(backups.keep)", of: .backupKeep))
        }
        add(metrics?.description, .metrics)
        add(dashboard?.description, .dashboard)
        return settings
    }

    /// The configuration as a file that would give it again.
    package var toml: String {
        settings.map { "\($0.key.rawValue) = \($0.isText ? Self.quoted($0.value) : $0.value)\n" }.joined()
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\", "\"": "\\\(scalar)"
            case "\0"..."\u{1F}", "\u{7F}":
                "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            case _: String(scalar)
            }
        }
        return "\"" + escaped.joined() + "\""
    }

    /// Returns the value of a setting as a person writes it; nil: it is not set.
    func value(of key: ConfigurationLayer.Key) -> String? { settings.first { $0.key == key }?.value }

    /// Returns the settings in which another configuration differs, in the order of `Key`.
    func differences(to other: AgentConfiguration) -> [ConfigurationChange] {
        let before = Dictionary(uniqueKeysWithValues: settings.map { ($0.key, $0.value) })
        let after = Dictionary(uniqueKeysWithValues: other.settings.map { ($0.key, $0.value) })
        return ConfigurationLayer.Key.allCases.filter { before[$0] != after[$0] }.map {
            ConfigurationChange(key: $0, before: before[$0], after: after[$0])
        }
    }

    /// Takes over one setting of another configuration.
    ///
    /// - Returns: false for a setting that counts from the next start on; nothing is taken over then.
    mutating func take(_ key: ConfigurationLayer.Key, of other: AgentConfiguration) -> Bool {
        switch key {
        case .dataDirectory, .socket, .state: return false
        case .listen: listen = other.listen
        case .name: name = other.name
        case .announce: announce = other.announce
        case .mdns: usesMDNS = other.usesMDNS
        case .logLevel: logLevel = other.logLevel
        case .logFormat: logFormat = other.logFormat
        case .uploadLimit: uploadLimit = other.uploadLimit
        case .downloadLimit: downloadLimit = other.downloadLimit
        case .keepHistory:
            // The core was told at the start whether anything is ever dropped.
            guard historyRetention != .forever, other.historyRetention != .forever else { return false }
            historyRetention = other.historyRetention
        case .backupTo, .backupEvery, .backupKeep: backups = other.backups
        case .metrics: metrics = other.metrics
        case .dashboard: dashboard = other.dashboard
        }
        return true
    }
}

/// A setting that differs between the running configuration and another one.
package struct ConfigurationChange: Sendable, Hashable {
    package let key: ConfigurationLayer.Key
    /// The values as a person writes them, without quotes; nil: not set.
    package let before: String?
    package let after: String?
}
