import ArgumentParser
import ControlAPI
import LanyardClient

struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until this node and all connected members hold the same.")
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
        let answer = try await client.wait(peers: peers, timeoutMilliseconds: timeout.milliseconds)
        StandardError.progress("")
        try global.print(answer) { style in
            global.quiet || !answer.inStep ? "" : "\(style.good("In step")) after \(seconds(answer)) s.\n"
        }
        guard answer.inStep else {
            throw ControlError(
                .timedOut, "Not in step after \(seconds(answer)) s.", hint: "See what is missing with: lanyard why")
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
