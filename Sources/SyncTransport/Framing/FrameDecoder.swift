import NIOCore

/// A decoder of frames in a byte stream: a 4-byte big-endian length, 1 to the limit, and as many bytes.
///
/// A bad length is refused when its fourth byte is here. A body's memory grows with the bytes that came, never with the
/// length that was announced.
struct FrameDecoder {
    private var length = 0
    private var lengthByteCount = 0
    private var body: [UInt8] = []

    /// True if a frame has begun and is not whole.
    var isInsideFrame: Bool { lengthByteCount > 0 }
    /// Bytes the frame that has begun still lacks; nil while its length is not known.
    var missingByteCount: Int? { lengthByteCount == 4 ? length - body.count : nil }

    /// The next whole frame's payload; nil when the buffer holds no more of one.
    mutating func next(_ buffer: inout ByteBuffer, limit: Int) throws(FrameError) -> [UInt8]? {
        while lengthByteCount < 4 {
            guard let byte = buffer.readInteger(as: UInt8.self) else { return nil }
            length = length << 8 | Int(byte)
            lengthByteCount += 1
            if lengthByteCount == 4 { try check(limit: limit) }
        }
        let count = min(length - body.count, buffer.readableBytes)
        if body.isEmpty, count == length {
            let whole = buffer.readBytes(length: count)
            reset()
            return whole
        }
        // Room for the whole body only once a good part of it is here.
        if body.count >= 65_536 { body.reserveCapacity(length) }
        buffer.readWithUnsafeReadableBytes { bytes in
            body.append(contentsOf: bytes.prefix(count))
            return count
        }
        guard body.count == length else { return nil }
        let whole = body
        reset()
        return whole
    }

    private func check(limit: Int) throws(FrameError) {
        if length == 0 { throw .empty }
        if length > limit { throw .oversize }
    }

    private mutating func reset() {
        length = 0
        lengthByteCount = 0
        body = []
    }
}

enum FrameError: Error {
    case empty
    case oversize

    var reason: EndReason {
        switch self {
        case .empty: .emptyFrame
        case .oversize: .oversizeFrame
        }
    }
}
