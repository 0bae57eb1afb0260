import SyncModel
import Testing

@Suite struct TextStoryTests {
    private typealias Text = Document<ReplicatedText>

    /// How a word may come to be: each step types one of its letters, given by index, at a place in what there is of it.
    enum Typing: CaseIterable {
        case forward
        case backward
        case fromTheMiddle
        case atOnce
    }

    private func type(_ word: String, _ typing: Typing, at offset: Int, into document: inout Text) {
        let letters = word.map(String.init)
        switch typing {
        case .forward: for index in letters.indices { document.write { $0.insert(letters[index], at: offset + index) } }
        case .backward: for letter in letters.reversed() { document.write { $0.insert(letter, at: offset) } }
        case .fromTheMiddle:
            let middle = letters.count / 2
            for index in middle..<letters.count {
                document.write { $0.insert(letters[index], at: offset + index - middle) }
            }
            for index in (0..<middle).reversed() { document.write { $0.insert(letters[index], at: offset) } }
        case .atOnce: document.write { $0.insert(word, at: offset) }
        }
    }

    @Test(arguments: Typing.allCases, Typing.allCases)
    func `cat and dog typed apart at one place never become cdaotg`(first: Typing, second: Typing) {
        for (before, after) in [("", ""), ("[", "]"), ("[", ""), ("", "]")] {
            var documents = Text.documents(3)
            documents[0].write { $0.insert(before + after, at: 0) }
            meet(&documents)
            type("cat", first, at: before.count, into: &documents[0])
            type("dog", second, at: before.count, into: &documents[1])
            type("emu", .forward, at: before.count, into: &documents[2])
            meet(&documents)
            let text = documents[0].value.string
            #expect(documents.allSatisfy { $0.value.string == text })
            for word in ["cat", "dog", "emu"] { #expect(text.contains(word), "\(text)") }
            #expect(text.hasPrefix(before) && text.hasSuffix(after))
        }
    }

    @Test func `two spelling corrections both survive`() {
        var documents = Text.documents(2)
        documents[0].write { $0.set("The quik brown fox jumps over teh lazy dog.") }
        meet(&documents)
        documents[0].write { $0.set("The quick brown fox jumps over teh lazy dog.") }
        documents[1].write { $0.set("The quik brown fox jumps over the lazy dog.") }
        meet(&documents)
        for document in documents { #expect(document.value.string == "The quick brown fox jumps over the lazy dog.") }
    }

    @Test func `a deletion takes what its author saw, and not what was typed into it apart`() {
        var documents = Text.documents(2)
        documents[0].write { $0.insert("one two three", at: 0) }
        meet(&documents)
        documents[0].write { $0.removeSubrange(3..<13) }
        documents[1].write { $0.insert(" and a half", at: 7) }
        meet(&documents)
        for document in documents { #expect(document.value.string == "one and a half") }
        #expect(documents[0].value == documents[1].value)
    }

    @Test func `removing the text above leaves what was typed apart`() {
        typealias Notes = Document<ReplicatedDictionary<ExactString, ReplicatedText>>
        var documents = Notes.documents(2)
        documents[0].write { $0["body"].insert("old text", at: 0) }
        meet(&documents)
        documents[0].write { $0.removeValue(forKey: "body") }
        documents[1].write { $0["body"].append(", and more") }
        #expect(documents[0].value["body"] == nil)
        meet(&documents)
        for document in documents { #expect(document.value["body"]?.string == ", and more") }
    }

    @Test func `an emptied text stays, one that nobody wrote is not there`() {
        var document = Text(replica: .author(1))
        #expect(!document.value.isLive)
        document.write { $0.set("x") }
        document.write { $0.set("") }
        #expect(document.value.isLive && document.value.isEmpty)
        let written1 = document.write { $0.set("") }
        #expect(written1 == nil)
    }

    @Test func `a cursor stays beside its scalar`() {
        var documents = Text.documents(2)
        documents[0].write { $0.insert("Hello world", at: 0) }
        meet(&documents)
        let before = documents[0].value.cursor(at: 6, side: .before)
        let after = documents[0].value.cursor(at: 6, side: .after)
        let end = documents[0].value.cursor(at: 11, side: .before)
        documents[1].write { $0.insert("dear ", at: 6) }
        meet(&documents)
        #expect(documents[0].value.string == "Hello dear world")
        #expect(documents[0].value.offset(of: before) == 11)
        #expect(documents[0].value.offset(of: after) == 6)
        #expect(documents[0].value.offset(of: end) == 16)
        documents[0].write { $0.removeSubrange(3..<14) }
        #expect(documents[0].value.string == "Helld")
        #expect(documents[0].value.offset(of: before) == 3)
        #expect(documents[0].value.offset(of: after) == 3)
        #expect(
            documents[0].value.offset(of: TextCursor(scalar: Dot(replica: .author(7), counter: 0), side: .after)) == nil
        )
        #expect(documents[0].value.offset(of: TextCursor(scalar: nil, side: .after)) == 0)
    }

    @Test func `a keystroke takes few bytes, a run one entry`() throws {
        var document = Text(replica: .author(1))
        document.write { $0.insert("Hello", at: 0) }
        let typed = document.write { $0.insert("!", at: 5) }
        for operation in try #require(typed).operations {
            #expect(operation.canonicalBytes.count <= 6)
        }
        let deleted = document.write { $0.removeSubrange(2..<4) }
        for operation in try #require(deleted).operations {
            #expect(operation.canonicalBytes.count <= 6)
        }
        let run = String(repeating: "abcdefghij", count: 1_000)
        let pasted = document.write { $0.insert(run, at: 1) }
        let change = try #require(pasted)
        #expect(change.operations.count == 1)
        #expect(change.operations[0].canonicalBytes.count < run.utf8.count + 12)
        #expect(document.value.canonicalBytes.count < run.utf8.count + 120)
    }

    @Test(arguments: 0..<300 as Range<UInt64>) func `setting a text gives that text, by no more than was changed`(
        seed: UInt64
    ) {
        var generator = SeededGenerator(seed: seed)
        let letters = Array("aab cé\u{301}😀")
        func random(_ limit: Int) -> String {
            String(
                (0..<Int.random(in: 0...limit, using: &generator)).map { _ in letters.randomElement(using: &generator)!
                })
        }
        var document = Text(replica: .author(1))
        for _ in 0..<12 {
            var scalars = Array(document.value)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let start = Int.random(in: 0...scalars.count, using: &generator)
                let end = Int.random(in: start...min(scalars.count, start + 6), using: &generator)
                scalars.replaceSubrange(start..<end, with: Array(random(8).unicodeScalars))
            }
            var target = String.UnicodeScalarView()
            target.append(contentsOf: scalars)
            let before = document.value.count
            let change = document.write { $0.set(String(target)) }
            #expect(Array(document.value) == scalars)
            if let change { #expect(change.count <= UInt64(before + scalars.count) + 1) }
        }
    }

    @Test func `texts far apart are replaced in one piece`() {
        var document = Text(replica: .author(1))
        let old = String(repeating: "abcd ", count: 2_000)
        let other = String(repeating: "xyz, ", count: 2_000)
        document.write { $0.set("<" + old + ">") }
        let change = document.write { $0.set("<" + other + ">") }
        #expect(document.value.string == "<" + other + ">")
        #expect(change?.operations.count == 2)
    }
}
