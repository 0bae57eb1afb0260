import ArgumentParser
import ControlAPI
import Glibc
import LanyardClient

/// The options of `lanyard backup` for backups that the agent makes by itself.
struct PlannedBackups: ParsableArguments {
    @Option(
        help: ArgumentHelp("With --every: the folder that the agent puts backups into.", valueName: "folder"),
        completion: .directory)
    var to: String?
    @Option(help: ArgumentHelp("How often the agent makes one by itself, such as 1d or 12h.", valueName: "time"))
    var every: TimeLength?
    @Option(help: ArgumentHelp("How many of them are kept (default: 7).", valueName: "n"))
    var keep: Int?
    @Flag(help: "Have the agent make one now, and wait for it.")
    var now = false
    @Flag(help: "Show where and how often the agent makes them, and how the last try went.")
    var plan = false
    @Flag(help: "Make no more of them; those that are there stay.")
    var stop = false

    /// True if any of them is given.
    var isAsked: Bool { to != nil || every != nil || keep != nil || now || plan || stop }

    func validate() throws {
        let isSetting = to != nil || every != nil || keep != nil
        guard [isSetting, now, plan, stop].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give --to and --every, or one of --now, --plan and --stop.")
        }
        guard isSetting else { return }
        guard to != nil, let every else { throw ValidationError("Give both: --to FOLDER and --every TIME.") }
        guard (1_000...365 * 86_400_000).contains(every.milliseconds), every.milliseconds.isMultiple(of: 1_000) else {
            throw ValidationError("A backup is made every 1s to 365d.")
        }
        if let keep, !(1...10_000).contains(keep) { throw ValidationError("Keep 1 to 10,000 backups.") }
    }

    func run(_ global: GlobalOptions) async throws {
        let client = try global.client()
        if let to, let every {
            let entry = BackupPlanEntry(
                directory: try Self.absolute(to), everySeconds: every.milliseconds / 1_000, keep: keep ?? 7)
            Interruption.explain(
                "It was stopped while it waited for the first backup; the plan may be set.",
                hint: "See: lanyard backup --plan", asJSON: global.json)
            let answer = try await client.setBackups(entry)
            try show(answer, global)
            if let failure = answer.lastFailure {
                throw ControlError(
                    ErrorCode(rawValue: failure.code) ?? .internalFault,
                    "The plan is set, and the first backup failed: \(failure.message)", hint: failure.hint)
            }
            return global.note("They hold this device's keys: keep them as safe as the device.")
        }
        if now {
            Interruption.explain(
                "It was stopped; the agent goes on with the backup.", hint: "See: lanyard backup --plan",
                asJSON: global.json)
            return try show(try await client.backUpNow(), global)
        }
        if stop {
            let answer = try await client.endBackups()
            return try global.print(answer) { _ in
                global.quiet ? "" : "The agent makes no more backups by itself; those that are there stay.\n"
            }
        }
        let answer = try await client.backups()
        try show(answer, global)
        if answer.plan == nil {
            global.note("The agent makes no backups by itself. To begin: lanyard backup --to FOLDER --every 1d")
        }
    }

    private func show(_ answer: BackupsResponse, _ global: GlobalOptions) throws {
        try global.print(answer) { style in
            guard !global.quiet || plan, let entry = answer.plan else { return "" }
            let every = TimeText.interval(seconds: entry.everySeconds)
            return "Every \(every) into \(shown(entry.directory)), \(Amounts.count(entry.keep, "backup")) kept"
                + "\(answer.configured ? ", by the agent's configuration" : "").\n"
                + BackupText(answer, style).sentence + "\n"
        }
    }

    /// The path as the agent must be given it: its working directory is another one.
    private static func absolute(_ path: String) throws(ControlError) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let directory = getcwd(nil, 0) else {
            throw ControlError(.invalidArgument, "The working directory is gone.", hint: "Give a whole path.")
        }
        defer { free(directory) }
        let rest = path == "." ? "" : "/" + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
        return String(cString: directory) + rest
    }
}

/// The outcome of planned backups, for people.
struct BackupText {
    private let backups: BackupsResponse
    private let style: Style

    init(_ backups: BackupsResponse, _ style: Style) {
        self.backups = backups
        self.style = style
    }

    /// `last good one 3 h ago (/mnt/usb/lanyard-….backup, 12 MiB), next within 21 h`.
    var sentence: String {
        var parts = [
            backups.lastGood.map { good in
                style.good("last good one \(TimeText.local.age(good.time))")
                    + " (\(shown(good.file)), \(ByteAmount.text(good.bytes)))"
            } ?? style.careful("no good one yet")
        ]
        if let failure = backups.lastFailure {
            parts.append(style.bad("last try failed \(TimeText.local.age(failure.time))"))
        }
        if backups.running {
            parts.append("one is being made")
        } else if let next = backups.next {
            parts.append("next \(TimeText.local.until(next))")
        }
        return parts.joined(separator: ", ")
    }
}
