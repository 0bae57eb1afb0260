import ArgumentParser
import ControlAPI
import LanyardClient

struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until no device lacks anything of what this one holds.",
        discussion: """
            Devices that are away count, too, unless they were retired: what they lack is only here until they come back. With \
            --connected only devices with a session count.
            With --written: until a write is on the disks of so many devices, by their own word. VERSION is that of the object, \
            or the dot of the event, as put and emit print it.
            """)
    @Flag(help: "Do not wait for devices that are away.")
    var connected = false
    @Option(help: ArgumentHelp("Wait until at least so many are connected, too.", valueName: "n"))
    var peers: Int?
    @Option(help: ArgumentHelp("Wait for this write instead.", valueName: "version"))
    var written: String?
    @Option(
        name: .customLong("wait-for"),
        help: ArgumentHelp(
            "With --written: wait until it is on so many devices, this one included (default: 2).", valueName: "n"))
    var waitFor: Int?
    @Option(help: ArgumentHelp("Give up after this time.", valueName: "time"))
    var timeout = TimeLength(milliseconds: 30_000)
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        try Durability.check(timeout)
        if let waitFor { try Durability.check(devices: waitFor) }
        if written == nil, waitFor != nil {
            throw ValidationError("--wait-for needs to know of which write: give --written VERSION.")
        }
        if written != nil, connected || peers != nil {
            throw ValidationError("--written goes with --wait-for, not with --connected or --peers.")
        }
    }

    func run() async throws {
        if let written { return try await waitUntilDurable(try DotText(parsing: written)) }
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
            global.quiet || !answer.inStep ? "" : "\(style.good("In step")) after \(seconds(answer)).\n"
        }
        guard answer.inStep else {
            let own = "this device writes again what had not arrived elsewhere when it was retired or put back"
            let lacking = StandingText(answer.waitingFor, times: .local).reasons.map { shown($0) }
            let reasons = (answer.writingAgain ? [own] : []) + lacking
            guard !reasons.isEmpty else {
                throw ControlError(
                    .timedOut, "Not in step after \(seconds(answer)).", hint: "See what is missing with: lanyard why")
            }
            throw ControlError(
                .timedOut, "Not in step after \(seconds(answer)): \(reasons.joined(separator: "; ")).",
                hint: "See what is in the way: lanyard why. For connected devices only: lanyard wait --connected")
        }
    }

    private func waitUntilDurable(_ version: DotText) async throws {
        let (client, wanted) = (try global.client(), waitFor ?? 2)
        let answer = try await client.untilDurable(version, on: wanted, timeoutMilliseconds: timeout.milliseconds)
        try global.print(answer) { _ in "" }
        try await Durability.report(answer, of: version, wanted: wanted, client, global)
    }

    private func seconds(_ answer: WaitResponse) -> String { TimeText.seconds(answer.waitedSeconds) }

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
