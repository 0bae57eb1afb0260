package import ControlAPI

/// Objects of JSON lines: each line is a JSON object, whose members become fields of the same name unless a mapping says otherwise.
package struct JSONLineObjects: RowReader {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// A value inside of a line, and the field that it becomes.
    private struct Source {
        let path: FieldPath
        let field: String
    }

    private let collection: String
    private let mapping: RowMapping
    private let sources: [Source]
    private let skipped: Set<[UInt8]>
    private let id: FieldPath?
    private var rest: [UInt8] = []
    private var line = 0

    /// - Throws: `invalid_argument` for types (JSON has its own), and paths that are none.
    package init(_ mapping: RowMapping, collection: String) throws(ControlError) {
        self.collection = collection
        self.mapping = mapping
        var sources: [Source] = []
        for pair in mapping.pairs {
            guard pair.type == nil else {
                throw ControlError(
                    .invalidArgument, "JSON lines have types of their own.", hint: "Leave out what follows the colon.")
            }
            sources.append(Source(path: try Self.path(pair.source), field: pair.field))
        }
        self.sources = sources
        skipped = Set(mapping.skipped.map(\.bytewise))
        id = try mapping.id.map { text throws(ControlError) in try Self.path(text) }
    }

    /// Reads `artist.name`; or, for keys with a dot in them, `/artist/first.name` as a JSON Pointer (RFC 6901).
    private static func path(_ text: String) throws(ControlError) -> FieldPath {
        if text.hasPrefix("/") { return try FieldPath(parsing: String(text.dropFirst())) }
        return try FieldPath(keys: text.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }

    // MARK: Lines

    package mutating func append(_ piece: [UInt8], to objects: inout [NumberedObject]) throws(ControlError) {
        var start = 0
        while let end = piece[start...].firstIndex(of: 0x0A) {
            rest += piece[start..<end]
            try endLine(&objects)
            start = end + 1
        }
        rest += piece[start...]
        guard rest.count <= RowLimits.rowBytes else { throw tooLong(line + 1) }
    }

    package mutating func finish(to objects: inout [NumberedObject]) throws(ControlError) {
        if !rest.isEmpty { try endLine(&objects) }
    }

    private mutating func endLine(_ objects: inout [NumberedObject]) throws(ControlError) {
        line += 1
        var bytes: [UInt8] = []
        swap(&bytes, &rest)
        if line == 1, bytes.starts(with: Self.byteOrderMark) { bytes.removeFirst(Self.byteOrderMark.count) }
        guard bytes.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { return }
        guard bytes.count <= RowLimits.rowBytes else { throw tooLong(line) }
        do throws(ControlError) { objects.append(NumberedObject(line: line, put: try object(bytes))) } catch {
            throw error.inLine(line)
        }
    }

    private func tooLong(_ line: Int) -> ControlError {
        ControlError(
            .tooLarge, "It is longer than \(RowLimits.rowBytes) bytes.",
            hint: "If the file is one JSON value, make lines of it: jq -c '.[]' FILE"
        ).inLine(line)
    }

    private func object(_ bytes: [UInt8]) throws(ControlError) -> ObjectPut {
        let text: JSONText
        do throws(JSONSyntaxError) { text = try JSONText(bytes) } catch {
            let fault = ControlError(malformed: error)
            // One value over several lines is no line.
            guard error.offset >= bytes.count, error.cause == .syntax else { throw fault }
            throw ControlError(
                fault.code, fault.message, hint: "Write each object on one line, for example with: jq -c '.[]' FILE")
        }
        if text.bytes.first == UInt8(ascii: "[") {
            throw ControlError(
                .typeMismatch, "This is a list, and each line is one object.",
                hint: "Make lines of it: jq -c '.[]' FILE | lanyard import - --format jsonl --into \(shown(collection))"
            )
        }
        if mapping.isEmpty { return try ObjectPut(line: text, collection: collection) }
        return try mapped(try ValueRule.checkFields(text))
    }

    // MARK: Mapping

    private func mapped(_ document: JSONDocument) throws(ControlError) -> ObjectPut {
        guard case .object(let members) = document.root.kind else {
            preconditionFailure("checked fields are no object")
        }
        var fields: [(name: String, value: [UInt8])] = []
        for source in sources {
            guard let node = Self.node(at: source.path.keys[...], from: document.root) else { continue }
            fields.append((source.field, document.text(of: node)))
        }
        let naming = id ?? Self.defaultID(sources, skipped)
        for member in members where isTakenAsIs(member.key, naming) {
            if let source = sources.first(where: { $0.field.bytewise == member.key.bytewise }) {
                // A field made of a part of this very member stands for it.
                guard source.path.field.bytewise == member.key.bytewise else {
                    throw RowMapping.twoSources(of: member.key)
                }
                continue
            }
            fields.append((member.key, document.text(of: member.value)))
        }
        var writer = JSONWriter(capacity: document.source.count)
        writer.byte(UInt8(ascii: "{"))
        for (index, field) in fields.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.string(field.name)
            writer.byte(UInt8(ascii: ":"))
            writer.raw(field.value)
        }
        writer.byte(UInt8(ascii: "}"))
        return try ObjectPut(
            collection: collection, id: try name(naming, document), fields: JSONText(checked: writer.bytes))
    }

    /// Without a wish, a key `id` that is neither mapped nor skipped names the object.
    private static func defaultID(_ sources: [Source], _ skipped: Set<[UInt8]>) -> FieldPath? {
        let path = FieldPath(field: RowMapping.idColumn)
        return sources.contains { $0.path == path } || skipped.contains(path.field.bytewise) ? nil : path
    }

    private func isTakenAsIs(_ key: String, _ naming: FieldPath?) -> Bool {
        let path = FieldPath(field: key)
        return !mapping.isOnlyMapped && !skipped.contains(key.bytewise) && path != naming
            && !sources.contains { $0.path == path }
    }

    private func name(_ path: FieldPath?, _ document: JSONDocument) throws(ControlError) -> String? {
        guard let path else { return nil }
        let key = path.keys.joined(separator: ".")
        guard let node = Self.node(at: path.keys[...], from: document.root) else {
            guard id != nil else { return nil }
            throw ControlError(
                .invalidArgument, "It has no \"\(shown(key))\" to be its id.",
                hint: "Add it, or give another key with --id KEY.")
        }
        let text: String
        switch node.kind {
        case .string: text = document.string(of: node) ?? ""
        case .number where Int64(String(decoding: document.text(of: node), as: UTF8.self)) != nil:
            text = String(decoding: document.text(of: node), as: UTF8.self)
        case _:
            throw ControlError(
                .invalidArgument, "\"\(shown(key))\" is neither a string nor a whole number, so it is no id.",
                hint: "Give another key with --id KEY.")
        }
        try NameRule.check(text, is: .id)
        return text
    }

    /// The value at a path; in a list, keys are places from 0.
    private static func node(at keys: ArraySlice<String>, from node: JSONNode) -> JSONNode? {
        guard let key = keys.first else { return node }
        let next: JSONNode? =
            switch node.kind {
            case .object(let members): members.first { $0.key.bytewise == key.bytewise }?.value
            case .array(let elements): Int(key).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            case _: nil
            }
        return next.flatMap { self.node(at: keys.dropFirst(), from: $0) }
    }
}
