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
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count / 2 + 16)
        var table = [Int32](repeating: -1, count: 1 << hashBits)
        var anchor = 0
        var position = 0
        let limit = bytes.count - shortest
        while position <= limit {
            let word = load(bytes, position)
            let hash = Int((word &* 2_654_435_761) >> UInt32(32 - hashBits))
            let candidate = Int(table[hash])
            table[hash] = Int32(truncatingIfNeeded: position)
            guard candidate >= 0, position - candidate <= farthest, load(bytes, candidate) == word else {
                // Text that does not repeat is stepped over faster and faster.
                position += 1 + (position - anchor) >> 6
                continue
            }
            var start = position
            var source = candidate
            while start > anchor, source > 0, bytes[start - 1] == bytes[source - 1] {
                start -= 1
                source -= 1
            }
            var end = position + shortest
            while end < bytes.count, bytes[end] == bytes[end - start + source] { end += 1 }
            append(bytes, anchor..<start, match: end - start, distance: start - source, to: &output)
            position = end
            anchor = end
            if end - 2 <= limit, end >= 2 {
                table[Int((load(bytes, end - 2) &* 2_654_435_761) >> UInt32(32 - hashBits))] = Int32(
                    truncatingIfNeeded: end - 2)
            }
        }
        if anchor < bytes.count { append(bytes, anchor..<bytes.count, match: 0, distance: 0, to: &output) }
        return output
    }

    private static func load(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> UInt32 {
        UnsafeRawPointer(bytes.baseAddress! + position).loadUnaligned(as: UInt32.self).littleEndian
    }

    private static func append(
        _ bytes: UnsafeBufferPointer<UInt8>, _ literals: Range<Int>, match: Int, distance: Int, to output: inout [UInt8]
    ) {
        let code = match == 0 ? 0 : min(7, match - 3)
        output.append(varint: UInt64(literals.count << 3 | code))
        output.append(contentsOf: bytes[literals])
        guard match > 0 else { return }
        if code == 7 { output.append(varint: UInt64(match - 10)) }
        output.append(UInt8(truncatingIfNeeded: distance))
        output.append(UInt8(truncatingIfNeeded: distance >> 8))
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
