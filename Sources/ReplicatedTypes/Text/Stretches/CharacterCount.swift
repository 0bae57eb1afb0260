/// The number of `Character`s that begin in a stretch.
///
/// A stretch begins where a `Character` begins whatever stands before it, so that the counts of all stretches add up to that
/// of the text. Where the text has no such place for long, the stretch gets as long: a run of flags is counted in pairs from
/// its beginning, so a million halves in a row are one stretch. A query that follows an edit in it reads all of it (35 ms);
/// one for a place in it reads up to there (20 ms at its end).
package struct CharacterCount: StretchSummary {
    package static let mostScalars = 512
    package static let partsAnywhere = false

    package private(set) var count = 0

    package init() {}

    package init(_ string: String, count: Int) {
        // Of ASCII only a line break of two scalars is one `Character`; most texts have none.
        let isPlain = string.utf8.count == count && !string.utf8.contains(0x0d)
        self.count = isPlain ? count : string.count
    }

    package mutating func append(_ next: Self) { count += next.count }

    package static func mayPart(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        CharacterBreak.isSure(first, second)
    }
}
