import ArgumentParser
import ControlAPI
import Glibc

/// The option of every command that asks before it destroys something, and the asking itself.
struct Confirmation: ParsableArguments {
    @Flag(name: [.short, .long], help: "Do not ask; without a terminal, nothing is done without it.")
    var yes = false

    /// True if a person can be asked.
    var canAsk: Bool { isatty(0) == 1 && StandardError.isTerminal }

    /// Returns when the answer is yes.
    ///
    /// Standard input that is no terminal is never read: a pipe that says "n" and one that says "y" do nothing alike.
    /// - Throws: `invalid_argument` if no person can be asked, `forbidden` for any answer but "y" and "yes", and for none.
    func ask(_ question: String) throws(ControlError) {
        guard !yes else { return }
        guard canAsk else {
            throw ControlError(
                .invalidArgument, "Nothing was done: \"\(question)\" needs an answer, and there is no terminal.",
                hint: "To do it, add --yes.")
        }
        StandardError.write("\(shown(question)) [y/N] ")
        let answer = readLine()?.lowercased()
        guard answer == "y" || answer == "yes" else {
            throw ControlError(.forbidden, "Nothing was done.", hint: "To do it, answer y, or add --yes.")
        }
    }
}
