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
        let origin = Origin(Origin.Reading(space: space, fields: entry.fields, version: entry.version))
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
            guard let time = Timestamp(text) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "this is no time"))
            }
            return Date(time)
        }
        return decoder
    }

    /// Returns the fields with the id and with defaults for those that are lacking.
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
            if case .null = member.value.kind, type.fields[member.key]?.isOptional == false { continue }
            parts.append((member.key, document.text(of: member.value)))
            known.insert(member.key)
        }
        for (name, field) in type.fields where !known.contains(name) {
            if let value = field.defaultValue { parts.append((name, value.bytes)) }
        }
        return joined(parts)
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
