import Crypto

/// A term of the state digest: a retained event as any reader can see it.
package enum EventItem {
    /// The same of an event that was read already.
    package static func digestTerm(dot: Dot, stamp: Stamp, stream: String, type: String?, payload: [UInt8]) -> Sum256 {
        var bytes = Array(stream.utf8)
        let typeRange = type.map { type in
            let start = bytes.count
            bytes += type.utf8
            return start..<bytes.count
        }
        let start = bytes.count
        bytes += payload
        let view = EventView(stream: 0..<stream.utf8.count, type: typeRange, payload: start..<bytes.count)
        return digestTerm(dot: dot, stamp: stamp, event: view, in: bytes)
    }

    /// - Parameter view: ranges of `bytes`.
    package static func digestTerm(dot: Dot, stamp: Stamp, event view: EventView, in bytes: [UInt8]) -> Sum256 {
        // One block for every event of a catch-up, instead of four while it grows.
        var header: [UInt8] = []
        header.reserveCapacity(96 + view.stream.count + (view.type?.count ?? 0))
        header += "lanyard/digest/event/v1".utf8
        header += dot.replica.bytes
        header.append(bigEndian: dot.counter)
        header.append(bigEndian: stamp.rawValue)
        header.append(lengthPrefixed: bytes[view.stream])
        if let type = view.type {
            header.append(varint: UInt64(type.count) + 1)
            header.append(contentsOf: bytes[type])
        } else {
            header.append(0)
        }
        var hasher = SHA256()
        header.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        bytes.withUnsafeBytes { hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[view.payload])) }
        return Sum256(hasher.finalize())
    }
}
