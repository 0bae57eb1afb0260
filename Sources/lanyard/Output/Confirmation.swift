import ControlAPI
import Glibc

/// Asks before something is destroyed; only where somebody sits who can answer.
enum Confirmation {
    /// Throws when the answer is no. Without a terminal, or with `--yes`, nothing is asked.
    static func ask(_ question: String, yes: Bool) throws(ControlError) {
        guard !yes, isatty(0) == 1, StandardError.isTerminal else { return }
        StandardError.write("\(question) [y/N] ")
        let answer = readLine()?.lowercased()
        guard answer == "y" || answer == "yes" else {
            throw ControlError(.forbidden, "Nothing was done.", hint: "Say y, or give --yes.")
        }
    }
}
