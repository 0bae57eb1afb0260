import ControlAPI
import FoundationEssentials

/// The conversion between values of a struct and the fields of an object.
///
/// Values are coded by Foundation's JSON coders with sorted keys, so that two texts of one value are equal. A `Date` is a text
/// such as `2026-11-21T04:28:31.123Z`, which sorts by time.
enum FieldCoding {
    /// The property that holds the object's id, which is no field.
    static let idKey = "id"

    // MARK: Writing

    /// Returns the JSON text of `value`. Throws `number_out_of_range`, `type_mismatch`.
    static func json(_ value: some Encodable) throws(ControlError) -> JSONText {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(Timestamp(date).description)
        }
        do {
            return try JSONText(Array(try encoder.encode(value)))
        } catch {
            throw ControlError(
                .typeMismatch, "A value of type \(type(of: value)) cannot be written as JSON: \(reason(of: error)).",
                hint: "Numbers must be finite, and dictionaries have keys that are texts.")
        }
    }

    /// Returns the fields of an object: a JSON object without the id. Throws as `json` does.
    static func fields(_ value: some LanyardObject) throws(ControlError) -> JSONText {
        let text = try json(value)
        let document = try document(text)
        guard case .object(let members) = document.root.kind else {
            throw ControlError(
                .typeMismatch, "A value of type \(type(of: value)) is not written as fields.",
                hint: "Let the compiler make its encode(to:), or encode into a keyed container.")
        }
        return joined(members.filter { $0.key != idKey }.map { ($0.key, document.text(of: $0.value)) })
    }

    // MARK: Reading

    /// Returns the value of an object that was read.
    ///
    /// A field that is absent, or `null` where the property is no optional, has the property's default. Throws `type_mismatch`
    /// with the object and the field.
    static func value<Object: LanyardObject>(
        _ type: Object.Type = Object.self, of entry: ObjectEntry, in space: String
    ) throws(ControlError) -> Object {
        let name = try ObjectName(collection: entry.collection, id: entry.id)
        let origin = Origin(
            Origin.Reading(space: space, name: name, fields: entry.fields, version: entry.version))
        return try value(type, fields: entry.fields, id: entry.id, info: [.origin: origin])
    }

    static func value<Object: LanyardObject>(
        _ type: Object.Type, fields: JSONText, id: String, info: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(ControlError) -> Object {
        let text = try completed(fields, by: try ObjectType.of(Object.self), id: id)
        do {
            return try decoder(info).decode(Object.self, from: Data(text.bytes))
        } catch {
            throw ControlError(
                .typeMismatch,
                "\(Object.collection)/\(id) does not fit the type \(Object.self): \(reason(of: error)).",
                hint: "See the object with: lanyard get \(Object.collection)/\(id). "
                    + "Give the field its old type, or use another name for it.")
        }
    }

    /// Returns the value of a JSON text that is no object, such as an event's payload. Throws `type_mismatch`.
    static func value<Value: Decodable>(_ type: Value.Type, json: JSONText) throws(ControlError) -> Value {
        do { return try decoder([:]).decode(type, from: Data(json.bytes)) } catch {
            throw ControlError(
                .typeMismatch, "A value does not fit the type \(type): \(reason(of: error)).",
                hint: "Another version of the application wrote it; give its properties defaults or optional types.")
        }
    }

    private static func decoder(_ info: [CodingUserInfoKey: any Sendable]) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.userInfo = info
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            if let time = Timestamp(text) { return Date(time) }
            // Another application may have written it without milliseconds.
            return try Date(text, strategy: .iso8601)
        }
        return decoder
    }

    /// Returns the fields with the id, and with defaults for those that are lacking, also inside of nested structs.
    private static func completed(
        _ fields: JSONText, by type: ObjectType, id: String
    ) throws(ControlError) -> JSONText {
        let document = try document(fields)
        guard case .object(let members) = document.root.kind else {
            throw ControlError(.typeMismatch, "The fields of \(id) are no JSON object.", hint: "Report this.")
        }
        var parts = [(key: idKey, value: JSONText(string: id).bytes)]
        var known: Set<String> = [idKey]
        for member in members where member.key != idKey {
            let field = type.fields[member.key]
            if case .null = member.value.kind, field?.isOptional == false { continue }
            parts.append(
                (member.key, completed(member.value, in: document, by: field?.defaultValue, type, [member.key])))
            known.insert(member.key)
        }
        for (name, field) in type.fields where !known.contains(name) {
            if let value = field.defaultValue { parts.append((name, value.source)) }
        }
        return joined(parts)
    }

    /// Returns the text of a value; of a nested struct with the members that it lacks of its default.
    private static func completed(
        _ node: JSONNode, in document: JSONDocument, by standard: JSONDocument?, _ type: ObjectType, _ path: [String]
    ) -> [UInt8] {
        guard let standard else { return document.text(of: node) }
        return completed(node, in: document, by: standard.root, of: standard, type, path)
    }

    private static func completed(
        _ node: JSONNode, in document: JSONDocument, by standard: JSONNode, of standards: JSONDocument,
        _ type: ObjectType, _ path: [String]
    ) -> [UInt8] {
        guard case .object(let members) = node.kind, case .object(let defaults) = standard.kind,
            type.shapes[path] == .structure
        else { return document.text(of: node) }
        var parts: [(key: String, value: [UInt8])] = members.map { member in
            let standard = defaults.first { $0.key == member.key }?.value
            let text = standard.map {
                completed(member.value, in: document, by: $0, of: standards, type, path + [member.key])
            }
            return (member.key, text ?? document.text(of: member.value))
        }
        for standard in defaults where !members.contains(where: { $0.key == standard.key }) {
            parts.append((standard.key, standards.text(of: standard.value)))
        }
        return joined(parts).bytes
    }

    // MARK: JSON

    /// Takes apart a JSON text that was checked.
    static func document(_ text: JSONText) throws(ControlError) -> JSONDocument {
        do throws(JSONSyntaxError) { return try JSONDocument(text.bytes) } catch {
            throw ControlError(malformed: error)
        }
    }

    private static func joined(_ members: [(key: String, value: [UInt8])]) -> JSONText {
        var writer = JSONWriter()
        writer.byte(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.string(member.key)
            writer.byte(UInt8(ascii: ":"))
            writer.raw(member.value)
        }
        writer.byte(UInt8(ascii: "}"))
        return JSONText(checked: writer.bytes)
    }

    /// Returns the reason of a coder's error without the value that caused it.
    private static func reason(of error: any Error) -> String {
        func place(_ path: [any CodingKey]) -> String {
            path.isEmpty ? "the value" : "the field " + path.map(\.stringValue).joined(separator: "/")
        }
        switch error {
        case DecodingError.typeMismatch(let type, let context): return "\(place(context.codingPath)) is no \(type)"
        case DecodingError.valueNotFound(let type, let context):
            return "\(place(context.codingPath)) is null and no \(type)"
        case DecodingError.keyNotFound(let key, let context):
            return "\(place(context.codingPath + [key])) is absent"
        case DecodingError.dataCorrupted(let context):
            // Its description would quote the value.
            return "\(place(context.codingPath)) has a value that its type does not have"
        case EncodingError.invalidValue(_, let context):
            return "\(place(context.codingPath)) is not valid: \(context.debugDescription)"
        case let error as ControlError: return error.message
        default: return "\(type(of: error))"
        }
    }
}

extension CodingUserInfoKey {
    /// The `Origin` of the object that is decoded.
    static let origin = CodingUserInfoKey(rawValue: "lanyard.origin").unsafelyUnwrapped
    /// The `FieldRecorder` of a probe.
    static let fieldRecorder = CodingUserInfoKey(rawValue: "lanyard.fieldRecorder").unsafelyUnwrapped
}

extension Timestamp {
    /// The moment of a date, to the millisecond.
    init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        self.init(millisecondsSinceEpoch: Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
    }
}

extension Date {
    /// The same moment.
    init(_ time: Timestamp) { self.init(timeIntervalSince1970: Double(time.millisecondsSinceEpoch) / 1_000) }
}
