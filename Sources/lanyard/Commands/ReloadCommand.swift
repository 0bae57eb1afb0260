import ArgumentParser
import ControlAPI
import LanyardClient

struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have the running agent read its configuration again.",
        discussion: """
            At once count: name, log-level, log-format, upload-limit, download-limit, backup-to, backup-every, backup-keep, \
            keep-history (but not to or from forever), announce, mdns, listen, metrics and dashboard. The others are named: \
            they need a restart. A configuration that cannot be read changes nothing, and what cannot have its new address stays at \
            the one before. What was given to lanyardd as a flag, or in its environment, counts more than the file. \
            `systemctl reload lanyard` and the signal SIGHUP do the same.
            """)
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let answer = try await global.client().reloadConfiguration()
        let location = global.location
        try global.print(answer) { _ in Self.text(answer, restart: location.restartCommand) }
        guard !answer.failed.isEmpty else { return }
        // For programs it is in the answer.
        for failure in answer.failed where !global.json {
            Failure.say(ControlError(.unreachable, failure.message, hint: failure.hint), asJSON: false)
        }
        Program.exit(.failed)
    }

    private static func text(_ answer: ReloadResponse, restart: String?) -> String {
        if answer.taken.isEmpty, answer.needsRestart.isEmpty {
            guard answer.file == nil, !answer.filePlaces.isEmpty else {
                return answer.failed.isEmpty ? "Nothing changed.\n" : ""
            }
            let places = answer.filePlaces.map(shown).joined(separator: " or ")
            return "Nothing changed: there is no configuration file. One would be read from \(places).\n"
        }
        var lines = answer.taken.map { change in
            let after = change.after.map { "is \(shown($0)) now" } ?? "is not set any more"
            return "\(shown(change.setting)) \(after); it was \(before(change))."
        }
        lines += answer.needsRestart.map { change in
            let after = change.after.map { "is to become \(shown($0))" } ?? "is to be set no more"
            return "\(shown(change.setting)) needs a restart: it \(after); it is \(before(change))."
        }
        if !answer.needsRestart.isEmpty {
            lines.append("Restart the agent for that\(restart.map { ": \($0)" } ?? ".")")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func before(_ change: SettingChange) -> String { change.before.map(shown) ?? "not set" }
}
