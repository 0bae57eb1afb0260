import ArgumentParser
import ControlAPI
import Glibc
import LanyardClient

struct Dashboard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the page about this device in a browser, or print its address.",
        discussion: """
            The agent serves it at the address that its setting `dashboard` names. The address is good for one browser and five minutes; that \
            browser then stays signed in until it is closed.
            """)
    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print the address, and open no browser.")
    var print = false

    @Flag(name: .customLong("sign-out"), help: "Sign all browsers out; addresses that were not opened yet are void.")
    var signsOut = false

    func run() async throws {
        let client = try global.client()
        if signsOut {
            let answer = try await client.signOutOfDashboard()
            try global.print(answer) { _ in
                global.quiet ? "" : "Signed out: \(Amounts.count(answer.signedOut, "browser")).\n"
            }
            return
        }
        let link = try await client.dashboardLink()
        let isOpened = !print && !global.json && Self.hasGraphicalSession && Self.open(link.url)
        try global.print(link) { _ in ([link.url] + link.alsoAt).map { shown($0) + "\n" }.joined() }
        if isOpened {
            global.note("A browser opens it.")
        } else {
            global.note("Open it in a browser within five minutes; it is good once.")
        }
    }

    /// True on a desk, for a person who is not root: browsers refuse to run as root, or should.
    private static var hasGraphicalSession: Bool {
        geteuid() != 0 && isatty(STDOUT_FILENO) == 1
            && ["DISPLAY", "WAYLAND_DISPLAY"].contains { (name: String) in
                getenv(name).map { $0.pointee != 0 } ?? false
            }
    }

    /// Hands the address to the desktop, and does not wait for the browser. False if there is no such program.
    private static func open(_ address: String) -> Bool {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        let program = "xdg-open"
        let words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(address), nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        return posix_spawnp(&process, program, &actions, nil, words, environ) == 0
    }
}
