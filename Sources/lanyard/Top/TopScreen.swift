import ControlAPI
import Glibc
import Synchronization

/// A terminal that shows pages: keys are read one by one and not echoed, and at the end everything is as it was before, also after
/// a signal.
final class TopScreen: Sendable {
    private struct State {
        var before: termios?
        var isOpen = false
    }

    private let state = Mutex(State())
    private let keys = BlockingThread()

    /// The number of lines; 24 if the terminal does not say.
    var height: Int {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
        return Int(size.ws_row)
    }

    /// Begins the other page of the terminal (xterm's alternate screen), without a cursor; lines that
    /// are too long are cut. Listens for q.
    func open() {
        state.withLock { state in
            var settings = termios()
            if tcgetattr(0, &settings) == 0 {
                state.before = settings
                // No lines, no echo, and no stop (Ctrl-Z), which would leave the terminal so.
                settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
                settings.c_cc.10 = 0
                tcsetattr(0, TCSANOW, &settings)
            }
            state.isOpen = true
            Self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[H\u{1B}[2J")
        }
        keys.async { [self] in
            var key: UInt8 = 0
            while true {
                let count = read(0, &key, 1)
                if count == 1, key == UInt8(ascii: "q") || key == UInt8(ascii: "Q") { quit() }
                if count == 0 || count < 0 && errno != EINTR { return }
            }
        }
    }

    /// Draws over the page before, line by line: nothing flickers.
    func draw(_ lines: [String]) {
        let text = lines.prefix(max(1, height - 1)).map { TerminalText.page($0) + "\u{1B}[K\r\n" }.joined()
        state.withLock { state in if state.isOpen { Self.write("\u{1B}[H" + text + "\u{1B}[J") } }
    }

    /// Makes the terminal what it was.
    func close() {
        state.withLock { state in
            guard state.isOpen else { return }
            state.isOpen = false
            Self.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
            if var before = state.before { tcsetattr(0, TCSANOW, &before) }
        }
    }

    /// Ends the program: the person has seen enough.
    func quit() {
        close()
        Program.exit(.ok)
    }

    /// Writes to the terminal; ends the program if that is gone.
    private static func write(_ text: String) {
        do { try StandardOutput.write(raw: Array(text.utf8)) } catch { Program.exit(.ok) }
    }
}
