import SyncModel
import Testing

/// A fingerprint that followed a text is that of the text.
struct TextFingerprintTests {
    private static let author = ReplicaID(device: DeviceID(bytes: [UInt8](repeating: 7, count: 32))!, incarnation: 1)

    /// A text that is edited in one place after the other, operation by operation, as objects are.
    private struct Edited {
        var text = ReplicatedText()
        var counter: UInt64 = 0

        mutating func apply(_ operation: ReplicatedText.Operation?) {
            guard let operation else { return }
            let origin = Origin(
                dot: Dot(replica: TextFingerprintTests.author, counter: counter), stamp: Stamp(rawValue: counter + 1),
                context: VersionVector())
            text.apply(operation, at: origin)
            counter += ReplicatedText.span(of: operation)
        }

        mutating func insert(_ string: String, at offset: Int) {
            apply(text.operation(inserting: string, at: offset, by: TextFingerprintTests.author))
        }

        mutating func delete(_ range: Range<Int>) {
            apply(text.operation(deleting: range, by: TextFingerprintTests.author))
        }
    }

    /// What the state digest holds of a text that is looked at as a whole.
    private static func visible(_ string: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(visible: string)
        return bytes
    }

    /// And of one that was asked before, and followed since.
    private static func visible(_ text: ReplicatedText) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(visible: text)
        return bytes
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `it follows every edit`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var edited = Edited()
        // Text that repeats itself, too.
        let (unit, count) = seed % 2 == 0 ? ("a", 80_000) : ("one line é 👩🏽‍🚀\n", 9_000)
        edited.insert(String(repeating: unit, count: count), at: 0)
        #expect(Self.visible(edited.text) == Self.visible(edited.text.string))
        for step in 0..<120 {
            let count = edited.text.count
            let offset = Int.random(in: 0...count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: edited.insert(String(repeating: "xy", count: Int.random(in: 1...9_000, using: &random)), at: offset)
            case 1, 2:
                let length = Int.random(in: 0...min(count - offset, step % 7 == 0 ? 20_000 : 40), using: &random)
                edited.delete(offset..<offset + length)
            case _: edited.insert("\u{0}b👍".randomElement(using: &random).map { String($0) }!, at: offset)
            }
            #expect(Self.visible(edited.text) == Self.visible(edited.text.string), "step \(step)")
        }
        edited.delete(0..<edited.text.count)
        #expect(Self.visible(edited.text) == Self.visible(""))
    }

    /// Without having been asked for in between, so that it has to follow many edits by itself.
    @Test func `it follows many edits in a row, and a copy goes its own way`() {
        var random = SeededGenerator(seed: 5)
        var edited = Edited()
        edited.insert(String(repeating: "0123456789", count: 8_000), at: 0)
        _ = Self.visible(edited.text)
        let copy = edited.text
        for _ in 0..<2_000 {
            let offset = Int.random(in: 0...edited.text.count, using: &random)
            edited.insert("z", at: offset)
            edited.delete(max(0, offset - 2)..<offset)
        }
        #expect(Self.visible(edited.text) == Self.visible(edited.text.string))
        #expect(Self.visible(copy) == Self.visible(copy.string))
        #expect(Self.visible(copy) != Self.visible(edited.text.string))
    }

    @Test func `it follows who types here, and a text that was asked before it had an engine`() throws {
        var editor = TextEditor(replica: Self.author)
        editor.insert(String(repeating: "one line é 👩🏽‍🚀\n", count: 9_000), at: 0)
        _ = editor.commit(wallMilliseconds: 1)
        let bytes = editor.document.canonicalBytes
        var cold = TextEditor(try Document<ReplicatedText>(canonicalBytes: bytes))
        for _ in 0..<2 {
            #expect(Self.visible(cold.text) == Self.visible(cold.text.string))
            for offset in 70_000..<70_100 { cold.insert("x" as Unicode.Scalar, at: offset) }
            cold.remove(70_050..<70_051)
            cold.remove(69_990..<70_050)
            #expect(Self.visible(cold.text) == Self.visible(cold.text.string))
        }
        #expect(Self.visible(editor.text) != Self.visible(cold.text))
    }

    @Test func `what is joined or removed is looked at anew`() throws {
        var edited = Edited()
        edited.insert(String(repeating: "0123456789", count: 7_000), at: 0)
        _ = Self.visible(edited.text)
        var other = edited
        other.insert("more", at: 5)
        edited.text.join(
            other.text.delta(since: VersionVector()), held: VersionVector(),
            theirs: VersionVector([VersionVector.Entry(replica: Self.author, next: other.counter)]))
        #expect(edited.text.string == other.text.string)
        #expect(Self.visible(edited.text) == Self.visible(other.text.string))
        edited.text.remove(
            Removal(),
            at: Origin(
                dot: Dot(replica: Self.author, counter: other.counter), stamp: Stamp(rawValue: other.counter + 1),
                context: VersionVector()))
        #expect(edited.text.isEmpty)
        #expect(Self.visible(edited.text) == Self.visible(""))
    }

    @Test func `what differs in order, in zeros or in length differs`() {
        let texts = ["", "\u{0}", "\u{0}\u{0}", "ab", "ba", "a\u{0}", "\u{0}a"].map {
            $0 + String(repeating: "x", count: 70_000)
        }
        #expect(Set(texts.map { Self.visible($0) }).count == texts.count)
    }

    @Test func `short and long texts show in the digest as they are`() {
        let long = String(repeating: "é", count: TextFingerprint.leastCount)
        let short = String(long.unicodeScalars.dropLast())
        #expect(Self.visible(short).count > short.utf8.count)
        #expect(Self.visible(long).count < 40)
        for string in [short, long, ""] {
            var edited = Edited()
            edited.insert(string, at: 0)
            #expect(Self.visible(edited.text) == Self.visible(string), "the same of a text and of its string")
        }
    }
}
