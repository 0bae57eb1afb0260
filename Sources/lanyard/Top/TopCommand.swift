import ArgumentParser
import ControlAPI
import Glibc
import LanyardClient

struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what this device does now: peers and rates, what is on its way, the store, the newest changes.",
        discussion: """
            At a terminal the page is drawn anew until q or Ctrl-C. Elsewhere, and with --once, it prints one page, with the \
            rates of one interval; with --json a line each time.
            """)
    @Option(name: .shortAndLong, help: ArgumentHelp("How often.", valueName: "time"))
    var interval = TimeLength(milliseconds: 1_000)
    @Flag(help: "Print one page, and end.")
    var once = false
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (100...3_600_000).contains(interval.milliseconds) else {
            throw ValidationError("The time between two looks is 100ms to 1h.")
        }
    }

    func run() async throws {
        let client = try global.client()
        var sampler = TopSampler(client: client, space: global.space)
        _ = try await sampler.sample()
        let feed = TopFeed()
        let watching = Task { try await feed.follow(client, space: global.space) }
        defer { watching.cancel() }
        let pause = Duration.milliseconds(interval.milliseconds)
        guard StandardOutput.isTerminal, isatty(0) == 1, !once, !global.json else {
            repeat {
                try await Task.sleep(for: pause)
                let page = TopPage(try await sampler.sample(), recent: feed.newest, style: global.style)
                if global.json {
                    try StandardOutput.write(json: JSONEncoding.bytes(page.answer) + [0x0A])
                } else {
                    try StandardOutput.write(page.lines(height: nil).joined(separator: "\n") + "\n")
                }
            } while global.json && !once
            return
        }
        let screen = TopScreen()
        Interruption.handle { _ in screen.quit() }
        screen.open()
        do {
            while true {
                let page = TopPage(try await sampler.sample(), recent: feed.newest, style: global.style)
                screen.draw(page.lines(height: screen.height))
                try await Task.sleep(for: pause)
            }
        } catch {
            // The error is read on the screen that the person came from.
            screen.close()
            throw error
        }
    }
}
