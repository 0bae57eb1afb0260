// Where the `Character`s of a text begin, without reading the text from its start: a boundary depends on what stands before
// it, but seldom on more than a few scalars. (Unicode Standard Annex 29, "Grapheme Cluster Boundary Rules".)

extension RandomAccessCollection where Element == Unicode.Scalar, Index == Int {
    /// The nearest `Character` boundaries at or before `offset`, and at or after it; one number if that is a boundary.
    ///
    /// Reads the `Character` and what stands before it up to the first pair of scalars that are surely parted.
    package func characterBoundaries(around offset: Int) -> ClosedRange<Int> {
        precondition(offset >= startIndex && offset <= endIndex, "offset \(offset) of \(endIndex) scalars")
        guard offset > startIndex, offset < endIndex else { return offset...offset }
        var start = offset
        var following = self[offset]
        while start > startIndex {
            let previous = self[start - 1]
            if CharacterBreak.isSure(previous, following) { break }
            start -= 1
            following = previous
        }
        var string = ""
        var end = start
        while true {
            // Twice as much each time, so that a `Character` of a thousand scalars is not read a thousand times.
            let next = Swift.min(endIndex, Swift.max(offset + 1, end + (end - start) + 8))
            string.unicodeScalars.append(contentsOf: self[end..<next])
            end = next
            var last = start
            for character in string {
                if last == offset { return offset...offset }
                let boundary = last + character.unicodeScalars.count
                // What stands last may go on behind what was read.
                if boundary > offset, boundary < end || end == endIndex { return last...boundary }
                if boundary > offset { break }
                last = boundary
            }
        }
    }
}

enum CharacterBreak {
    /// True if a `Character` ends between these two scalars, whatever stands before them. False may mean "perhaps": in a run
    /// of flags.
    ///
    /// Two scalars that are separate in a string of just the two can be held together by what stands before, in two ways:
    /// rule GB11 (an emoji, a joiner, an emoji) and rule GB9c (a conjunct of Indic consonants). In both, the first of the two
    /// is a mark. So a mark is tested behind an emoji, and behind a consonant with the sign that asks for another.
    static func isSure(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        if first.isASCII, second.isASCII { return first != "\r" || second != "\n" }
        // Long runs of halves of flags, and of marks, are asked about one by one.
        if flags.contains(first) && flags.contains(second) || second.properties.isGraphemeExtend { return false }
        guard areParted("", first, second) else { return false }
        return !isMark(first) || areParted("👩", first, second) && areParted("\u{915}\u{94D}", first, second)
    }

    private static let flags: ClosedRange<Unicode.Scalar> = "\u{1F1E6}"..."\u{1F1FF}"

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isGraphemeExtend || properties.isEmojiModifier { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format: return true
        case _: return false
        }
    }

    /// True if a `Character` ends between the two in a string of all of these.
    private static func areParted(_ context: String, _ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        var string = context
        string.unicodeScalars.append(first)
        let border = string.utf8.count
        string.unicodeScalars.append(second)
        var end = 0
        for character in string where end < border { end += character.utf8.count }
        return end == border
    }
}
