import ArgumentParser
import ControlAPI
import LanyardClient

struct Emit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write an event, or one per line of standard input.",
        usage: """
            lanyard emit STREAM [TYPE] JSON|- [OPTIONS]
                   lanyard emit STREAM [TYPE] --text TEXT|- [OPTIONS]
            """,
        discussion: """
            Returns when the event is durable on this device; with --wait-for 2 when it is on one more. If the others do not \
            say so in time, the command exits with 6, and the event stays. With -, each line of standard input is JSON and becomes an \
            event of its own, written in groups while the lines come; a bad line ends it, what came before stays.
            A JSON value that begins with a minus sign comes after --: lanyard emit temperature -- -5
            With --text, a text becomes a JSON string. What a command printed: uname -r | lanyard emit kernels --text -
            """)
    @Argument(
        help: ArgumentHelp("The stream; it begins with its first event.", valueName: "stream"),
        completion: Completions.streams)
    var stream: String
    @Argument(help: ArgumentHelp("The event's type, if it has one, and its JSON or -.", valueName: "type-and-json"))
    var operands: [String]
    @Flag(help: "The value is text, not JSON; with -, all of standard input is one, without line breaks at its end.")
    var text = false
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
        if operand == "-", !text {
            return try await global.client().emitLines(
                StandardInput(), type: type, to: stream, space: global.space)
        }
        let json = text ? JSONEncoding.bytes(try await read(operand)) : Array(operand.utf8)
        let payload: JSONText
        do throws(JSONSyntaxError) {
            payload = try JSONText(json)
        } catch {
            throw ControlError(malformed: error)
        }
        guard payload.bytes.count <= ControlLimits.payloadBytes else {
            throw ControlError.payloadTooLarge(byteCount: payload.bytes.count)
        }
        return try await global.client().emit(payload, type: type, to: stream, space: global.space)
    }

    /// Returns the text that an operand means.
    private func read(_ operand: String) async throws(ControlError) -> String {
        guard operand == "-" else { return operand }
        let limit = ControlLimits.payloadBytes
        var bytes = try await StandardInput.bytes(limit: limit) {
            ControlError(
                .payloadTooLarge, "The text is longer than an event may be: \(limit) bytes (1 MiB).",
                hint: "Attach it as a file instead: lanyard attach")
        }
        // As a shell does with what a command printed.
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ControlError(
                .invalidUTF8, "The text is not UTF-8.",
                hint: "Convert it: iconv. Bytes belong into a file: lanyard attach")
        }
        return text
    }
}
