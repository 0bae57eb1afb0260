/// The immutable description of an attachment. It does not say whether the bytes are stored here.
public struct AttachmentRecord: Hashable, Sendable {
    /// The attachment's id. The first few characters are enough if no other id begins so.
    public var id: String
    /// The file's name as its author had it; no path, and not safe to be used as one.
    public var name: String
    /// Type, slash, subtype.
    public var mediaType: String
    /// The size in bytes.
    public var size: UInt64
    /// Pixels; nil for what is no picture.
    public var width: UInt32?
    /// Pixels; nil for what is no picture.
    public var height: UInt32?
    /// The hash of the bytes; 64 hexadecimal digits.
    public var hash: String

    /// All fields.
    public init(
        id: String, name: String, mediaType: String, size: UInt64, width: UInt32?, height: UInt32?, hash: String
    ) {
        self.id = id
        self.name = name
        self.mediaType = mediaType
        self.size = size
        self.width = width
        self.height = height
        self.hash = hash
    }
}

extension AttachmentRecord: Codable {
    private enum Key: String, CodingKey {
        case id
        case name
        case mediaType
        case size
        case width
        case height
        case hash
    }

    /// Reads an object with all keys; `width` and `height` may be null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            id: try container.decode(String.self, forKey: .id),
            name: try container.decode(String.self, forKey: .name),
            mediaType: try container.decode(String.self, forKey: .mediaType),
            size: try container.decode(UInt64.self, forKey: .size),
            width: try container.decodeIfPresent(UInt32.self, forKey: .width),
            height: try container.decodeIfPresent(UInt32.self, forKey: .height),
            hash: try container.decode(String.self, forKey: .hash))
    }

    /// Writes the same: no key is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(mediaType, forKey: .mediaType)
        try container.encode(size, forKey: .size)
        try container.encode(width, forKey: .width)
        try container.encode(height, forKey: .height)
        try container.encode(hash, forKey: .hash)
    }
}
