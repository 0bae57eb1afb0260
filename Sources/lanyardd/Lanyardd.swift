import ArgumentParser
import ControlAPI
import Foundation
import SyncAgent

@main
struct Lanyardd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanyardd",
        abstract: "Keeps this device's data in step with its paired devices on the local network.",
        discussion: """
            A flag wins over the environment (LANYARD_DATA_DIR, LANYARD_LISTEN, …), that over the configuration file, that \
            over the default. Control it with `lanyard`. SIGHUP and `lanyard reload` have it read the file again; at a terminal, SIGHUP \
            ends it.
            """,
        version: LanyardVersion.current)

    @Option(help: "Where keys, database and log live. Default: $XDG_DATA_HOME/lanyard or ~/.local/share/lanyard.")
    var dataDir: String?

    @Option(help: "The control socket. Default: control.sock in the data directory.")
    var socket: String?

    @Option(
        help: ArgumentHelp("Where to accept connections. Default: all interfaces, port 21817.", valueName: "host:port"))
    var listen: String?

    @Option(help: "The address to announce over mDNS instead of all of this device's.")
    var announce: String?

    @Option(help: "What people call this device. Default: the host name.")
    var name: String?

    @Option(
        help: """
            A TOML file with the same keys as these flags. Default: ~/.config/lanyard/lanyardd.toml, else \
            /etc/lanyard/lanyardd.toml.
            """)
    var config: String?

    @Option(help: "trace, debug, info, notice, warning or error. Default: info.")
    var logLevel: String?

    @Option(help: "text or json. Default: text.")
    var logFormat: String?

    @Flag(name: .customLong("no-mdns"), help: "Neither announce this agent nor look for others over mDNS.")
    var isWithoutMDNS = false

    @Option(
        help: ArgumentHelp(
            "How much of attachments may be sent, in bytes a second, such as 10M or 500K. Default: no limit.",
            valueName: "rate"))
    var uploadLimit: String?

    @Option(
        help: ArgumentHelp(
            "How much of attachments may be fetched, in bytes a second. Default: no limit.", valueName: "rate"))
    var downloadLimit: String?

    @Option(
        help: ArgumentHelp(
            "How long history is kept that every device has, such as 30d or 12h, or forever. Default: 30d.",
            valueName: "time"))
    var keepHistory: String?

    @Flag(
        name: .customLong("no-state"),
        help: """
            Neither take nor hand over the state of a space in place of its changes, so that all that peers still hold of history \
            comes; what they do not hold any more does not come at all.
            """)
    var isWithoutState = false

    @Option(
        help: ArgumentHelp(
            "Make backups by itself, in this folder (see: lanyard backup --help).", valueName: "folder"))
    var backupTo: String?

    @Option(help: ArgumentHelp("How often, such as 1d or 12h. Default: 1d.", valueName: "time"))
    var backupEvery: String?

    @Option(help: ArgumentHelp("How many of them are kept. Default: 7.", valueName: "n"))
    var backupKeep: String?

    @Option(
        help: ArgumentHelp(
            "Serve metrics over TCP, at a port of this device alone or at HOST:PORT. Default: on the control socket only.",
            valueName: "host:port"))
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "Serve a page about this device for a browser, at a port of this device alone or at HOST:PORT. Default: none. "
                + "`lanyard dashboard` opens it.", valueName: "host:port"))
    var dashboard: String?

    @Flag(
        name: .customLong("until-input-ends"),
        help: "Stop when standard input ends: with the program that started the agent, however that ends.")
    var isUntilInputEnds = false

    @Flag(help: "Print the configuration that results, as TOML, and exit.")
    var printConfig = false

    func run() async throws {
        HeapArenas.share()
        let environment = ProcessInfo.processInfo.environment
        var process: AgentProcess
        do {
            process = try AgentProcess { [self] () throws(ConfigurationError) in
                try agentConfiguration(environment: environment)
            }
        } catch {
            Self.complain("\(error)", hint: "lanyardd --help")
            throw ExitCode(2)
        }
        if printConfig {
            print(process.configuration.toml, terminator: "")
            return
        }
        if isUntilInputEnds { AgentProcess.stopWhenInputEnds() }
        try await process.run()
    }

    private func agentConfiguration(environment: [String: String]) throws(ConfigurationError) -> AgentConfiguration {
        let flags: [ConfigurationLayer.Key: String?] = [
            .dataDirectory: dataDir, .socket: socket, .listen: listen, .announce: announce, .name: name,
            .logLevel: logLevel, .logFormat: logFormat, .mdns: isWithoutMDNS ? "off" : nil,
            .uploadLimit: uploadLimit, .downloadLimit: downloadLimit, .keepHistory: keepHistory,
            .state: isWithoutState ? "off" : nil, .backupTo: backupTo, .backupEvery: backupEvery,
            .backupKeep: backupKeep, .metrics: metrics, .dashboard: dashboard,
        ]
        var layers = [ConfigurationLayer(flags.compactMapValues(\.self)), ConfigurationLayer(environment: environment)]
        let named = config ?? environment["LANYARD_CONFIG"]
        let places = named.map { [$0] } ?? Self.usualPlaces(environment)
        let file = named ?? places.first { FileManager.default.fileExists(atPath: $0) }
        if let file { layers.append(try ConfigurationLayer(file: file)) }
        var configuration = try AgentConfiguration(
            layers: layers, environment: environment, hostName: ProcessInfo.processInfo.hostName)
        (configuration.file, configuration.filePlaces) = (file, places)
        return configuration
    }

    /// The places of the file: the user's, then the machine's.
    private static func usualPlaces(_ environment: [String: String]) -> [String] {
        let base = environment["XDG_CONFIG_HOME"] ?? environment["HOME"].map { $0 + "/.config" }
        return (base.map { [$0 + "/lanyard/lanyardd.toml"] } ?? []) + ["/etc/lanyard/lanyardd.toml"]
    }

    /// Writes one line to standard error: what happened, and what to do next.
    static func complain(_ message: String, hint: String) {
        try? FileHandle.standardError.write(
            contentsOf: Data(AgentLog.plain("lanyardd: \(message). Next: \(hint)").utf8) + [0x0A])
    }
}
