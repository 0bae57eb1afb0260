/// Short texts of long ones: matches of at least four bytes among the last 65,535, greedy, found by one hash of four bytes
/// (the idea of LZ4's block format; the layout is our own).
///
/// Deterministic: equal texts have equal bytes. Decompressing never reads or writes outside its buffers; what does not add
/// up is refused.
enum TextCompression {
    private static let shortest = 4
    private static let farthest = 65_535
    private static let hashBits = 13

    /// Layout: pieces, each: varint (literals · 8 + min(7, match − 3), 0: no match, the end); literals; when that was 7,
    /// varint (match − 10); distance in two bytes, the least first.
    static func compress(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count + bytes.count >> 10 + 64) { buffer, written in
            guard let start = buffer.baseAddress else { return }
            written = compress(bytes, to: start)
        }
    }

    /// True if a text is written like this: as `compress` packs it, or not packed (empty) when packing does not shorten it.
    static func isWritten(_ packed: UnsafeBufferPointer<UInt8>, for bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let expected = compress(bytes)
        if packed.isEmpty { return expected.count >= bytes.count }
        return expected.count < bytes.count && expected.withUnsafeBufferPointer { isEqual($0, packed) }
    }

    private static func isEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var index = 0
        while index + 8 <= left.count {
            guard word(left.baseAddress! + index) == word(right.baseAddress! + index) else { return false }
            index += 8
        }
        while index < left.count {
            guard left[index] == right[index] else { return false }
            index += 1
        }
        return true
    }

    /// A piece takes more than what it stands for only behind 2,048 literals or more, and then a few bytes: a thousandth of
    /// the text and 64 bytes more are room enough. Returns how many were written.
    private static func compress(
        _ bytes: UnsafeBufferPointer<UInt8>, to start: UnsafeMutablePointer<UInt8>
    ) -> Int {
        guard let input = bytes.baseAddress else { return 0 }
        var output = start
        var table = [Int32](repeating: -1, count: 1 << hashBits)
        var anchor = 0
        var position = 0
        let limit = bytes.count - shortest
        table.withUnsafeMutableBufferPointer { table in
            while position <= limit {
                let four = load(input, position)
                let slot = hash(four)
                let candidate = Int(table[slot])
                table[slot] = Int32(truncatingIfNeeded: position)
                guard candidate >= 0, position - candidate <= farthest, load(input, candidate) == four else {
                    // Text that does not repeat is stepped over faster and faster.
                    position += 1 + (position - anchor) >> 6
                    continue
                }
                var start = position
                var source = candidate
                while start > anchor, source > 0, input[start - 1] == input[source - 1] {
                    start -= 1
                    source -= 1
                }
                let distance = start - source
                var end = position + shortest
                while end + 8 <= bytes.count, word(input + end) == word(input + end - distance) { end += 8 }
                while end < bytes.count, input[end] == input[end - distance] { end += 1 }
                append(input + anchor, start - anchor, match: end - start, distance: distance, to: &output)
                position = end
                anchor = end
                if end - 2 <= limit, end >= 2 {
                    table[hash(load(input, end - 2))] = Int32(truncatingIfNeeded: end - 2)
                }
            }
        }
        if anchor < bytes.count { append(input + anchor, bytes.count - anchor, match: 0, distance: 0, to: &output) }
        return output - start
    }

    @inline(__always)
    private static func hash(_ four: UInt32) -> Int { Int((four &* 2_654_435_761) >> UInt32(32 - hashBits)) }

    @inline(__always)
    private static func load(_ bytes: UnsafePointer<UInt8>, _ position: Int) -> UInt32 {
        UnsafeRawPointer(bytes + position).loadUnaligned(as: UInt32.self).littleEndian
    }

    @inline(__always)
    private static func word(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
        UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self)
    }

    @inline(__always)
    private static func append(
        _ literals: UnsafePointer<UInt8>, _ count: Int, match: Int, distance: Int,
        to output: inout UnsafeMutablePointer<UInt8>
    ) {
        let code = match == 0 ? 0 : min(7, match - 3)
        append(varint: count << 3 | code, to: &output)
        output.update(from: literals, count: count)
        output += count
        guard match > 0 else { return }
        if code == 7 { append(varint: match - 10, to: &output) }
        output[0] = UInt8(truncatingIfNeeded: distance)
        output[1] = UInt8(truncatingIfNeeded: distance >> 8)
        output += 2
    }

    @inline(__always)
    private static func append(varint value: Int, to output: inout UnsafeMutablePointer<UInt8>) {
        var rest = value
        while rest >= 0x80 {
            output.pointee = UInt8(truncatingIfNeeded: rest) | 0x80
            output += 1
            rest >>= 7
        }
        output.pointee = UInt8(truncatingIfNeeded: rest)
        output += 1
    }

    @inline(__always)
    private static func copy16(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) {
        let words = UnsafeRawPointer(source).loadUnaligned(as: SIMD2<UInt64>.self)
        UnsafeMutableRawPointer(target).storeBytes(of: words, as: SIMD2<UInt64>.self)
    }

    @inline(__always)
    private static func copy16(_ source: UnsafeMutablePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) {
        copy16(UnsafePointer(source), to: target)
    }

    /// Writes exactly `output.count` bytes; false, with what is written of no use, when these bytes do not stand for as many.
    static func decompress(_ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Bool
    {
        guard let target = output.baseAddress else { return bytes.isEmpty }
        guard let input = bytes.baseAddress else { return false }
        let (inputEnd, outputEnd) = (bytes.count, output.count)
        var read = 0
        var written = 0
        func varint() -> Int? {
            var value = 0
            var shift = 0
            while read < inputEnd, shift < 35 {
                let byte = Int(input[read])
                read += 1
                value |= (byte & 0x7f) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }
        while read < inputEnd {
            guard let head = varint() else { return false }
            let literals = head >> 3
            guard literals <= inputEnd - read, literals <= outputEnd - written else { return false }
            if literals <= 16, inputEnd - read >= 16, outputEnd - written >= 16 {
                // Most are short: copying a little too much costs less than asking how much.
                copy16(input + read, to: target + written)
            } else {
                (target + written).update(from: input + read, count: literals)
            }
            read += literals
            written += literals
            guard head & 7 != 0 else { return read == inputEnd && written == outputEnd }
            var match = head & 7 + 3
            if head & 7 == 7 {
                guard let more = varint() else { return false }
                match = more + 10
            }
            guard inputEnd - read >= 2 else { return false }
            let distance = Int(input[read]) | Int(input[read + 1]) << 8
            read += 2
            guard distance > 0, distance <= written, match <= outputEnd - written else { return false }
            if match <= 16, distance >= 16, outputEnd - written >= 16 {
                copy16(target + written - distance, to: target + written)
            } else if distance >= match {
                (target + written).update(from: target + written - distance, count: match)
            } else {
                for index in written..<written + match { target[index] = target[index - distance] }
            }
            written += match
        }
        return written == outputEnd
    }
}
