import ControlAPI
import LanyardClient

/// An import of rows that other programs wrote, along the road of `lanyard put COLLECTION -`: each row is a change of its own, written
/// in groups while the file is read.
struct RowImport {
    let file: String
    let collection: String
    let options: RowOptions
    let replace: Bool
    let global: GlobalOptions

    /// - Throws: the error of the first bad row, with its line and the number of those before it, which stay written.
    func run() async throws {
        try NameRule.check(collection, is: .collection)
        let format = try options.format(of: file)
        _ = try options.mapping()
        let client = try global.client()
        let reader = try options.reader(format, try await schema(client))
        let input = try input()
        let source = RowSource(
            input: input, reader: reader, refusesTwins: !options.lastWins,
            display: ProgressDisplay(title, of: size(input), isOn: !global.quiet && !global.json))
        defer { source.display.end() }
        if options.dryRun { return try await show(source) }
        Interruption.explain(
            "It was stopped; the rows that were written stay.", hint: "If they have ids, import it again to go on.",
            asJSON: global.json)
        try await upload(RowUpload(source: source), client)
    }

    private var title: String {
        file == "-" ? "standard input" : file.split(separator: "/").last.map(String.init) ?? file
    }

    private func input() throws(ControlError) -> RowSource.Input {
        file == "-" ? .standardInput : .file(try FileInput(path: RawArgument.bytes(of: file)))
    }

    private func size(_ input: RowSource.Input) -> UInt64? {
        if case .file(let file) = input { file.size } else { nil }
    }

    private func schema(_ client: LanyardClient) async throws(ControlError) -> SchemaEntry {
        let set = try await client.schemas(space: global.space)
        return set.first { $0.collection.bytewise == collection.bytewise } ?? SchemaEntry(collection: collection)
    }

    // MARK: Writing

    private func upload(_ upload: RowUpload, _ client: LanyardClient) async throws {
        let outcome = upload.outcome
        let answer: EmitResponse
        do {
            answer = try await client.putLines(upload, to: collection, replace: replace, space: global.space)
            if let fault = outcome.fault { throw Self.refusal(fault, afterWriting: answer.count) }
        } catch let error as ControlError {
            upload.source.display.end()
            throw explained(error, outcome)
        }
        upload.source.display.end()
        try global.print(RowImportSummary(collection: collection, answer)) { _ in
            guard !global.quiet else { return "" }
            let put = "\(Amounts.count(answer.count, "object")) put into \(shown(collection))."
            return put + (answer.count > 0 && answer.first == nil ? " All were there already.\n" : "\n")
        }
        if outcome.unnamed > 0 {
            global.note(
                "Rows without an id (\(outcome.unnamed)) became new objects, and would become new ones again. "
                    + "To be able to repeat the import: --id COLUMN")
        }
    }

    /// Returns the error of a row in the words of those that the agent refuses.
    private static func refusal(_ fault: ControlError, afterWriting count: Int) -> ControlError {
        guard count > 0 else { return fault }
        let before =
            count == 1
            ? "1 object before it was written and stays." : "\(count) objects before it were written and stay."
        return ControlError(
            fault.code, fault.message, hint: "\(before) \(fault.hint)", line: fault.line, written: count,
            version: fault.version)
    }

    private func explained(_ error: ControlError, _ outcome: RowUpload.Outcome) -> ControlError {
        guard let written = error.written, written > 0 else { return error }
        let next =
            outcome.unnamed == 0
            ? "Then import it again: nothing is written twice."
            : "Then take the rows that were written out of the file, or they become new objects once more."
        return ControlError(
            error.code, error.message, hint: "\(error.hint)\(error.hint.hasSuffix(".") ? "" : ".") \(next)",
            line: error.line, written: written,
            version: error.version)
    }

    // MARK: Looking

    private func show(_ source: RowSource) async throws {
        var cursor = source.makeCursor()
        var preview = RowImportPreview(collection: collection)
        while let objects = try await cursor.next() {
            for object in objects.prefix(RowImportPreview.shownObjects - preview.objects.count) {
                preview.objects.append(RowImportPreview.Row(id: object.put.id, fields: object.put.fields))
            }
            preview.read += objects.count
        }
        source.display.end()
        try global.print(preview) { _ in
            let rows = preview.objects.map { row in
                "\(shown(collection))/\(row.id.map { shown($0) } ?? "(new)")  \(shown(row.fields.description))\n"
            }
            return rows.joined() + "\(Amounts.count(preview.read, "object")) read; nothing was written.\n"
        }
    }
}

/// The result of an import of rows, as JSON.
struct RowImportSummary: Encodable {
    let collection: String
    /// The number of objects that were put, also those that were there already.
    let count: Int
    /// The dots of the first and the last change; null where all objects were there already.
    let first: DotText?
    let last: DotText?

    init(collection: String, _ answer: EmitResponse) {
        self.collection = collection
        (count, first, last) = (answer.count, answer.first, answer.last)
    }
}

/// The result of a trial, as JSON.
struct RowImportPreview: Encodable {
    struct Row: Encodable {
        let id: String?
        let fields: JSONText
    }

    static let shownObjects = 3

    let collection: String
    var dryRun = true
    /// The number of objects in the file.
    var read = 0
    /// The first of them.
    var objects: [Row] = []

    init(collection: String) { self.collection = collection }
}
