import ArgumentParser
import ControlAPI
import LanyardClient

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show this device: what it holds and which others it knows.")
    @Flag(help: "Go on, and show every change; with --json a line for each.")
    var watch = false
    @Option(help: ArgumentHelp("With --watch: how often to look.", valueName: "time"))
    var interval: TimeLength?
    @Flag(help: "Show the configuration that the agent runs with instead, as a lanyardd.toml.")
    var configuration = false
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if configuration, watch { throw ValidationError("--configuration does not change; it goes without --watch.") }
        guard let interval else { return }
        guard watch else { throw ValidationError("--interval goes with --watch.") }
        guard (100...86_400_000).contains(interval.milliseconds) else {
            throw ValidationError("The time between two looks is 100ms to 1d.")
        }
    }

    func run() async throws {
        // Without --space all spaces are shown; the default of the option is for commands that work in one.
        let isNamed = CommandLine.arguments.contains { $0 == "--space" || $0.hasPrefix("--space=") }
        let (client, space) = (try global.client(), isNamed ? global.space : nil)
        if configuration {
            let answer = try await client.configuration()
            // Line by line: what a value holds must not reach the terminal as more than text.
            return try global.print(answer) { _ in
                answer.toml.split(separator: "\n").map { shown(String($0)) + "\n" }.joined()
            }
        }
        guard watch else { return try show(try await client.status(space: space)) }
        let redraws = StandardOutput.isTerminal && !global.json
        var last: StatusResponse?
        while true {
            let status = try await client.status(space: space)
            var changed = status
            // It changes each second, and says nothing.
            changed.uptimeSeconds = 0
            // At a terminal ages go on; to a file only changes are written.
            if redraws || changed != last {
                if redraws { try StandardOutput.clear() }
                try show(status)
            }
            last = changed
            try await Task.sleep(for: .milliseconds(interval?.milliseconds ?? 1_000))
        }
    }

    private func show(_ status: StatusResponse) throws {
        try global.print(status) { Prose.wrapped(StatusText(status: status, style: $0, isQuiet: global.quiet).text) }
    }
}

/// `lanyard status` for people.
struct StatusText {
    let status: StatusResponse
    let style: Style
    let isQuiet: Bool

    var text: String {
        if let upgrade = status.upgrade { return upgrading(upgrade) }
        var lines = status.spaces.map { space in
            let sentence = space.shownSentence
            let prefix = status.spaces.count > 1 ? "\(shown(space.name)): " : ""
            return prefix + (space.inStep ? style.good(sentence) : style.careful(sentence))
        }
        for warning in status.warnings {
            lines.append(style.careful("warning    \(shown(warning.message)) \(shown(warning.hint))"))
        }
        lines += [
            "", row("device", "\(style.strong(shown(status.device.name)))  \(status.device.shortID)"),
            row("agent", "lanyard \(shown(status.version)), up \(TimeText.length(seconds: status.uptimeSeconds))"),
            row("address", addresses),
            row("discovery", discovery),
            row(
                "peers",
                "\(status.peers.connected) connected, \(status.peers.discovered) discovered, \(status.peers.paired) paired"
            ),
            row("store", "\(Amounts.bytes(status.store.bytes)), \(storeState)"),
        ]
        lines += status.spaces.flatMap(space)
        if let level = status.logLevel, let until = level.until {
            lines.append(
                row(
                    "log",
                    "\(shown(level.level)) until \(TimeText.local.exact(until)), then \(shown(level.configured))"))
        }
        lines += (status.logLevel?.components ?? []).map {
            row(
                "log", "\(shown($0.component)) \(shown($0.level)) until \(TimeText.local.exact($0.until))")
        }
        if let backups = status.backups { lines.append(row("backups", BackupText(backups, style).sentence)) }
        lines += TransferText.lines(status.transfers).map { row("arriving", $0) }
        if let next, !isQuiet { lines += ["", next] }
        return lines.joined(separator: "\n") + "\n"
    }

    private func upgrading(_ upgrade: StatusResponse.Upgrade) -> String {
        let reads = upgrade.answersReads ? "what was written before can be read" : "reads wait, too"
        let share = Int(min(max(upgrade.share, 0), 1) * 100)
        return [
            style.careful(
                "The store is brought up to lanyard \(shown(status.version)): \(share) % done. Until then \(reads), and nothing "
                    + "is written, sent or received."),
            "", row("device", "\(style.strong(shown(status.device.name)))  \(status.device.shortID)"),
            row("agent", "lanyard \(shown(status.version)), up \(TimeText.length(seconds: status.uptimeSeconds))"),
        ].joined(separator: "\n") + "\n"
    }

    private func row(_ title: String, _ text: String) -> String {
        style.faint(title.padded(to: 11)) + text
    }

    private var discovery: String {
        switch status.discovery.state {
        case .running: style.good("running") + (status.discovery.instance.map { " as \(shown($0))" } ?? "")
        case .unavailable: style.careful("unavailable") + " (see: lanyard doctor)"
        case .off: "off (devices are dialled at addresses given with: lanyard peers add)"
        }
    }

    /// Where another device can be told to look for this one.
    private var addresses: String {
        switch status.addresses {
        case nil: "not known (restart the agent after an upgrade)"
        case []?: style.careful("none") + " (no network; see: lanyard doctor)"
        case let all?: all.map { shown($0) }.joined(separator: "  ")
        }
    }

    private var storeState: String {
        status.store.state == "ok" ? style.good("ok") : style.bad(shown(status.store.state))
    }

    private func space(_ space: StatusResponse.Space) -> [String] {
        let dropped = space.droppedChanges > 0 ? " (\(space.droppedChanges) more compacted)" : ""
        var lines = [
            row(
                "space",
                "\(style.strong(shown(space.name)))  \(Amounts.count(space.changes, "change"))\(dropped), \(Amounts.count(space.objects, "object")), \(Amounts.count(space.events, "event")), \(Amounts.count(space.attachments, "attachment")), digest \(space.digest.prefix(12))"
            )
        ]
        if space.role == .reader {
            lines.append(row("", "This device is a reader: it passes on what it holds, and writes nothing."))
        }
        if space.incomplete > 0 {
            lines.append(
                row("", style.careful("\(Amounts.count(space.incomplete, "object")) incomplete (see: lanyard why)")))
        }
        if space.conflicts > 0 {
            let count = space.conflicts < 256 ? "\(space.conflicts)" : "256 or more"
            lines.append(
                row(
                    "",
                    style.careful(
                        "\(count) \(space.conflicts == 1 ? "conflict needs" : "conflicts need") a decision (see: lanyard conflicts)"
                    )))
        }
        if !space.stable.heldBackBy.isEmpty {
            let names = Amounts.some(space.stable.heldBackBy.map(\.name))
            lines.append(row("", "Waiting for \(names) to confirm; deletions are kept until then."))
        }
        return lines
    }

    /// The next command to type, while nothing has happened yet or no device is connected.
    private var next: String? {
        let isEmpty = status.spaces.allSatisfy { $0.events == 0 && $0.objects == 0 }
        switch (status.peers.paired, status.peers.connected) {
        case (0, 0): return isEmpty ? "Alone so far. To add another device, type on both:  lanyard pair" : nil
        case (_, 0): return "No other device is connected. To see what is in the way:  lanyard why"
        case (_, _): return isEmpty ? "Nothing is written yet. To begin:  lanyard emit hello '{\"text\":\"hi\"}'" : nil
        }
    }
}

extension String {
    /// Blanks up to `width` characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
