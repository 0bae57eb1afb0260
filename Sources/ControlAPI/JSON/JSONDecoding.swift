/// Reads JSON into `Decodable` values.
///
/// With `.refuse`, an object may hold only the keys its type declares: a request with a misspelt key must not pass as
/// one without it. Clients use `.ignore`, since answers may grow. `JSONText` takes a value byte for byte.
package enum JSONDecoding {
    package enum UnknownKeys: Sendable {
        case refuse
        case ignore
    }

    /// The levels of lines and pages around a value of the deepest nesting: what one client could write, each can read.
    private static let answerLevels = 8

    package static func value<T: Decodable>(
        _ type: T.Type, from bytes: [UInt8], unknownKeys: UnknownKeys
    ) throws(ControlError) -> T {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONDocument(bytes, envelope: unknownKeys == .ignore ? answerLevels : 0)
        } catch {
            throw ControlError(malformed: error)
        }
        do {
            return try JSONValueDecoder(
                document: document, node: document.root, unknownKeys: unknownKeys, codingPath: []
            ).decode(type)
        } catch let error as ControlError {
            throw error
        } catch let error as DecodingError {
            throw ControlError(error)
        } catch {
            throw ControlError(.malformedJSON, "The JSON does not have the expected form.")
        }
    }
}

extension ControlError {
    package init(malformed error: JSONSyntaxError) {
        switch error.cause {
        case .syntax:
            self.init(
                .malformedJSON, "This is not JSON: \(error.reason) (at byte \(error.offset)).",
                hint: "Check quotes, commas and brackets near that byte.")
        case .notUTF8:
            self.init(
                .invalidUTF8, "This is not UTF-8 (at byte \(error.offset)).",
                hint: "Convert it first, for example with: iconv -t UTF-8")
        case .tooDeep:
            self.init(
                .tooDeep, "The JSON is \(error.reason) (at byte \(error.offset)).",
                hint: "Make it flatter, or keep the inner part as an object of its own.")
        }
    }

    fileprivate init(_ error: DecodingError) {
        func name(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        switch error {
        case .keyNotFound(let key, let context):
            self.init(
                .invalidArgument, "The key \"\(name(context.codingPath + [key]))\" is missing.",
                hint: "GET /v1/openapi.json describes every request.")
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            self.init(
                .invalidArgument,
                "The value of \"\(name(context.codingPath))\" is not valid: \(context.debugDescription).",
                hint: "GET /v1/openapi.json describes every request.")
        @unknown default:
            self.init(.malformedJSON, "The JSON does not have the expected form.")
        }
    }
}

/// A type that is read from one node without calling its `init(from:)`.
private protocol JSONDecodableLeaf { init?(node: JSONNode, in document: JSONDocument) }

extension JSONDecodableLeaf {
    static func unescaped(_ node: JSONNode, _ document: JSONDocument) -> String {
        String(decoding: document.text(of: node), as: UTF8.self)
    }
}

extension String: JSONDecodableLeaf {
    fileprivate init?(node: JSONNode, in document: JSONDocument) {
        guard let string = document.string(of: node) else { return nil }
        self = string
    }
}
extension Bool: JSONDecodableLeaf {
    fileprivate init?(node: JSONNode, in document: JSONDocument) {
        guard case .bool(let value) = node.kind else { return nil }
        self = value
    }
}
extension Int: JSONDecodableLeaf {
    fileprivate init?(node: JSONNode, in document: JSONDocument) {
        guard case .number = node.kind else { return nil }
        self.init(Self.unescaped(node, document))
    }
}
extension Int64: JSONDecodableLeaf {
    fileprivate init?(node: JSONNode, in document: JSONDocument) {
        guard case .number = node.kind else { return nil }
        self.init(Self.unescaped(node, document))
    }
}
extension UInt32: JSONDecodableLeaf {
    fileprivate init?(node: JSONNode, in document: JSONDocument) {
        guard case .number = node.kind else { return nil }
        self.init(Self.unescaped(node, document))
    }
}
extension UInt64: JSONDecodableLeaf {
    fileprivate init?(node: JSONNode, in document: JSONDocument) {
        guard case .number = node.kind else { return nil }
        self.init(Self.unescaped(node, document))
    }
}
extension Double: JSONDecodableLeaf {
    fileprivate init?(node: JSONNode, in document: JSONDocument) {
        guard case .number = node.kind else { return nil }
        self.init(Self.unescaped(node, document))
    }
}
extension JSONText: JSONDecodableLeaf {
    fileprivate init?(node: JSONNode, in document: JSONDocument) {
        // The document was scanned as a whole, so the only work left is the line breaks.
        try? self.init(document.text(of: node))
    }
}

private struct JSONValueDecoder: Decoder {
    let document: JSONDocument
    let node: JSONNode
    let unknownKeys: JSONDecoding.UnknownKeys
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let leaf = type as? any JSONDecodableLeaf.Type else { return try T(from: self) }
        guard let value = leaf.init(node: node, in: document) as? T else {
            throw mismatch(type, "expected \(Self.name(of: type))")
        }
        return value
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Double.Type: "a number"
        case is UInt32.Type: "a whole number ≥ 0 below 2^32"
        case is UInt64.Type: "a whole number ≥ 0 below 2^64"
        case _: "a whole number"
        }
    }

    func mismatch(_ type: any Any.Type, _ words: String) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: words))
    }

    func child(_ node: JSONNode, _ key: any CodingKey) -> JSONValueDecoder {
        JSONValueDecoder(document: document, node: node, unknownKeys: unknownKeys, codingPath: codingPath + [key])
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = node.kind else { throw mismatch(JSONText.self, "expected an object") }
        for (index, member) in members.enumerated() {
            if unknownKeys == .refuse, Key(stringValue: member.key) == nil {
                throw ControlError(
                    .unknownKey, "The key \"\(member.key)\" is not known here.",
                    hint: "GET /v1/openapi.json describes every request.")
            }
            if members[..<index].contains(where: { $0.key.utf8.elementsEqual(member.key.utf8) }) {
                throw ControlError(.malformedJSON, "The key \"\(member.key)\" stands twice.", hint: "Keep one of them.")
            }
        }
        return KeyedDecodingContainer(JSONObjectReader<Key>(decoder: self, members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = node.kind else { throw mismatch(JSONText.self, "expected an array") }
        return JSONArrayReader(decoder: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { JSONSingleReader(decoder: self) }
}

private struct JSONObjectReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: JSONValueDecoder
    let members: [(key: String, value: JSONNode)]
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { members.compactMap { Key(stringValue: $0.key) } }

    private func node(_ key: Key) -> JSONNode? { members.first { $0.key == key.stringValue }?.value }

    func contains(_ key: Key) -> Bool { node(key) != nil }

    func decodeNil(forKey key: Key) -> Bool {
        if case .null? = node(key)?.kind { return true }
        return false
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let node = node(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "the key is missing"))
        }
        return try decoder.child(node, key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { preconditionFailure("types of the control API do not nest by hand") }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        preconditionFailure("types of the control API do not nest by hand")
    }
    func superDecoder() throws -> any Decoder { preconditionFailure("types of the control API do not inherit") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}

private struct ArrayIndex: CodingKey {
    let intValue: Int?
    var stringValue: String { "[\(intValue ?? 0)]" }
    init(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { nil }
}

private struct JSONArrayReader: UnkeyedDecodingContainer {
    let decoder: JSONValueDecoder
    let elements: [JSONNode]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    init(decoder: JSONValueDecoder, elements: [JSONNode]) {
        self.decoder = decoder
        self.elements = elements
    }

    mutating func decodeNil() -> Bool {
        guard !isAtEnd, case .null = elements[currentIndex].kind else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(type, .init(codingPath: codingPath, debugDescription: "the array ends"))
        }
        defer { currentIndex += 1 }
        return try decoder.child(elements[currentIndex], ArrayIndex(intValue: currentIndex)).decode(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { preconditionFailure("types of the control API do not nest by hand") }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        preconditionFailure("types of the control API do not nest by hand")
    }
    mutating func superDecoder() throws -> any Decoder {
        preconditionFailure("types of the control API do not inherit")
    }
}

private struct JSONSingleReader: SingleValueDecodingContainer {
    let decoder: JSONValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool {
        if case .null = decoder.node.kind { return true }
        return false
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.decode(type) }
}
