import SyncModel
import Testing

/// What only a broken or dishonest peer sends: refused, or taken without harm.
@Suite struct TextForgeryTests {
    /// A part of a text as bytes: no creation, these replicas, these columns.
    private func part(_ replicas: [UInt8], _ columns: [UInt8]) -> [UInt8] {
        var writer = StateWriter()
        writer.append(varint: 0)
        writer.append(varint: UInt64(replicas.count))
        for replica in replicas { writer.append(.author(replica)) }
        writer.append(varint: UInt64(columns.count))
        return writer.bytes + columns
    }

    @Test func `what lives at the end of all counters is refused`() {
        var writer = StateWriter([1, 0, 2, 0])
        writer.append(varint: 1 << 62)
        #expect(throws: CodecError.self) {
            try TextContents(canonicalBytes: part([1], writer.bytes + [1, 0, 0, 0]))
        }
    }

    @Test func `an operation of few bytes makes nobody reserve much`() {
        func revision(gone: UInt64) -> [UInt8] {
            var writer = StateWriter([3, 0])
            writer.append(varint: gone << 3 | 2)
            writer.bytes += [1, 1]
            writer.append(varint: gone - 1)
            return writer.bytes + [1, 97, 0]
        }
        #expect(throws: Never.self) { try ReplicatedText.Operation(canonicalBytes: revision(gone: 272)) }
        #expect(throws: CodecError.self) { try ReplicatedText.Operation(canonicalBytes: revision(gone: 273)) }
        #expect(throws: CodecError.self) { try ReplicatedText.Operation(canonicalBytes: revision(gone: 1 << 40)) }
    }

    @Test func `a revision that claims to name others names some`() {
        // One run of "a" behind an own scalar; then the same under a flag that says that names follow.
        #expect(throws: Never.self) { try ReplicatedText.Operation(canonicalBytes: [3, 0, 4, 2, 0, 1, 97, 0]) }
        #expect(throws: CodecError.self) { try ReplicatedText.Operation(canonicalBytes: [3, 1, 4, 0, 2, 0, 1, 97, 0]) }
    }

    @Test func `a scalar of these columns is named by its number, not as one elsewhere`() throws {
        func columns(_ parent: [UInt8]) -> [UInt8] {
            [1, 1, 0, 1] + parent + [1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 2, 0, 97, 98]
        }
        #expect(throws: Never.self) { try TextContents(canonicalBytes: part([1, 2], columns([5]))) }
        #expect(throws: CodecError.self) { try TextContents(canonicalBytes: part([1, 2], columns([4, 0]))) }
    }

    @Test func `a delta that gives a replica letters which it never wrote does not spoil what it writes`() throws {
        var first = TextEditor(replica: .author(1))
        first.insert("abcd", at: 0)
        _ = first.commit(wallMilliseconds: 1)
        var second = TextEditor(replica: .author(2))
        try second.join(first.delta(since: VersionVector()))
        second.insert("z", at: 4)
        _ = second.commit(wallMilliseconds: 1)
        let contents = try TextContents(canonicalBytes: second.text.delta(since: VersionVector()).canonicalBytes)
        // The first replica's store was lost, and somebody answers with letters that its vector does not know of.
        let claimed = VersionVector([.init(replica: .author(2), next: 1)])
        var restored = ReplicatedText()
        restored.join(contents, held: VersionVector(), theirs: claimed)
        let typed = try #require(restored.operation(inserting: "q", at: 0, by: .author(1)))
        let origin = Origin(dot: Dot(replica: .author(1), counter: 0), stamp: .zero, context: claimed)
        restored.apply(typed, at: origin)
        #expect(restored.string == "q")
        #expect(try ReplicatedText(canonicalBytes: restored.canonicalBytes) == restored)
    }

    @Test func `who goes on with another's document types as himself`() throws {
        var one = TextEditor(replica: .author(1))
        one.insert("x", at: 0)
        let written = one.commit(wallMilliseconds: 1)
        let change = try #require(written)
        var two = TextEditor(one.document.forked(as: .author(2)))
        one = TextEditor(replica: .author(9))
        #expect(try two.applyShowing(change).isEmpty)
        two.insert("y", at: 1)
        let typed = two.commit(wallMilliseconds: 2)
        var other = TextEditor(replica: .author(3))
        try other.apply(change)
        try other.apply(try #require(typed))
        #expect(other.text == two.text && two.text.spans.last?.first == Dot(replica: .author(2), counter: 0))
    }

    @Test func `a part does not open as a text`() {
        var editor = TextEditor(replica: .author(1))
        editor.insert("ab", at: 0)
        _ = editor.commit(wallMilliseconds: 1)
        let vector = editor.document.vector
        editor.insert("x", at: 1)
        _ = editor.commit(wallMilliseconds: 2)
        #expect(ReplicatedText(opening: editor.text.delta(since: vector)) == nil)
    }
}
