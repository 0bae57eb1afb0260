import SyncModel
import Testing

/// Offsets of `Character`s in texts of several stretches that people edit, against a walk over the string.
@Suite struct CharacterOffsetTests {
    private static let words = [
        "a", "plain words, ", "é", "e\u{301}", "\u{301}", "\r\n", "\r", "\n", "👩‍👩‍👧", "\u{200D}", "👍🏽", "🏽", "🇩🇪", "🇫", "❤️",
        "각", "\u{1100}", "\u{1161}", "\u{11A8}", "क्षि", "\u{94D}", "\u{915}", "\u{600}", "漢字", "שלום",
    ]

    private typealias Change = DocumentChange<ReplicatedText.Operation>

    private var editors: [TextEditor] = []
    private var log: [Change] = []
    private var generator: SeededGenerator
    private let seed: UInt64

    init() { self.init(seed: 0) }

    private init(seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        editors = (1...2).map { TextEditor(replica: .author($0)) }
    }

    private mutating func word() -> String { Self.words[Int.random(in: Self.words.indices, using: &generator)] }

    /// What is asked for is right, at the places given and at some others.
    private mutating func check(_ text: ReplicatedText, _ sourceLocation: SourceLocation = #_sourceLocation) {
        var begins: [Int] = []
        // Of each scalar, how many characters begin before it.
        var before = [0]
        for character in text.string {
            begins.append(before.count - 1)
            for _ in character.unicodeScalars { before.append(begins.count) }
        }
        begins.append(before.count - 1)
        #expect(text.characterCount == begins.count - 1, "seed \(seed)", sourceLocation: sourceLocation)
        for _ in 0..<12 {
            let offset = Int.random(in: before.indices, using: &generator)
            #expect(
                text.characterOffset(of: offset) == before[offset], "seed \(seed), \(offset)",
                sourceLocation: sourceLocation)
            let number = Int.random(in: begins.indices, using: &generator)
            #expect(
                text.offset(ofCharacter: number) == begins[number], "seed \(seed), \(number)",
                sourceLocation: sourceLocation)
        }
        #expect(text.characterOffset(of: text.count) == begins.count - 1, sourceLocation: sourceLocation)
        #expect(text.offset(ofCharacter: begins.count - 1) == text.count, sourceLocation: sourceLocation)
        #expect(text.offset(ofCharacter: begins.count) == nil, sourceLocation: sourceLocation)
        #expect(text.offset(ofCharacter: -1) == nil, sourceLocation: sourceLocation)
    }

    /// Typing as it is: one place, letter by letter, with a look at the text now and then.
    private mutating func type(_ index: Int) {
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            var offset = Int.random(in: 0...editors[index].text.count, using: &generator)
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                if generator.chance(30), offset > 0 {
                    let count = min(offset, generator.chance(5) ? 700 : 2)
                    editors[index].remove(offset - count..<offset)
                    offset -= count
                } else {
                    let word = generator.chance(60) ? "k" : word()
                    if let scalar = word.unicodeScalars.first, word.unicodeScalars.count == 1 {
                        editors[index].insert(scalar, at: offset)
                    } else {
                        editors[index].insert(word, at: offset)
                    }
                    offset += word.unicodeScalars.count
                }
                if generator.chance(20) { check(editors[index].text) }
            }
        }
    }

    private mutating func run() throws {
        let filling = generator.chance(30) ? Array(repeating: "🇩🇪", count: 50) : (0..<10).map { _ in word() }
        for _ in 0..<Int.random(in: 20...60, using: &generator) {
            editors[0].insert(filling.joined(), at: editors[0].text.count)
        }
        var kept = editors[0].text
        for _ in 0..<Int.random(in: 5...20, using: &generator) {
            let index = Int.random(in: editors.indices, using: &generator)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: kept = editors[index].text
            case 1: check(kept)
            case 2:
                commit()
                try editors[index].join(editors[1 - index].delta(since: editors[index].document.vector))
            case 3, 4:
                commit()
                for change in log {
                    if generator.chance(50) {
                        _ = try? editors[index].applyShowing(change)
                    } else {
                        try? editors[index].apply(change)
                    }
                    if generator.chance(5) { check(editors[index].text) }
                }
            case _: type(index)
            }
            if generator.chance(50) { check(editors[index].text) }
        }
        for editor in editors { check(editor.text) }
        check(kept)
        check(try ReplicatedText(canonicalBytes: kept.canonicalBytes))
    }

    private mutating func commit() {
        for index in editors.indices {
            if let change = editors[index].commit(wallMilliseconds: 1) { log.append(change) }
        }
    }

    @Test func `they are those of the string, whoever edited in between and by whatever road`() throws {
        for seed in 1...1_000 as ClosedRange<UInt64> {
            var history = CharacterOffsetTests(seed: seed)
            try history.run()
        }
    }

    @Test func `a run of flags is paired anew when one half is typed before it`() {
        var history = CharacterOffsetTests(seed: 1)
        var editor = TextEditor(replica: .author(1))
        editor.insert("a" + String(repeating: "🇩🇪", count: 2_000) + "b", at: 0)
        for at in [1, 1, 2_000, 4_002, 0, 5] {
            history.check(editor.text)
            editor.insert("🇫" as Unicode.Scalar, at: at)
        }
        history.check(editor.text)
        editor.remove(0..<3)
        history.check(editor.text)
    }

    @Test func `text without line breaks of two scalars is counted by scalars, one with them is not`() {
        var history = CharacterOffsetTests(seed: 2)
        var editor = TextEditor(replica: .author(1))
        editor.insert(String(repeating: "0123456789\n", count: 500), at: 0)
        #expect(editor.text.characterCount == 5_500)
        history.check(editor.text)
        // At every place, so also where one stretch ends and the next begins.
        for offset in stride(from: 5_500, through: 0, by: -50) { editor.insert("\r", at: offset) }
        history.check(editor.text)
        let string = editor.text.string
        #expect(editor.text.characterCount == string.count && string.count < editor.text.count)
    }

    @Test func `many places edited at once are followed or looked at anew, both right`() throws {
        var history = CharacterOffsetTests(seed: 3)
        for places in [10, 60, 64, 65, 500] {
            var editor = TextEditor(replica: .author(1))
            editor.insert(String(repeating: "e\u{301} ", count: 2_000), at: 0)
            _ = editor.commit(wallMilliseconds: 1)
            var other = TextEditor(editor.document.forked(as: .author(2)))
            history.check(editor.text)
            history.check(other.text)
            for place in 0..<places { editor.insert("\u{308}", at: place * 11 % 6_000) }
            let change = editor.commit(wallMilliseconds: 2)
            try other.apply(try #require(change))
            history.check(editor.text)
            history.check(other.text)
        }
    }

    @Test func `several may ask for one text at once`() async {
        var editor = TextEditor(replica: .author(1))
        editor.insert(String(repeating: "👩‍👩‍👧e\u{301}", count: 2_000), at: 0)
        // Two scalars behind the first family.
        editor.insert("xy", at: 5)
        let text = editor.text
        let right = await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<200).allSatisfy { round in
                        let pair = (task * 200 + round) % 1_999 + 1
                        return text.characterOffset(of: pair * 7 + 2) == pair * 2 + 2
                            && text.offset(ofCharacter: pair * 2 + 2) == pair * 7 + 2
                    }
                }
            }
            return await group.allSatisfy { $0 }
        }
        #expect(right)
    }
}
