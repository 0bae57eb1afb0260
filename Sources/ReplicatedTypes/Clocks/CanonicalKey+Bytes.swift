extension CanonicalKey {
    package static let byteCount = 8 + ReplicaID.byteCount + 8

    /// Stamp, replica, counter, big-endian: bytes have the order of keys.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: stamp.rawValue)
        bytes += dot.replica.bytes
        bytes.append(bigEndian: dot.counter)
        return bytes
    }

    /// Nil unless exactly `byteCount` bytes.
    package init?(bytes: [UInt8]) {
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        guard bytes.count == Self.byteCount, let replica = ReplicaID(bytes: bytes.dropFirst(8).dropLast(8)) else {
            return nil
        }
        self.init(
            stamp: Stamp(rawValue: number(bytes.prefix(8))),
            dot: Dot(replica: replica, counter: number(bytes.suffix(8))))
    }

    /// The key just before this one, whether or not anything has it; nil for the least of all.
    package var predecessor: CanonicalKey? {
        // One large number, from which one is taken.
        var bytes = bytes
        guard let last = bytes.lastIndex(where: { $0 > 0 }) else { return nil }
        bytes[last] -= 1
        for index in (last + 1)..<bytes.count { bytes[index] = .max }
        return CanonicalKey(bytes: bytes)
    }
}
