import SyncModel
import Testing

/// People who type, apart and together: what an editor shows is what its changes mean to everybody else.
@Suite struct TextEditorHistoryTests {
    private typealias Text = Document<ReplicatedText>
    private typealias Change = DocumentChange<ReplicatedText.Operation>

    private static let letters = ["a", "b", "c", "de"]
    /// Beyond ASCII: two, three and four bytes, what joins with its neighbours, what turns the direction.
    private static let scripts = ["a", "xyz", "é", "😀", "hello world", "שלום", "e\u{301}", "\u{202e}r", "漢字", "\r\n"]

    private var editors: [TextEditor] = []
    private var log: [Change] = []
    private var generator: SeededGenerator
    private let seed: UInt64
    private let words: [String]

    init() { self.init(seed: 0) }

    private init(seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        words = generator.chance(50) ? Self.letters : Self.scripts
        let count = Int.random(in: 2...4, using: &generator)
        editors = (0..<count).map { TextEditor(replica: .author(UInt8($0 + 1))) }
    }

    @Test func `everybody reads what was typed, by whatever road it came`() throws {
        for seed in 1...3_000 {
            var history = TextEditorHistoryTests(seed: UInt64(seed))
            try history.run()
        }
    }

    private mutating func run() throws {
        for _ in 0..<Int.random(in: 5...60, using: &generator) {
            let index = Int.random(in: editors.indices, using: &generator)
            let other = Int.random(in: editors.indices, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: deliver(log.count, to: index)
            case 1: try watch(Int.random(in: 0...log.count, using: &generator), by: index)
            case 2: try editors[index].join(editors[other].delta(since: editors[index].document.vector))
            case 3: try editors[index].join(editors[other].delta(since: VersionVector()))
            case 4: try readBack(editors[index].text)
            case _: type(index)
            }
        }
        try compare()
    }

    /// Bursts of typing and deleting, committed as one change.
    private mutating func type(_ index: Int) {
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let count = editors[index].text.count
            if count > 0, generator.chance(33) {
                let start = Int.random(in: 0..<count, using: &generator)
                editors[index].remove(
                    start..<start + Int.random(in: 1...Swift.min(count - start, 5), using: &generator))
                continue
            }
            let word = words.randomElement(using: &generator)!
            var offset = Int.random(in: 0...count, using: &generator)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                editors[index].insert(word, at: offset)
                offset += word.unicodeScalars.count
            }
            // Backspace.
            if generator.chance(30) { editors[index].remove(offset - 1..<offset) }
        }
        guard let change = editors[index].commit(wallMilliseconds: 1) else { return }
        log.append(change)
        #expect((try? Change(canonicalBytes: change.canonicalBytes)) == change, "seed \(seed)")
    }

    /// Changes that are held, or whose context is not, are for the document to ignore or refuse.
    private mutating func deliver(_ count: Int, to index: Int) {
        for change in log.prefix(count) { try? editors[index].apply(change) }
    }

    /// An open window that only follows the edits shows what the text shows.
    private mutating func watch(_ count: Int, by index: Int) throws {
        for change in log.prefix(count) {
            var shown = Array(editors[index].text.string.unicodeScalars)
            let cursor = editors[index].text.cursor(at: shown.count / 2, side: .after)
            guard let edits = try? editors[index].applyShowing(change) else { continue }
            for edit in edits {
                shown.replaceSubrange(
                    edit.offset..<edit.offset + edit.deletedCount, with: Array(edit.inserted.unicodeScalars))
            }
            #expect(shown == Array(editors[index].text.string.unicodeScalars), "seed \(seed)")
            #expect(editors[index].text.offset(of: cursor) != nil, "seed \(seed)")
        }
    }

    private func readBack(_ text: ReplicatedText) throws {
        let bytes = text.canonicalBytes
        let read = try ReplicatedText(canonicalBytes: bytes)
        #expect(read == text && read.string == text.string && read.canonicalBytes == bytes, "seed \(seed)")
        #expect(try ReplicatedText(ownBytes: bytes) == text, "seed \(seed)")
    }

    private mutating func compare() throws {
        var applying = Text(replica: .author(99))
        for change in log { try applying.apply(change) }
        let scalars = Array(applying.value.string.unicodeScalars)
        for index in editors.indices {
            deliver(log.count, to: index)
            let text = editors[index].text
            #expect(Array(text.string.unicodeScalars) == scalars, "seed \(seed)")
            #expect(text.canonicalBytes == applying.value.canonicalBytes, "seed \(seed)")
            try readBack(text)
            try checkUnits(text)
        }
    }

    /// Offsets of every kind, against a walk over the string.
    private func checkUnits(_ text: ReplicatedText) throws {
        let string = text.string
        var (utf8, utf16) = (0, 0)
        for (offset, scalar) in string.unicodeScalars.enumerated() {
            #expect(text[offset] == scalar)
            #expect(text.utf8Offset(of: offset) == utf8 && text.offset(utf8: utf8) == offset, "seed \(seed)")
            #expect(text.utf16Offset(of: offset) == utf16 && text.offset(utf16: utf16) == offset, "seed \(seed)")
            let widths = (String(scalar).utf8.count, String(scalar).utf16.count)
            if widths.0 > 1 { #expect(text.offset(utf8: utf8 + 1) == nil, "seed \(seed)") }
            if widths.1 > 1 { #expect(text.offset(utf16: utf16 + 1) == nil, "seed \(seed)") }
            utf8 += widths.0
            utf16 += widths.1
        }
        #expect(text.offset(utf8: utf8) == text.count && text.offset(utf8: utf8 + 1) == nil, "seed \(seed)")
        #expect(text.offset(utf16: -1) == nil && text.offset(utf16: utf16 + 1) == nil, "seed \(seed)")
        for (character, index) in string.indices.enumerated() {
            let offset = string.unicodeScalars.distance(from: string.startIndex, to: index)
            #expect(text.characterOffset(of: offset) == character, "seed \(seed)")
            #expect(text.offset(ofCharacter: character) == offset, "seed \(seed)")
        }
        var end = 0
        for span in text.spans {
            #expect(span.range.lowerBound == end, "seed \(seed)")
            end = span.range.upperBound
        }
        #expect(end == text.count, "seed \(seed)")
    }
}
