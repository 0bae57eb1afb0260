/// What tells a long text from another without looking at all of it after every keystroke.
///
/// A polynomial over the scalars at two fixed points modulo 2^61 − 1, so the fingerprint of two stretches one behind the
/// other follows from theirs: after an edit only the stretch around it is looked at again. Depends on nothing but the
/// scalars in their order. Two texts that differ by chance have the same with a probability below 10^-20; whoever wants to
/// can make two such texts, so this is for finding mistakes, not for trusting anybody.
package struct TextFingerprint: Hashable, Sendable {
    /// From this many scalars on the state digest holds a fingerprint in place of the text.
    package static let leastCount = 1 << 16

    /// The value at both points.
    struct Sum: Hashable, Sendable {
        var first: UInt64 = 0
        var second: UInt64 = 0
    }

    /// A stretch of the text. Where one begins follows from earlier edits and says nothing.
    private struct Stretch: Hashable {
        var count: Int
        var sum = Sum()
        /// The points to the power of `count`.
        var shift = Sum()
        /// To be read again.
        var isStale = true

        init(stale count: Int) { self.count = count }

        init(count: Int, sum: Sum) {
            self.count = count
            self.sum = sum
            shift = Sum(first: power(points.first, count), second: power(points.second, count))
            isStale = false
        }
    }

    private static let mostScalars = 8192
    private static let fewScalars = 2048
    private static let points = Sum(first: 0x0c3f_5a1d_94e7_2b86, second: 0x1713_88f0_6d2e_a4b9)

    private var stretches: [Stretch] = []

    private(set) var count = 0

    /// Of a text that is here as a whole.
    init(_ string: String) {
        var sum = Sum()
        var count = 0
        for scalar in string.unicodeScalars {
            Self.append(scalar.value, to: &sum)
            count += 1
            guard count == Self.mostScalars / 2 else { continue }
            stretches.append(Stretch(count: count, sum: sum))
            (sum, count) = (Sum(), 0)
        }
        if count > 0 { stretches.append(Stretch(count: count, sum: sum)) }
        self.count = stretches.reduce(0) { $0 + $1.count }
    }

    /// Of all scalars.
    var sum: Sum {
        stretches.reduce(into: Sum()) { sum, stretch in
            sum.first = Self.add(Self.multiply(sum.first, stretch.shift.first), stretch.sum.first)
            sum.second = Self.add(Self.multiply(sum.second, stretch.shift.second), stretch.sum.second)
        }
    }

    // MARK: Following a text

    /// Follows edits, each of the text as those before it left it.
    ///
    /// - Parameter read: hands over the scalars at a range of the text as it is behind all of them.
    mutating func follow(_ edits: [TextEdit], read: (Range<Int>, (UInt32) -> Void) -> Void) {
        guard !edits.isEmpty else { return }
        for edit in edits {
            replace(edit.offset, deleted: edit.deletedCount, inserted: edit.inserted.unicodeScalars.count)
        }
        resize()
        var offset = 0
        for index in stretches.indices {
            let end = offset + stretches[index].count
            if stretches[index].isStale {
                var sum = Sum()
                read(offset..<end) { Self.append($0, to: &sum) }
                stretches[index] = Stretch(count: end - offset, sum: sum)
            }
            offset = end
        }
        count = offset
    }

    private mutating func replace(_ offset: Int, deleted: Int, inserted: Int) {
        if stretches.isEmpty { stretches.append(Stretch(stale: 0)) }
        var start = 0
        var index = 0
        while index + 1 < stretches.count, start + stretches[index].count <= offset {
            start += stretches[index].count
            index += 1
        }
        let first = index
        var inside = offset - start
        var rest = deleted
        while rest > 0, index < stretches.count {
            let part = min(rest, stretches[index].count - inside)
            stretches[index].count -= part
            stretches[index].isStale = true
            rest -= part
            inside = 0
            index += 1
        }
        precondition(rest == 0, "an edit deletes what is there")
        stretches[first].count += inserted
        stretches[first].isStale = true
    }

    /// Splits what grew too long and joins what became too short, so that neither one nor all of them get expensive.
    private mutating func resize() {
        guard stretches.contains(where: { $0.isStale && ($0.count > Self.mostScalars || $0.count < Self.fewScalars) })
        else { return }
        var resized: [Stretch] = []
        resized.reserveCapacity(stretches.count + 1)
        for stretch in stretches where stretch.count > 0 {
            if stretch.count > Self.mostScalars {
                let parts = (stretch.count + Self.mostScalars / 2 - 1) / (Self.mostScalars / 2)
                for part in 0..<parts {
                    resized.append(Stretch(stale: stretch.count * (part + 1) / parts - stretch.count * part / parts))
                }
            } else if let last = resized.last, stretch.isStale || last.isStale,
                min(last.count, stretch.count) < Self.fewScalars, last.count + stretch.count <= Self.mostScalars
            {
                resized[resized.count - 1] = Stretch(stale: last.count + stretch.count)
            } else {
                resized.append(stretch)
            }
        }
        stretches = resized
    }

    // MARK: Modulo 2^61 − 1

    private static let prime: UInt64 = (1 << 61) - 1

    @inline(__always)
    private static func append(_ scalar: UInt32, to sum: inout Sum) {
        // Not the value itself: a text may begin with zeros.
        let term = UInt64(scalar) + 1
        sum.first = add(multiply(sum.first, points.first), term)
        sum.second = add(multiply(sum.second, points.second), term)
    }

    private static func power(_ base: UInt64, _ exponent: Int) -> UInt64 {
        var (result, square, rest): (UInt64, UInt64, Int) = (1, base, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result = multiply(result, square) }
            square = multiply(square, square)
            rest >>= 1
        }
        return result
    }

    @inline(__always)
    private static func multiply(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (high, low) = left.multipliedFullWidth(by: right)
        return add(low & prime, (high << 3) | (low >> 61))
    }

    /// Of two below 2^61.
    @inline(__always)
    private static func add(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let sum = left &+ right
        return sum >= prime ? sum &- prime : sum
    }
}

// What the state digest holds of a text: the whole, or of a long one its fingerprint.

extension [UInt8] {
    package mutating func append(visible text: ReplicatedText) {
        if text.count < TextFingerprint.leastCount {
            append(lengthPrefixed: Array(text.string.utf8))
        } else {
            append(text.storage.fingerprintSum, of: text.count)
        }
    }

    /// Of several lives' texts, one behind the other.
    package mutating func append(visible string: String) {
        let count = string.unicodeScalars.count
        if count < TextFingerprint.leastCount {
            append(lengthPrefixed: Array(string.utf8))
        } else {
            append(TextFingerprint(string).sum, of: count)
        }
    }

    private mutating func append(_ sum: TextFingerprint.Sum, of count: Int) {
        // No text that is written out has as many bytes, so it is none of those.
        append(varint: UInt64(count) + (1 << 40))
        append(varint: sum.first)
        append(varint: sum.second)
    }
}
