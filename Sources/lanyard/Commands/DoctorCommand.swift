import ArgumentParser
import ControlAPI
import LanyardClient

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look for what is wrong, and say what to do; works without the agent.",
        discussion: """
            With --bundle, all that helps another person to find out more goes into one tar archive: these checks, status, why, \
            peers, devices and configuration, the metrics and the log. It names devices and addresses; it holds no object, no \
            event, no attachment and no key.
            """)
    @Flag(help: "Also read all that is stored, and hash every attachment again; this may take long.")
    var deep = false
    @Option(
        help: ArgumentHelp("Save what was found in one file, to send to a person who helps.", valueName: "file"),
        completion: .file())
    var bundle: String?
    @Flag(name: .shortAndLong, help: "With --bundle: replace a file that is there.")
    var force = false
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if force, bundle == nil { throw ValidationError("--force goes with --bundle FILE.") }
        if bundle == "-" { throw ValidationError("A bundle goes into a file: --bundle FILE.") }
    }

    func run() async throws {
        if !global.json { StandardError.progress("Looking …") }
        var checks = try await agentChecks()
        checks.insert(contentsOf: LocalChecks(location: global.location).all, at: 2)
        StandardError.progress("")
        if let bundle {
            return try await DiagnosticBundle(checks: checks, global: global).save(bundle, replaces: force)
        }
        try global.print(checks) { Prose.wrapped(text(checks, $0)) }
        let failed = checks.count { $0.state == .failed }
        if failed > 0 { Program.exit(.failed) }
    }

    /// Returns the checks that only the agent can make, or one that says why it cannot be asked.
    private func agentChecks() async throws -> [DoctorCheck] {
        do {
            let client = try global.client()
            let version = try await client.version().version
            let asked = try await deep ? deepChecks(client) : client.doctorChecks()
            return [
                DoctorCheck(check: "agent", state: .ok, detail: "answers on \(client.socketPath)"),
                Self.versionCheck(agent: version),
            ] + asked
        } catch let error as ControlError {
            return [DoctorCheck(check: "agent", state: .failed, detail: error.message, hint: error.hint)]
                + ["version", "listener", "clock_skew", "connected_peers"].map {
                    DoctorCheck(
                        check: $0, state: .skipped, detail: "only a running agent can tell",
                        hint: "See the check \"agent\".")
                }
        }
    }

    private func deepChecks(_ client: LanyardClient) async throws -> [DoctorCheck] {
        let display = ProgressDisplay("Reading all that is stored", of: nil, isOn: !global.quiet && !global.json)
        defer { display.end() }
        return try await client.deepDoctorChecks { display.tell($0) }
    }

    private static func versionCheck(agent: String) -> DoctorCheck {
        if agent == LanyardVersion.current {
            return DoctorCheck(check: "version", state: .ok, detail: "command and agent are \(agent)")
        }
        return DoctorCheck(
            check: "version", state: .warning, detail: "the agent is \(agent), this command \(LanyardVersion.current)",
            hint: "Restart the agent after an upgrade.")
    }

    private func text(_ checks: [DoctorCheck], _ style: Style) -> String {
        let width = checks.map(\.check.count).max() ?? 0
        return checks.map { check in
            let mark =
                switch check.state {
                case .ok: style.good("ok     ")
                case .warning: style.careful("warning")
                case .failed: style.bad("failed ")
                case .skipped: style.faint("skipped")
                }
            let line = "\(mark)  \(check.check.padded(to: width))  \(shown(check.detail))\n"
            let hint = check.state == .warning || check.state == .failed ? check.hint : ""
            return hint.isEmpty ? line : line + String(repeating: " ", count: width + 11) + "→ \(shown(hint))\n"
        }.joined()
    }
}
