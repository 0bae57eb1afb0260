import SyncModel
import Testing

/// Where characters begin, found without reading the whole text: compared with `String`, which does.
@Suite struct CharacterBoundaryTests {
    /// What holds its neighbours, or is held: marks, joiners, modifiers, flags, Hangul, conjuncts, prefixes, breaks.
    private static let scalars: [Unicode.Scalar] = [
        "a", "b", " ", "\r", "\n", "é", "漢", "\u{301}", "\u{308}", "\u{200D}", "\u{200C}", "\u{FE0F}", "👩", "❤", "🏽",
        "🇩", "🇪", "🇫", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}", "\u{915}", "\u{94D}", "\u{937}", "\u{93F}",
        "\u{600}", "\u{110BD}", "\u{E0061}", "\u{E007F}", "\u{20E3}", "\u{AD}", "\u{200B}", "\u{0E33}", "\u{0E01}",
    ]

    private func boundaries(_ string: String) -> Set<Int> {
        var boundaries: Set<Int> = [0]
        var offset = 0
        for character in string {
            offset += character.unicodeScalars.count
            boundaries.insert(offset)
        }
        return boundaries
    }

    private func string(_ scalars: [Unicode.Scalar]) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    private func expect(_ scalars: [Unicode.Scalar], sourceLocation: SourceLocation = #_sourceLocation) {
        let known = boundaries(string(scalars))
        for offset in 0...scalars.count {
            let around = scalars.characterBoundaries(around: offset)
            let start = (0...offset).last(where: known.contains) ?? 0
            let end = (offset...scalars.count).first(where: known.contains) ?? scalars.count
            #expect(
                around == start...end, "at \(offset) of \(scalars.map { String($0.value, radix: 16) })",
                sourceLocation: sourceLocation)
        }
    }

    @Test func `every place of every text is judged as String judges the whole`() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<6_000 {
            let count = Int.random(in: 1...24, using: &generator)
            expect((0..<count).map { _ in Self.scalars[Int.random(in: Self.scalars.indices, using: &generator)] })
        }
    }

    @Test func `a run of flags is paired from its beginning, however long`() {
        expect(Array(repeating: "🇩" as Unicode.Scalar, count: 201))
        expect(["a"] + Array(repeating: "🇩" as Unicode.Scalar, count: 200) + ["b"])
        expect(["a"] + Array(repeating: "\u{301}" as Unicode.Scalar, count: 300) + ["b"])
        expect(Array("👩🏽‍❤️‍👩🏽👩‍👩‍👧‍👦e\u{301}क्षि".unicodeScalars))
    }

    @Test func `a replicated text judges as its scalars do`() {
        var editor = TextEditor(replica: .author(1))
        editor.insert("a👩‍👧e\u{301}🇩🇪\r\n", at: 0)
        let scalars = Array(editor.text.string.unicodeScalars)
        for offset in 0...scalars.count {
            #expect(editor.text.characterBoundaries(around: offset) == scalars.characterBoundaries(around: offset))
        }
    }
}
