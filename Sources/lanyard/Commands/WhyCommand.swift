import ArgumentParser
import ControlAPI
import LanyardClient

struct Why: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what keeps this device, another one, an object or an attachment from being in step.")
    @Argument(
        help: "A device's name, short id or id, COLLECTION/ID, or an attachment; this device when left out.",
        completion: Completions.peers)
    var target: String?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let answer = try await self.answer()
        try global.print(answer) { Prose.wrapped(text(answer, $0)) }
    }

    /// Returns the answer; without an agent, that is the answer.
    private func answer() async throws(ControlError) -> WhyResponse {
        do throws(ControlError) {
            return try await global.client().why(target, space: global.space == "home" ? nil : global.space)
        } catch {
            guard error.code == .agentNotRunning else { throw error }
            let chain = WhyResponse.LinkName.allCases.map { WhyResponse.Link($0, ok: false, detail: error.message) }
            return WhyResponse(
                inStep: false, chain: chain, errors: [.init(code: error.code.rawValue, time: .now, count: 1)],
                hint: error.hint)
        }
    }

    private func text(_ answer: WhyResponse, _ style: Style) -> String {
        // Of an agent that does not run, no link is known.
        if answer.errors.first?.code == ErrorCode.agentNotRunning.rawValue {
            return "\(style.bad("--"))  agent  not running: \(shown(global.location.node))\n\(shown(answer.hint))\n"
        }
        var lines = answer.sentence.map { [answer.inStep ? style.good(shown($0)) : style.careful(shown($0))] } ?? []
        for link in answer.chain {
            let mark = link.ok ? style.good("ok") : style.bad("--")
            let since = link.since.map { "  \(style.faint("(\(TimeText.local.age($0)))"))" } ?? ""
            // The mark has said it.
            let detail = link.ok && link.detail == "ok" ? "" : " \(shown(link.detail))\(since)"
            lines.append("\(mark)  \(detail.isEmpty ? link.link.rawValue : link.link.rawValue.padded(to: 10))\(detail)")
            // What comes after the first broken link cannot be known.
            if !link.ok { break }
        }
        for error in answer.errors {
            let count = error.count == 1 ? "once," : "\(error.count) times, last"
            lines.append(style.faint("    \(shown(error.code)): \(count) \(TimeText.local.age(error.time))"))
        }
        lines += lacking(answer).map { style.careful($0) }
        if let next = answer.nextAttempt { lines.append("Tries again \(TimeText.local.until(next)).") }
        if !answer.inStep { lines.append(shown(answer.hint)) }
        // The sentence at the top has said it, or says what the links do not show.
        if answer.inStep, answer.sentence == nil { lines.append(style.good("In step.")) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The line about what the device lacks, or which devices lack the object; none if nothing is lacking.
    private func lacking(_ answer: WhyResponse) -> [String] {
        if let names = answer.lackedBy, !names.isEmpty {
            return ["Its newest version has not arrived on \(Amounts.some(names)), as far as is known here."]
        }
        guard let lacking = answer.lacking, lacking.changes > 0 else { return [] }
        let count = "It lacks \(Amounts.count(lacking.changes, "change")) of what is here"
        guard !lacking.objects.isEmpty else { return [count + "."] }
        let most = WhyResponse.Lacking.mostObjects
        let ellipsis = lacking.objects.count < most ? "" : " …"
        return [count + ", to: \(lacking.objects.map { shown($0) }.joined(separator: ", "))\(ellipsis)"]
    }
}
