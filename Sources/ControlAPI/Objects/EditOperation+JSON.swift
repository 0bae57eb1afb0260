extension EditOperation {
    /// Reads a JSON list of operations, each an object such as `{"op":"set","path":"title","value":"Milk"}` or a string in
    /// the form of the command line. Errors say which of them they are about.
    public static func list(parsing bytes: [UInt8]) throws(ControlError) -> [EditOperation] {
        let document: JSONDocument
        do throws(JSONSyntaxError) { document = try JSONDocument(bytes) } catch {
            throw ControlError(malformed: error)
        }
        guard case .array(let elements) = document.root.kind else {
            throw ControlError(
                .invalidArgument, "Edits are a JSON list of operations.",
                hint: #"For example [{"op":"set","path":"title","value":"Milk"},"plays+=1"]."#)
        }
        var operations: [EditOperation] = []
        for (index, element) in elements.enumerated() {
            do throws(ControlError) {
                operations.append(
                    try JSONDecoding.value(
                        EditOperation.self, from: document.text(of: element), unknownKeys: .refuse))
            } catch {
                throw error.concerning("Operation \(index + 1)")
            }
        }
        try check(count: operations.count)
        return operations
    }

    /// An edit is not empty, and one change holds it.
    package static func check(count: Int) throws(ControlError) {
        guard ControlLimits.editOperations.contains(count) else {
            throw ControlError(
                .invalidArgument, "An edit holds 1 to \(ControlLimits.editOperations.upperBound) operations.",
                hint: "Give at least one, for example title=Milk.")
        }
    }
}

extension EditOperation: Codable {
    private enum Key: String, CodingKey {
        case op
        case path
        case value
        case by
        case at
        case count
        case from
        case to
    }

    private enum Word: String, CaseIterable {
        case set
        case increment
        case unset
        case add
        case remove
        case insert
        case delete
        case move

        var keys: [Key] {
            switch self {
            case .set, .add, .remove: [.value]
            case .increment: [.by]
            case .unset: []
            case .insert: [.at, .value]
            case .delete: [.at, .count]
            case .move: [.from, .to]
            }
        }
    }

    /// Reads an object with `op`, `path` and what the operation needs, or a string in the form of the command line.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            try self.init(parsing: text)
            return
        }
        let container = try decoder.container(keyedBy: Key.self)
        guard let word = Word(rawValue: try container.decode(String.self, forKey: .op)) else {
            throw ControlError(
                .unknownOperation, "There is no such edit operation.",
                hint: "\"op\" is one of: \(Word.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        for key in container.allKeys where key != .op && key != .path && !word.keys.contains(key) {
            throw ControlError(
                .invalidArgument, "\(word.rawValue) has no \"\(key.rawValue)\".",
                hint: "It takes: \((["path"] + word.keys.map(\.rawValue)).joined(separator: ", ")).")
        }
        try self.init(try container.decode(FieldPath.self, forKey: .path), try Self.action(word, container))
    }

    private static func action(_ word: Word, _ container: KeyedDecodingContainer<Key>) throws -> Action {
        func value() throws -> JSONText { try container.decode(JSONText.self, forKey: .value) }
        func number(_ key: Key) throws -> Int { try container.decode(Int.self, forKey: key) }
        switch word {
        case .set: return .set(try value())
        case .increment: return .increment(by: try container.decode(Int64.self, forKey: .by))
        case .unset: return .unset
        case .add: return .add(try value())
        case .remove: return .remove(try value())
        case .insert: return .insert(at: try number(.at), try value())
        case .delete: return .delete(at: try number(.at), count: try number(.count))
        case .move: return .move(from: try number(.from), to: try number(.to))
        }
    }

    /// Writes the object form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(word.rawValue, forKey: .op)
        try container.encode(path, forKey: .path)
        switch action {
        case .set(let value), .add(let value), .remove(let value): try container.encode(value, forKey: .value)
        case .increment(let amount): try container.encode(amount, forKey: .by)
        case .unset: break
        case .insert(let index, let value):
            try container.encode(index, forKey: .at)
            try container.encode(value, forKey: .value)
        case .delete(let index, let count):
            try container.encode(index, forKey: .at)
            try container.encode(count, forKey: .count)
        case .move(let origin, let target):
            try container.encode(origin, forKey: .from)
            try container.encode(target, forKey: .to)
        }
    }

    private var word: Word {
        switch action {
        case .set: .set
        case .increment: .increment
        case .unset: .unset
        case .add: .add
        case .remove: .remove
        case .insert: .insert
        case .delete: .delete
        case .move: .move
        }
    }
}
