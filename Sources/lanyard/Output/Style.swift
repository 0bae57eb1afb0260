import ControlAPI
import Glibc
import LanyardClient

/// Colours, on a terminal that wants them.
struct Style: Sendable {
    let usesColor: Bool

    /// Applies the user's choice; a file, a pipe, `NO_COLOR` or a dumb terminal gets no colours.
    init(usesColor: Bool) {
        self.usesColor =
            usesColor && StandardOutput.isTerminal && SocketLocation.processEnvironment("NO_COLOR") == nil
            && SocketLocation.processEnvironment("TERM") != "dumb"
    }

    func good(_ text: String) -> String { colored(text, "32") }
    func bad(_ text: String) -> String { colored(text, "31") }
    func careful(_ text: String) -> String { colored(text, "33") }
    func faint(_ text: String) -> String { colored(text, "2") }
    func strong(_ text: String) -> String { colored(text, "1") }
    /// White on black, also where the terminal is the other way round.
    func whiteOnBlack(_ text: String) -> String { colored(colored(text, "97"), "40") }

    private func colored(_ text: String, _ code: String) -> String {
        usesColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// Text that came from another machine, made safe to show on one line.
func shown(_ text: String) -> String { TerminalText.line(text) }
