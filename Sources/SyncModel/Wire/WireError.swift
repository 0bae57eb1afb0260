/// The reason why bytes that claim to be a frame are none, or why a frame cannot be written. From a peer it ends the session.
package enum WireError: Error, Hashable, Sendable {
    /// The bytes are no protobuf message of the schema, or the body is missing. On a bulk connection, the bytes end early or
    /// go on.
    case malformed
    /// Longer than a frame may be.
    case tooLarge(byteCount: Int)
    /// A field outside its bounds; the name is the field's in frames.proto (`want.to`), or of a bulk frame the
    /// property's (`bulk.chunk.index`).
    case outOfRange(field: String)

    /// Stable; said in `Goodbye`, logs and `why`.
    package var code: String {
        switch self {
        case .malformed: "frame_malformed"
        case .tooLarge: "frame_too_large"
        case .outOfRange: "frame_out_of_range"
        }
    }
}

extension WireError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed: "a frame that cannot be read"
        case .tooLarge(let byteCount): "a frame of \(byteCount) bytes; \(Limits.frameBytes) are allowed"
        case .outOfRange(let field): "a frame whose \(field) is outside its bounds"
        }
    }
}
