/// UTF-8 that is given out scalar by scalar; it was checked before.
struct TextSource {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let isASCII: Bool
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        isASCII = bytes.isASCII
    }

    mutating func next() -> UInt32 {
        let first = UInt32(bytes[position])
        let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
        var scalar = length == 1 ? first : first & (0x7f >> UInt32(length))
        for offset in 1..<max(1, length) { scalar = scalar << 6 | UInt32(bytes[position + offset]) & 0x3f }
        position += length
        return scalar
    }

    /// Fills `count` blanks of the arena, from `number` on, with the next scalars.
    mutating func fill(_ arena: inout ScalarArena, _ number: Int, _ count: Int) {
        if isASCII {
            arena.fill(number, with: UnsafeBufferPointer(rebasing: bytes[position..<position + count]))
            position += count
        } else {
            for offset in 0..<count { arena.fill(number + offset, with: next()) }
        }
    }
}
