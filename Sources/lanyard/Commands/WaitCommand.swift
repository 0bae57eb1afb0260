import ArgumentParser
import ControlAPI
import LanyardClient

struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until no device lacks anything of what this one holds.",
        discussion: """
            Devices that are away count, too, unless they were retired: what they lack is only here until they come back. With \
            --connected only devices with a session count.
            """)
    @Flag(help: "Do not wait for devices that are away.")
    var connected = false
    @Option(help: ArgumentHelp("Wait until at least so many are connected, too.", valueName: "n"))
    var peers: Int?
    @Option(help: ArgumentHelp("Give up after this time.", valueName: "time"))
    var timeout = TimeLength(milliseconds: 30_000)
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let client = try global.client()
        let progress = global.quiet || global.json ? nil : Task { try await Self.showProgress(client) }
        defer {
            progress?.cancel()
            StandardError.progress("")
        }
        let answer = try await client.wait(
            peers: peers, connectedOnly: connected, timeoutMilliseconds: timeout.milliseconds)
        StandardError.progress("")
        try global.print(answer) { style in
            global.quiet || !answer.inStep ? "" : "\(style.good("In step")) after \(seconds(answer)) s.\n"
        }
        guard answer.inStep else {
            let own = "this device was retired, and writes again what it wrote meanwhile"
            let reasons = (answer.writingAgain ? [own] : []) + StandingText(standings: answer.waitingFor).reasons
            guard !reasons.isEmpty else {
                throw ControlError(
                    .timedOut, "Not in step after \(seconds(answer)) s.", hint: "See what is missing with: lanyard why")
            }
            throw ControlError(
                .timedOut, "Not in step after \(seconds(answer)) s: \(reasons.joined(separator: "; ")).",
                hint: "See what is in the way: lanyard why. For connected devices only: lanyard wait --connected")
        }
    }

    private func seconds(_ answer: WaitResponse) -> String {
        let tenths = Int((answer.waitedSeconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func showProgress(_ client: LanyardClient) async throws {
        guard StandardError.isTerminal else { return }
        try await client.watchPeers { peers in
            let connected = peers.filter { $0.state == .connected }
            let behind = connected.reduce(0) { $0 + ($1.behind.us ?? 0) }
            let ahead = connected.reduce(0) { $0 + ($1.behind.them ?? 0) }
            StandardError.progress("\(connected.count) connected, \(behind) to fetch, \(ahead) to ship …")
        }
    }
}
