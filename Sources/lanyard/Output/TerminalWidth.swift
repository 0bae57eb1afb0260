import Glibc
import LanyardClient

/// The number of characters that fit a line of the output.
enum TerminalWidth {
    /// The width from COLUMNS if that is set, else from the terminal; nil if output goes to a file or a pipe.
    static var current: Int? {
        if let columns = SocketLocation.processEnvironment("COLUMNS").flatMap(Int.init), columns > 0 { return columns }
        guard StandardOutput.isTerminal else { return nil }
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
