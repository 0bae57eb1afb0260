extension Transaction: Codable {
    private enum Key: String, CodingKey {
        case space
        case operations
    }

    /// Reads `{"space"?, "operations":[…]}`; without a space it is `home`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let steps = try container.decode([StepText].self, forKey: .operations)
        try self.init(
            space: try container.decodeIfPresent(String.self, forKey: .space) ?? "home", steps.map(\.step))
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(space, forKey: .space)
        try container.encode(steps.map(StepText.init(step:)), forKey: .operations)
    }
}

private enum StepWord: String, CaseIterable {
    case put
    case edit
    case delete
    case emit

    var keys: [StepKey] {
        switch self {
        case .put: [.collection, .id, .fields, .replace, .ifVersion, .ifAbsent]
        case .edit: [.collection, .id, .edits, .create, .wholeCharacters, .ifVersion, .ifAbsent]
        case .delete: [.collection, .id, .ifVersion]
        case .emit: [.stream, .type, .payload]
        }
    }
}

private enum StepKey: String, CodingKey {
    case op
    case collection
    case id
    case fields
    case edits
    case stream
    case type
    case payload
    case replace
    case create
    case wholeCharacters
    case ifVersion
    case ifAbsent
}

/// A step as JSON has it: `{"op":"put","collection","id"?,"fields",…}`.
private struct StepText: Codable {
    let step: Transaction.Step

    init(step: Transaction.Step) { self.step = step }

    /// A fault says which operation it is in: the path ends in its number.
    init(from decoder: any Decoder) throws {
        do {
            step = try Self.step(try decoder.container(keyedBy: StepKey.self))
        } catch let error as ControlError {
            throw error.concerning("Operation \((decoder.codingPath.last?.intValue ?? 0) + 1)")
        }
    }

    private static func step(_ container: KeyedDecodingContainer<StepKey>) throws -> Transaction.Step {
        guard let word = StepWord(rawValue: try container.decode(String.self, forKey: .op)) else {
            throw ControlError(
                .unknownOperation, "There is no such operation.",
                hint: "\"op\" is one of: \(StepWord.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        for key in container.allKeys where key != .op && !word.keys.contains(key) {
            throw ControlError(
                .unknownKey, "\(word.rawValue) has no \"\(key.rawValue)\".",
                hint: "It takes: \(word.keys.map(\.rawValue).joined(separator: ", ")).")
        }
        switch word {
        case .put:
            return .put(
                try ObjectPut(
                    collection: try container.decode(String.self, forKey: .collection),
                    id: try container.decodeIfPresent(String.self, forKey: .id),
                    fields: try container.decode(JSONText.self, forKey: .fields),
                    replace: try flag(.replace, container), condition: try condition(container)))
        case .edit:
            return .edit(
                try ObjectEdit(
                    try name(container), try container.decode([EditOperation].self, forKey: .edits),
                    create: try flag(.create, container), wholeCharacters: try flag(.wholeCharacters, container),
                    condition: try condition(container)))
        case .delete:
            return .delete(
                try name(container), ifVersion: try container.decodeIfPresent(DotText.self, forKey: .ifVersion))
        case .emit: return try emit(container)
        }
    }

    private static func emit(_ container: KeyedDecodingContainer<StepKey>) throws -> Transaction.Step {
        let stream = try container.decode(String.self, forKey: .stream)
        try NameRule.check(stream, is: .stream)
        let draft = try EventDraft(
            checking: try container.decode(JSONText.self, forKey: .payload),
            type: try container.decodeIfPresent(String.self, forKey: .type))
        return .emit(stream: stream, draft)
    }

    private static func name(_ container: KeyedDecodingContainer<StepKey>) throws -> ObjectName {
        try ObjectName(
            collection: try container.decode(String.self, forKey: .collection),
            id: try container.decode(String.self, forKey: .id))
    }

    private static func flag(_ key: StepKey, _ container: KeyedDecodingContainer<StepKey>) throws -> Bool {
        try container.decodeIfPresent(Bool.self, forKey: key) ?? false
    }

    private static func condition(_ container: KeyedDecodingContainer<StepKey>) throws -> WriteCondition {
        try WriteCondition(
            ifVersion: try container.decodeIfPresent(DotText.self, forKey: .ifVersion),
            ifAbsent: try flag(.ifAbsent, container))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: StepKey.self)
        switch step {
        case .put(let put):
            try container.encode(StepWord.put.rawValue, forKey: .op)
            try container.encode(put.collection, forKey: .collection)
            if let id = put.id { try container.encode(id, forKey: .id) }
            try container.encode(put.fields, forKey: .fields)
            if put.replace { try container.encode(true, forKey: .replace) }
            try Self.encode(put.condition, &container)
        case .edit(let edit):
            try container.encode(StepWord.edit.rawValue, forKey: .op)
            try Self.encode(edit.name, &container)
            try container.encode(edit.operations, forKey: .edits)
            if edit.create { try container.encode(true, forKey: .create) }
            if edit.wholeCharacters { try container.encode(true, forKey: .wholeCharacters) }
            try Self.encode(edit.condition, &container)
        case .delete(let name, let version):
            try container.encode(StepWord.delete.rawValue, forKey: .op)
            try Self.encode(name, &container)
            if let version { try Self.encode(.version(version), &container) }
        case .emit(let stream, let draft):
            try container.encode(StepWord.emit.rawValue, forKey: .op)
            try container.encode(stream, forKey: .stream)
            if let type = draft.type { try container.encode(type, forKey: .type) }
            try container.encode(draft.payload, forKey: .payload)
        }
    }

    private static func encode(_ name: ObjectName, _ container: inout KeyedEncodingContainer<StepKey>) throws {
        try container.encode(name.collection, forKey: .collection)
        try container.encode(name.id, forKey: .id)
    }

    private static func encode(
        _ condition: WriteCondition, _ container: inout KeyedEncodingContainer<StepKey>
    ) throws {
        switch condition {
        case .none: break
        case .version(let version): try container.encode(version, forKey: .ifVersion)
        case .absent: try container.encode(true, forKey: .ifAbsent)
        }
    }
}

extension WriteCondition {
    /// Both together cannot hold. Throws `invalid_argument`.
    package init(ifVersion: DotText?, ifAbsent: Bool) throws(ControlError) {
        switch (ifVersion, ifAbsent) {
        case (nil, false): self = .none
        case (nil, true): self = .absent
        case (let version?, false): self = .version(version)
        case (_?, true):
            throw ControlError(
                .invalidArgument, "An object cannot have a version and be absent.",
                hint: "Give one of the two conditions.")
        }
    }
}

extension TransactionResponse.Result: Codable {
    private enum Key: String, CodingKey {
        case op
        case object
        case deleted
        case dot
    }

    /// Reads `{"op","object"|"deleted"|"dot"}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch StepWord(rawValue: try container.decode(String.self, forKey: .op)) {
        case .put: self = .put(try container.decodeIfPresent(ObjectEntry.self, forKey: .object))
        case .edit: self = .edit(try container.decodeIfPresent(ObjectEntry.self, forKey: .object))
        case .delete: self = .delete(try container.decode(Bool.self, forKey: .deleted))
        case .emit: self = .emit(try container.decode(DotText.self, forKey: .dot))
        case nil:
            throw DecodingError.dataCorruptedError(
                forKey: .op, in: container, debugDescription: "expected put, edit, delete or emit")
        }
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .put(let object):
            try container.encode(StepWord.put.rawValue, forKey: .op)
            try container.encodeIfPresent(object, forKey: .object)
        case .edit(let object):
            try container.encode(StepWord.edit.rawValue, forKey: .op)
            try container.encodeIfPresent(object, forKey: .object)
        case .delete(let deleted):
            try container.encode(StepWord.delete.rawValue, forKey: .op)
            try container.encode(deleted, forKey: .deleted)
        case .emit(let dot):
            try container.encode(StepWord.emit.rawValue, forKey: .op)
            try container.encode(dot, forKey: .dot)
        }
    }
}
