import ArgumentParser
import ControlAPI
import LanyardClient

struct Version: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the versions of this command and of the agent.")
    @OptionGroup var global: GlobalOptions

    private struct Answer: Encodable {
        let version: String
        /// Null when no agent runs.
        let agent: String?
    }

    func run() async throws {
        let agent = try? await global.client().version().version
        try global.print(Answer(version: LanyardVersion.current, agent: agent)) { _ in
            "lanyard \(LanyardVersion.current)\n" + "agent   \(agent.map(shown) ?? "not running")\n"
        }
    }
}

struct Completion: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a completion script for a shell.",
        discussion: "For bash: lanyard completion bash > ~/.local/share/bash-completion/completions/lanyard")

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash
        case zsh
        case fish
    }

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let script =
            switch shell {
            case .bash: Lanyard.completionScript(for: .bash)
            case .zsh: Lanyard.completionScript(for: .zsh)
            case .fish: Lanyard.completionScript(for: .fish)
            }
        try StandardOutput.write(raw: Array((script + "\n").utf8))
    }
}
