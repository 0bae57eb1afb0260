import SyncModel
import Testing

/// Stretches that followed edits, against an array of scalars that is looked at as a whole.
@Suite struct StretchTreeTests {
    /// The text itself, so that what is put together in a wrong order shows. An "x" is held by what stands before it.
    private struct Copied: StretchSummary {
        static let mostScalars = 8
        static let partsAnywhere = false

        var string = ""

        init() {}
        init(_ string: String, count: Int) {
            self.string = string
            #expect(string.unicodeScalars.count == count)
        }
        mutating func append(_ next: Self) { string.unicodeScalars.append(contentsOf: next.string.unicodeScalars) }
        static func mayPart(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool { second != "x" }
    }

    /// `Character`s in stretches that are so short that most edits touch a border.
    private struct FewCharacters: StretchSummary {
        static let mostScalars = 8
        static let partsAnywhere = false

        var count = 0

        init() {}
        init(_ string: String, count: Int) { self.count = CharacterCount(string, count: count).count }
        mutating func append(_ next: Self) { count += next.count }
        static func mayPart(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
            CharacterCount.mayPart(first, second)
        }
    }

    /// A text, and the tree that follows it.
    private struct Followed<Summary: StretchSummary> {
        var scalars: [Unicode.Scalar]
        var tree: StretchTree<Summary>
        /// Scalars read since the tree was made.
        var readCount = 0

        init(_ scalars: [Unicode.Scalar]) {
            self.scalars = scalars
            tree = StretchTree(count: scalars.count)
        }

        mutating func replace(_ range: Range<Int>, with inserted: [Unicode.Scalar]) {
            scalars.replaceSubrange(range, with: inserted)
            tree.replace(range, with: inserted.count)
        }

        mutating func settle() {
            var (tree, readCount) = (tree, 0)
            tree.settle { range in
                readCount += range.count
                return Self.string(scalars[range])
            }
            self.tree = tree
            self.readCount += readCount
        }

        static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars)
            return String(view)
        }

        /// All stretches in order.
        var stretches: [StretchTree<Summary>.Found] {
            var stretches: [StretchTree<Summary>.Found] = []
            var end = 0
            while let next = tree.first(where: { count, _ in count > end }) {
                stretches.append(next)
                end = next.range.upperBound
            }
            return stretches
        }

        mutating func edit(from pool: [Unicode.Scalar], upTo length: Int, using generator: inout SeededGenerator) {
            let start = Int.random(in: 0...scalars.count, using: &generator)
            let deleted = generator.chance(50) ? 0 : Int.random(in: 0...length, using: &generator)
            let end = min(scalars.count, start + deleted)
            let count = generator.chance(40) ? 0 : Int.random(in: 1...length, using: &generator)
            replace(start..<end, with: (0..<count).map { _ in pool[Int.random(in: pool.indices, using: &generator)] })
        }
    }

    @Test func `stretches are of the text as it is, in its order, and begin where they may`() {
        for seed in 1...2_000 as ClosedRange<UInt64> {
            var generator = SeededGenerator(seed: seed)
            // In some texts every other scalar is held, so that stretches get long and edits take borders away.
            let pool: [Unicode.Scalar] = generator.chance(50) ? ["a", "b", "c", "é", "x"] : ["a", "x"]
            var followed = Followed<Copied>([])
            var copy = followed
            for step in 0..<30 {
                followed.edit(from: pool, upTo: step % 10 == 9 ? 60 : 5, using: &generator)
                if generator.chance(30) { continue }
                followed.settle()
                let stretches = followed.stretches
                #expect(followed.tree.count == followed.scalars.count)
                #expect(Array(followed.tree.summary.string.unicodeScalars) == followed.scalars, "seed \(seed)")
                var end = 0
                for stretch in stretches {
                    #expect(stretch.range.lowerBound == end && !stretch.range.isEmpty, "seed \(seed)")
                    #expect(end == 0 || followed.scalars[end] != "x", "seed \(seed)")
                    #expect(Array(stretch.before.string.unicodeScalars) == Array(followed.scalars[..<end]))
                    #expect(
                        Array(stretch.summary.string.unicodeScalars) == Array(followed.scalars[stretch.range]))
                    end = stretch.range.upperBound
                    // Only what is held together is longer.
                    #expect(stretch.range.count <= 8 || followed.scalars[stretch.range].contains("x"), "seed \(seed)")
                }
                #expect(end == followed.scalars.count, "seed \(seed)")
                // A copy is another text from then on.
                if generator.chance(20) { swap(&copy, &followed) }
            }
        }
    }

    @Test func `characters are counted as String counts the whole, wherever the borders are`() {
        let scripts: [[Unicode.Scalar]] = [
            // Line breaks, marks, what joins emoji, modifiers.
            ["a", "b", "\r", "\n", "\u{301}", "\u{308}", "👩", "\u{200D}", "❤", "\u{FE0F}", "🏽"],
            // Flags, which only their number parts.
            ["🇩", "🇪", "🇫", "a"], ["🇩", "🇪"],
            // Hangul.
            ["\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}", "\u{AC01}", "가"],
            // Conjuncts, also over marks, joiners and beside emoji.
            ["\u{915}", "\u{94D}", "\u{937}", "\u{93F}", "\u{93C}", "\u{200D}", "\u{200C}", "👩", " "],
            // What is held by what follows it.
            ["\u{600}", "\u{110BD}", "a", "\u{301}", "\r", "\n"],
        ]
        for seed in 1...6_000 as ClosedRange<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let pool = generator.chance(20) ? scripts.flatMap { $0 } : scripts[Int(seed) % scripts.count]
            var followed = Followed<FewCharacters>([])
            for _ in 0..<20 {
                followed.edit(from: pool, upTo: generator.chance(10) ? 50 : 4, using: &generator)
                if generator.chance(40) { continue }
                followed.settle()
                var begins: [Int] = []
                var offset = 0
                for character in Followed<FewCharacters>.string(followed.scalars) {
                    begins.append(offset)
                    offset += character.unicodeScalars.count
                }
                #expect(followed.tree.summary.count == begins.count, "seed \(seed)")
                var number = 0
                for stretch in followed.stretches {
                    #expect(stretch.before.count == number, "seed \(seed)")
                    #expect(begins.dropFirst(number).first == stretch.range.lowerBound, "seed \(seed)")
                    number += stretch.summary.count
                }
            }
        }
    }

    @Test func `an edit has few scalars read again, and a question few nodes looked at, however long the text`() {
        var generator = SeededGenerator(seed: 1)
        var followed = Followed<FewCharacters>(Array(repeating: "a", count: 100_000))
        followed.settle()
        // Built, torn apart and joined: not only what building alone makes.
        for _ in 0..<2_000 {
            let readCount = followed.readCount
            followed.edit(from: ["a", "b"], upTo: generator.chance(5) ? 2_000 : 3, using: &generator)
            let length = followed.tree.count
            followed.settle()
            // What was inserted, its stretch, a neighbour, and two borders.
            #expect(followed.readCount - readCount <= 2_000 + 3 * 8 + 8)
            var asked = 0
            let offset = Int.random(in: 0..<length, using: &generator)
            let found = followed.tree.first { end, _ in
                asked += 1
                return end > offset
            }
            #expect(found?.range.contains(offset) == true)
            #expect(asked <= 2 * 24)
        }
        #expect(followed.tree.summary.count == followed.scalars.count)
    }

    @Test func `nothing is a text too`() {
        var followed = Followed<FewCharacters>([])
        followed.settle()
        #expect(followed.tree.count == 0 && followed.tree.summary.count == 0 && followed.stretches.isEmpty)
        followed.replace(0..<0, with: ["e", "\u{301}"])
        followed.settle()
        #expect(followed.tree.summary.count == 1)
        followed.replace(0..<2, with: [])
        followed.settle()
        #expect(followed.tree.count == 0 && followed.tree.summary.count == 0)
    }
}
