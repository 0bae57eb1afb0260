import NIOCore

/// Frames of one turn of the loop, on their way to the socket in few writes and few copies.
///
/// Small ones share a buffer. The payload of a large one is copied once, into a buffer of its own size: in a shared one it
/// would be moved again whenever that grows, and nothing of it would count as written before all of it is.
struct Outbox {
    /// The bytes of one write, and how many of them are payload.
    struct Part {
        var bytes = ByteBuffer()
        var payloadByteCount = 0
    }

    private static let sharedPayloadBytes = 16 << 10

    private var parts: [Part] = []
    /// True if the last part takes another frame.
    private var isLastShared = false

    mutating func add(_ payload: [UInt8]) {
        if !isLastShared { parts.append(Part()) }
        let last = parts.count - 1
        isLastShared = payload.count <= Self.sharedPayloadBytes
        parts[last].bytes.writeInteger(UInt32(payload.count))
        if isLastShared {
            parts[last].bytes.writeBytes(payload)
            parts[last].payloadByteCount += payload.count
        } else {
            parts.append(Part(bytes: ByteBuffer(bytes: payload), payloadByteCount: payload.count))
        }
    }

    /// Takes all parts, in the order in which they are to be written.
    mutating func take() -> [Part] {
        defer { self = Outbox() }
        return parts
    }
}
