import ControlAPI

/// A JSON value as people read it: text without quotes, everything else as JSON.
enum ValueText {
    static func text(_ value: JSONText) -> String {
        guard let document = try? JSONDocument(value.bytes) else { return value.description }
        return document.string(of: document.root) ?? value.description
    }

    /// Returns the value on one line: a line break in a text becomes a blank.
    static func line(_ value: JSONText?) -> String {
        guard let value else { return "-" }
        return String(text(value).map { $0.isNewline ? " " : $0 })
    }

    /// The members of an object, in the order they stand there.
    static func members(_ fields: JSONText) -> [(name: String, value: JSONText)] {
        guard let document = try? JSONDocument(fields.bytes), case .object(let members) = document.root.kind else {
            return []
        }
        return members.map { ($0.key, JSONText(checked: document.text(of: $0.value))) }
    }
}
