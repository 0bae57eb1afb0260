import ArgumentParser
import ControlAPI
import LanyardClient

struct Emit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write an event, or one per line of standard input.",
        usage: "lanyard emit STREAM [TYPE] JSON|- [OPTIONS]",
        discussion: """
            Returns when the event is durable on this device; with --wait-for 2 when it is on one more. If the others do not \
            say so in time, the command exits with 6, and the event stays. With -, each line of standard input is JSON and becomes an \
            event of its own, written in groups while the lines come; a bad line ends it, what came before stays.
            A JSON value that begins with a minus sign comes after --: lanyard emit temperature -- -5
            """)
    @Argument(
        help: ArgumentHelp("The stream; it begins with its first event.", valueName: "stream"),
        completion: Completions.streams)
    var stream: String
    @Argument(help: ArgumentHelp("The event's type, if it has one, and its JSON or -.", valueName: "type-and-json"))
    var operands: [String]
    @OptionGroup var durable: DurableWrite
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (1...2).contains(operands.count) else {
            throw ValidationError("Give the JSON, or a type and the JSON, after the stream.")
        }
    }

    func run() async throws {
        try NameRule.check(stream, is: .stream)
        let type = operands.count == 2 ? operands[0] : nil
        if let type { try NameRule.check(type, is: .type) }
        let answer = try await emit(operands[operands.count - 1], type: type)
        try await durable.print(answer, version: answer.last, count: answer.count, global) { _ in
            if global.quiet { return "" }
            guard let last = answer.last else { return "Nothing to write.\n" }
            return answer.count == 1 ? "\(last)\n" : "\(answer.count) events, last \(last)\n"
        }
    }

    private func emit(_ operand: String, type: String?) async throws -> EmitResponse {
        if operand == "-" {
            return try await global.client().emitLines(
                StandardInput(), type: type, to: stream, space: global.space)
        }
        let payload: JSONText
        do throws(JSONSyntaxError) {
            payload = try JSONText(operand)
        } catch {
            throw ControlError(malformed: error)
        }
        guard payload.bytes.count <= ControlLimits.payloadBytes else {
            throw ControlError.payloadTooLarge(byteCount: payload.bytes.count)
        }
        return try await global.client().emit(payload, type: type, to: stream, space: global.space)
    }
}
