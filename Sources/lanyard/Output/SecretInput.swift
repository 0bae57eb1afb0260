import ControlAPI
import Glibc
import Synchronization

/// A secret that a person types: it is not echoed, and at the end the terminal is as it was, also after a signal.
enum SecretInput {
    private static let before = Mutex<termios?>(nil)

    /// Returns the line that is typed after `prompt`, which standard error shows.
    ///
    /// - Parameter asJSON: how Ctrl-C is reported.
    /// - Throws: `invalid_argument` if the input ends first.
    static func line(_ prompt: String, asJSON: Bool) throws(ControlError) -> String {
        Interruption.handle { number in
            restore()
            StandardError.write("\n")
            Failure.say(
                ControlError(.cancelled, "Nothing was done.", hint: "Type the command again to begin anew."),
                asJSON: asJSON)
            Interruption.die(of: number)
        }
        StandardError.write(prompt)
        var settings = termios()
        if tcgetattr(0, &settings) == 0 {
            before.withLock { $0 = settings }
            // No echo, and no stop (Ctrl-Z), which would leave the terminal so.
            settings.c_lflag &= ~tcflag_t(ECHO)
            settings.c_cc.10 = 0
            tcsetattr(0, TCSANOW, &settings)
        }
        let line = readLine()
        restore()
        StandardError.write("\n")
        guard let line else {
            throw ControlError(
                .invalidArgument, "Nothing was typed, and nothing was done.", hint: "Type the command again.")
        }
        return line
    }

    private static func restore() {
        before.withLock { before in
            if var settings = before { tcsetattr(0, TCSANOW, &settings) }
            before = nil
        }
    }
}
