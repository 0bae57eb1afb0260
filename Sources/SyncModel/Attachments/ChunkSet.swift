/// The chunks of a blob that are here: one bit each, 8 KiB for the greatest blob.
package struct ChunkSet: Hashable, Sendable {
    package let count: Int
    package private(set) var presentCount = 0
    private var words: [UInt64]

    /// Creates a set for `count` chunks with none of them here.
    package init(count: Int) {
        self.count = count
        words = [UInt64](repeating: 0, count: (count + 63) / 64)
    }

    package var isComplete: Bool { presentCount == count }

    package func contains(_ chunk: Int) -> Bool {
        chunk >= 0 && chunk < count && words[chunk >> 6] & (1 << UInt64(chunk & 63)) != 0
    }

    /// - Returns: false if it was here.
    @discardableResult
    package mutating func insert(_ chunk: Int) -> Bool {
        precondition(chunk >= 0 && chunk < count, "chunk \(chunk) of \(count)")
        guard !contains(chunk) else { return false }
        words[chunk >> 6] |= 1 << UInt64(chunk & 63)
        presentCount += 1
        return true
    }

    package mutating func remove(_ chunk: Int) {
        guard contains(chunk) else { return }
        words[chunk >> 6] &= ~(1 << UInt64(chunk & 63))
        presentCount -= 1
    }

    /// The first chunk at or behind `start` that is not here; nil: all of those are.
    package func firstMissing(from start: Int) -> Int? {
        var chunk = max(0, start)
        while chunk < count {
            let word = ~words[chunk >> 6] >> UInt64(chunk & 63)
            if word != 0 {
                chunk += word.trailingZeroBitCount
                return chunk < count ? chunk : nil
            }
            chunk = ((chunk >> 6) + 1) << 6
        }
        return nil
    }

    /// The first stretch of at most `limit` chunks, from `start` on, that are not in this set and are in `others` (nil: all
    /// are). Looks at a word of 64 chunks at a time.
    ///
    /// - Precondition: `others` counts as many.
    package func firstAbsent(from start: Int, in others: ChunkSet?, limit: Int) -> Range<Int>? {
        precondition(others.map { $0.count == count } ?? true, "sets of one blob")
        var chunk = max(0, start)
        while chunk < count {
            let offered = others?.words[chunk >> 6] ?? .max
            let word = (~words[chunk >> 6] & offered) >> UInt64(chunk & 63)
            guard word != 0 else {
                chunk = ((chunk >> 6) + 1) << 6
                continue
            }
            chunk += word.trailingZeroBitCount
            guard chunk < count else { return nil }
            var end = chunk + 1
            while end < count, end - chunk < limit, !contains(end), others?.contains(end) ?? true { end += 1 }
            return chunk..<end
        }
        return nil
    }

    /// Layout: the bits from the first chunk on, eight a byte, the least significant first; no bit behind the last chunk.
    package var bytes: [UInt8] {
        (0..<(count + 7) / 8).map { UInt8(truncatingIfNeeded: words[$0 >> 3] >> UInt64(($0 & 7) * 8)) }
    }

    /// Nil unless these are the bytes of a set of so many.
    package init?(bytes: [UInt8], count: Int) {
        guard count >= 0, bytes.count == (count + 7) / 8 else { return nil }
        self.init(count: count)
        for (index, byte) in bytes.enumerated() { words[index >> 3] |= UInt64(byte) << UInt64((index & 7) * 8) }
        if count & 63 != 0, let last = words.last, last >> UInt64(count & 63) != 0 { return nil }
        presentCount = words.reduce(0) { $0 + $1.nonzeroBitCount }
    }
}
