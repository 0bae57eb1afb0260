import ArgumentParser
import ControlAPI
import LanyardClient

struct Put: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create or change an object, or one per line of standard input.",
        usage: "lanyard put COLLECTION[/ID] JSON|- [OPTIONS]",
        discussion: """
            JSON is an object with fields. Fields it does not name stay as they are; null is a value. Returns when the \
            object is durable on this device, and writes nothing that is there already; with --wait-for 2 when it is on one \
            more. If the others do not say so in time, the command exits with 6, and the object stays.
            Without /ID a key "id" of the JSON names the object (it is not a field then); without that, too, the object \
            gets a fresh id.
            COLLECTION - takes one JSON object, or one per line, each written as a change of its own, in groups while the \
            lines come; a line that is refused ends it, what came before stays. What `lanyard list --json` prints can be \
            put again: lanyard list note --json | jq -c '.[]' | lanyard put note -
            """)
    @Argument(
        help: ArgumentHelp("The collection, and the object's id if it is known.", valueName: "collection[/id]"),
        completion: Completions.objects)
    var target: String
    @Argument(help: ArgumentHelp("The fields, or - for standard input.", valueName: "json"))
    var operand: String
    @Flag(help: "Remove fields that are not named.")
    var replace = false
    @Option(help: ArgumentHelp("Only if the object has this version.", valueName: "version"))
    var ifVersion: String?
    @Flag(help: "Only if there is no such object.")
    var ifAbsent = false
    @OptionGroup var durable: DurableWrite
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if ifVersion != nil, ifAbsent {
            throw ValidationError("An object cannot have a version and be absent: give one of the two.")
        }
    }

    func run() async throws {
        guard target.utf8.contains(UInt8(ascii: "/")) else { return try await putWithoutID() }
        let name = try ObjectName(parsing: target)
        let text = try operand == "-" ? await Self.input() : Self.json(Array(operand.utf8))
        try await put(try ObjectPut(collection: name.collection, id: name.id, fields: text), isIDGiven: true)
    }

    private func putWithoutID() async throws {
        try NameRule.check(target, is: .collection)
        guard operand == "-" else { return try await putOne(Self.json(Array(operand.utf8))) }
        switch try await ObjectInput.look() {
        case .one(let bytes): try await putOne(Self.json(bytes))
        case .lines(let lines): try await putLines(lines)
        }
    }

    // MARK: One

    private func putOne(_ text: JSONText) async throws {
        let put = try ObjectPut(line: text, collection: target)
        try await self.put(put, isIDGiven: put.id != nil)
    }

    private func put(_ put: ObjectPut, isIDGiven: Bool) async throws {
        var put = put
        put.replace = replace
        put.condition = try WriteCondition(
            ifVersion: try ifVersion.map { text throws(ControlError) in try DotText(parsing: text) },
            ifAbsent: ifAbsent)
        let object = try await global.client().put(put, space: global.space)
        for field in Self.fieldsThatKept(put.fields, object.fields) {
            global.note("\"\(field)\" only grows: what it held and the JSON does not name stayed in it.")
        }
        try await durable.print(object, version: object.version, global) { _ in
            if global.quiet { return isIDGiven ? "" : "\(shown(object.id))\n" }
            return "\(shown(object.collection))/\(shown(object.id))  version \(object.version)\n"
        }
    }

    /// Names of lists that hold more than was put: of add-only sets, which put cannot take anything from.
    private static func fieldsThatKept(_ put: JSONText, _ shown: JSONText) -> [String] {
        func counts(_ fields: JSONText) -> [(name: String, count: Int)] {
            guard let document = try? JSONDocument(fields.bytes), case .object(let members) = document.root.kind else {
                return []
            }
            return members.compactMap { member in
                if case .array(let elements) = member.value.kind { (member.key, elements.count) } else { nil }
            }
        }
        let present = counts(shown)
        return counts(put).filter { wanted in
            present.contains { $0.name.utf8.elementsEqual(wanted.name.utf8) && $0.count > wanted.count }
        }.map(\.name)
    }

    private static func input() async throws(ControlError) -> JSONText {
        try json(try await StandardInput.bytes(limit: ControlLimits.bodyBytes, ObjectInput.tooLarge))
    }

    private static func json(_ bytes: [UInt8]) throws(ControlError) -> JSONText {
        do throws(JSONSyntaxError) { return try JSONText(bytes) } catch { throw ControlError(malformed: error) }
    }

    // MARK: Lines

    private func putLines(_ lines: ResumedInput) async throws {
        guard ifVersion == nil else {
            throw ControlError(
                .invalidArgument, "Several objects do not have one version.", hint: "Put them one by one.")
        }
        let answer = try await global.client().putLines(
            lines, to: target, replace: replace, ifAbsent: ifAbsent, space: global.space)
        try await durable.print(answer, version: answer.last, count: answer.count, global) { _ in
            global.quiet ? "" : "\(Amounts.count(answer.count, "object")) put into \(shown(target)).\n"
        }
    }
}

/// The input of `put COLLECTION -`: one JSON object, over as many lines as it likes, or one per line.
enum ObjectInput {
    /// Bytes that hold one value, or could.
    case one([UInt8])
    /// The first line is a value, and something follows.
    case lines(ResumedInput)

    /// Reads as far as it takes to tell.
    static func look() async throws(ControlError) -> ObjectInput {
        var head: [UInt8] = []
        var chunks = StandardInput.Iterator()
        while let chunk = try await chunks.next() {
            head += chunk
            guard head.count <= ControlLimits.bodyBytes else { return .lines(ResumedInput(head: head)) }
            switch shape(of: head) {
            case .undecided: continue
            case .lines: return .lines(ResumedInput(head: head))
            case .oneOverSeveralLines:
                return .one(
                    try await StandardInput.bytes(after: head, limit: ControlLimits.bodyBytes, tooLarge))
            }
        }
        return .one(head)
    }

    static func tooLarge() -> ControlError { ValueRule.tooLarge(byteCount: ControlLimits.bodyBytes + 1) }

    private enum Shape {
        case undecided
        case lines
        case oneOverSeveralLines
    }

    private static func shape(of head: [UInt8]) -> Shape {
        guard let start = head.firstIndex(where: { !isBlank($0) }),
            let end = head[start...].firstIndex(of: 0x0A)
        else { return .undecided }
        do throws(JSONSyntaxError) {
            _ = try JSONText(Array(head[start..<end]))
        } catch {
            // Cut off at the end of the line: it goes on in the next. Anything else is a bad line, to be reported as one.
            return error.offset >= end - start ? .oneOverSeveralLines : .lines
        }
        return head[end...].contains { !isBlank($0) } ? .lines : .undecided
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
