import ControlAPI
import Glibc

/// Standard output: whole writes, and a quiet end when no program reads any more (`lanyard events s | head`).
enum StandardOutput {
    /// Text for people, made safe for a terminal.
    static func write(_ text: String) throws(ControlError) { try write(raw: Array(TerminalText.page(text).utf8)) }

    /// JSON for programs, made safe for a terminal; it means the same.
    static func write(json bytes: [UInt8]) throws(ControlError) { try write(raw: TerminalText.json(bytes)) }

    /// The terminal begins anew at its first line.
    static func clear() throws(ControlError) { try write(raw: Array("\u{1B}[H\u{1B}[2J".utf8)) }

    /// Bytes as they are: files. Returns when the kernel took all of them.
    static func write(raw bytes: [UInt8]) throws(ControlError) {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(1, $0.baseAddress! + start, $0.count - start) }
            if count >= 0 {
                start += count
            } else if errno == EAGAIN {
                // Another program made the shared terminal or pipe non-blocking: wait until it takes more.
                var descriptor = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
                poll(&descriptor, 1, -1)
            } else if errno == EPIPE {
                Program.exit(.ok)
            } else if errno != EINTR {
                throw ControlError(
                    .internalFault, "The output cannot be written: \(String(cString: strerror(errno))).",
                    hint: "Check the disk or the program that reads the output.")
            }
        }
    }

    static var isTerminal: Bool { isatty(1) == 1 }
}

/// Standard error: remarks, progress and errors. What cannot be said is not worth failing for.
enum StandardError {
    /// Text for people, made safe for a terminal.
    static func write(_ text: String) { write(raw: TerminalText.page(text)) }

    /// JSON for programs, made safe for a terminal.
    static func write(json bytes: [UInt8]) { write(raw: String(decoding: TerminalText.json(bytes), as: UTF8.self)) }

    private static func write(raw text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
    }

    static var isTerminal: Bool { isatty(2) == 1 }

    /// The width in characters; nil if it is no terminal.
    static var width: Int? {
        var size = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Shows a line that the next one overwrites, on a terminal only.
    static func progress(_ text: String) {
        if isTerminal { write(raw: "\r\u{1B}[K" + TerminalText.line(text)) }
    }
}
