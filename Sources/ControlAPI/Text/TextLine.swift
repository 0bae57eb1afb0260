/// A line of a text that is followed: `GET …/objects/{id}/text`.
public enum TextLine: Hashable, Sendable {
    /// The whole text. The first line is one, and so is each line behind which a reader must begin anew.
    case text(version: String, text: String)
    /// The steps that turn the text before into that of `version`. `key` is the key of the request that asked for just these,
    /// as they were applied; nil for edits of other devices, and of requests without a key.
    case edits(version: String, [TextSplice], key: String?)
}

extension TextLine: Codable {
    private enum Key: String, CodingKey {
        case kind
        case version
        case text
        case edits
        case key
    }

    /// Reads `{"kind":"text","version","text"}` or `{"kind":"edits","version","edits","key"}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let version = try container.decode(String.self, forKey: .version)
        switch try container.decode(String.self, forKey: .kind) {
        case "text": self = .text(version: version, text: try container.decode(String.self, forKey: .text))
        case "edits":
            self = .edits(
                version: version, try container.decode([TextSplice].self, forKey: .edits),
                key: try container.decodeIfPresent(String.self, forKey: .key))
        case let kind:
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath, debugDescription: "\(kind) is no kind of a line of a text"))
        }
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .text(let version, let text):
            try container.encode("text", forKey: .kind)
            try container.encode(version, forKey: .version)
            try container.encode(text, forKey: .text)
        case .edits(let version, let edits, let key):
            try container.encode("edits", forKey: .kind)
            try container.encode(version, forKey: .version)
            try container.encode(edits, forKey: .edits)
            if let key { try container.encode(key, forKey: .key) }
        }
    }
}

/// An edit of a text that was made against a version of it: `POST …/objects/{id}/text`.
public struct TextEdits: Codable, Hashable, Sendable {
    /// The version of the text that the edit was made against, from a `TextLine` or an answer.
    public var version: String
    /// The unit of the offsets and lengths.
    public var unit: TextUnit
    /// The steps in their order; at most 1,000.
    public var edits: [TextSplice]

    /// Creates an edit.
    public init(version: String, unit: TextUnit, edits: [TextSplice]) {
        self.version = version
        self.unit = unit
        self.edits = edits
    }
}

/// The answer to an edit of a text.
public struct TextVersion: Codable, Hashable, Sendable {
    /// A version of the text that contains the edit.
    public var version: String

    /// Creates an answer.
    public init(version: String) { self.version = version }
}

extension ControlError {
    /// The error for an edit against a version of a text that the agent does not know any more, or never did.
    package static let textVersionUnknown = ControlError(
        .textVersionUnknown, "The agent does not know this version of the text any more; the edit was not applied.",
        hint: "Read the text again, and make the edit against its version.")
}
