import SyncModel
import Testing

@Suite struct TextEditorTests {
    private func commit(_ editor: inout TextEditor) throws -> DocumentChange<ReplicatedText.Operation> {
        let change = editor.commit(wallMilliseconds: 1)
        return try #require(change)
    }

    @Test func `a session of typing is one operation, and what was deleted in it again has no text there`() throws {
        var editor = TextEditor(replica: .author(1))
        for (offset, letter) in "Hello, world".unicodeScalars.enumerated() { editor.insert(letter, at: offset) }
        for offset in (7..<12).reversed() { editor.remove(offset..<offset + 1) }
        for (offset, letter) in "you".enumerated() { editor.insert(String(letter), at: 7 + offset) }
        #expect(editor.text.string == "Hello, you")
        let change = try commit(&editor)
        guard case .revise(let revision) = try #require(change.operations.first) else {
            Issue.record("typed and deleted is a revision")
            return
        }
        #expect(change.operations.count == 1 && change.count == 12 + 3)
        #expect(revision.text == "Hello, you" && revision.gone == [7..<12] && revision.deleted.isEmpty)
        #expect(editor.commit(wallMilliseconds: 2) == nil)
        var other = TextEditor(replica: .author(2))
        try other.apply(change)
        #expect(other.text == editor.text && other.text.string == "Hello, you")
    }

    @Test func `a keystroke, and a stretch deleted, are operations of a few bytes`() throws {
        var editor = TextEditor(replica: .author(1))
        editor.insert("Hello", at: 0)
        #expect(try commit(&editor).operations == [.insert(.after(nil, .inherited), "Hello")])
        editor.remove(1..<3)
        #expect(try commit(&editor).operations == [.delete([DotRange(first: .own(1), count: 2)])])
        editor.insert("a", at: 1)
        let change = try commit(&editor)
        #expect(change.start.counter == 7 && change.operations == [.insert(.before(.own(1)), "a")])
    }

    @Test func `who types much and keeps little ships it as it was typed`() throws {
        var editor = TextEditor(replica: .author(1))
        editor.insert(String(repeating: "x", count: 2_000), at: 0)
        editor.remove(1..<2_000)
        let change = try commit(&editor)
        #expect(change.operations.count == 2 && change.count == 2_000 + 1_999)
        editor.insert("y", at: 1)
        var other = TextEditor(replica: .author(2))
        try other.apply(change)
        try other.apply(try commit(&editor))
        #expect(other.text == editor.text && other.text.string == "xy")
    }

    @Test func `typing goes on behind what somebody else typed`() throws {
        var one = TextEditor(replica: .author(1))
        one.insert("ab", at: 0)
        var two = TextEditor(replica: .author(2))
        try two.apply(try commit(&one))
        two.insert("c", at: 2)
        two.insert("d", at: 3)
        try one.apply(try commit(&two))
        one.insert("e", at: 4)
        try two.apply(try commit(&one))
        #expect(one.text.string == "abcde" && two.text == one.text)
        #expect(one.text.spans.map(\.range) == [0..<2, 2..<4, 4..<5])
    }

    @Test func `a copy of an editor is another text from then on`() throws {
        var editor = TextEditor(replica: .author(1))
        editor.insert("ab", at: 0)
        let before = editor.text
        var copy = editor
        editor.insert("c", at: 2)
        copy.insert("x", at: 2)
        editor.insert("d", at: 3)
        #expect(before.string == "ab" && editor.text.string == "abcd" && copy.text.string == "abx")
    }

    @Test func `a long text is typed, cut and read over the borders of its pages and items`() {
        var editor = TextEditor(replica: .author(1))
        var expected: [Unicode.Scalar] = []
        let long = String(repeating: "0123456789", count: 3_000)
        editor.insert(long, at: 0)
        expected += Array(long.unicodeScalars)
        for step in 0..<400 {
            let offset = (step * 7_919) % expected.count
            if step % 3 == 0 {
                let end = Swift.min(expected.count, offset + 1 + step % 50)
                editor.remove(offset..<end)
                expected.removeSubrange(offset..<end)
            } else {
                let word = step % 5 == 0 ? "é😀" : "word"
                editor.insert(word, at: offset)
                expected.insert(contentsOf: word.unicodeScalars, at: offset)
            }
        }
        #expect(Array(editor.text.string.unicodeScalars) == expected)
        #expect(Array(editor.text.string(in: 1_000..<20_000).unicodeScalars) == Array(expected[1_000..<20_000]))
    }

    @Test func `what hangs far behind in a text of another replica is read back`() throws {
        var writer = TextEditor(replica: .author(9))
        writer.insert(String(repeating: "0123456789", count: 10_000), at: 0)
        _ = writer.commit(wallMilliseconds: 1)
        // A lesser replica comes first in the bytes, and names scalars that come long after.
        var other = TextEditor(writer.document.forked(as: .author(1)))
        for offset in stride(from: 1_000, to: 100_000, by: 9_000) { other.insert("é", at: offset) }
        _ = other.commit(wallMilliseconds: 2)
        let text = other.text
        var read = try ReplicatedText(canonicalBytes: text.canonicalBytes)
        #expect(read == text && read.string == text.string)
        let origin = Origin(
            dot: Dot(replica: .author(2), counter: 0), stamp: .zero, context: other.document.vector)
        read.apply(try #require(read.operation(inserting: "x", at: 99_000, by: .author(2))), at: origin)
        var applied = text
        applied.apply(try #require(text.operation(inserting: "x", at: 99_000, by: .author(2))), at: origin)
        #expect(read == applied && read.string == applied.string)
    }

    @Test func `a change in one line of a long text touches that line only`() throws {
        let lines = (0..<2_000).map { "line \($0) of a long text that somebody keeps\n" }
        var changed = lines
        changed[1_500] = "line 1500 of a long text that nobody keeps\n"
        changed.remove(at: 300)
        changed.insert("new\n", at: 20)
        var editor = TextEditor(replica: .author(1))
        editor.insert(lines.joined(), at: 0)
        _ = editor.commit(wallMilliseconds: 1)
        var document = editor.document
        let change = document.edit(wallMilliseconds: 2) { $0.set(changed.joined()) }
        #expect(document.value.string == changed.joined())
        #expect(try #require(change).count < 80)
    }

    @Test func `texts without a line in common are replaced, in bounded time`() throws {
        var document = Document<ReplicatedText>(replica: .author(1))
        let one = (0..<30_000).map { "a\($0)\n" }.joined()
        let other = (0..<30_000).map { "b\($0 * 7)\n" }.joined()
        document.edit(wallMilliseconds: 1) { $0.set(one) }
        document.edit(wallMilliseconds: 2) { $0.set(other) }
        #expect(document.value.string == other)
    }

    @Test func `bytes of a part of a text are no text, and those of another are refused whole`() throws {
        var editor = TextEditor(replica: .author(1))
        editor.insert("abc", at: 0)
        _ = editor.commit(wallMilliseconds: 1)
        let vector = editor.document.vector
        editor.insert("def", at: 3)
        _ = editor.commit(wallMilliseconds: 2)
        let part = editor.document.value.delta(since: vector).canonicalBytes
        #expect(throws: CodecError.self) { try ReplicatedText(canonicalBytes: part) }
        var empty = ReplicatedText()
        empty.join(try TextContents(canonicalBytes: part), held: VersionVector(), theirs: editor.document.vector)
        #expect(empty.string.isEmpty)
    }
}
