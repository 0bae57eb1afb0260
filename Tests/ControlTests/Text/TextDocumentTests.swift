import ControlAPI
import Foundation
import Lanyard
import LanyardTesting
import Testing

/// A page that people type on.
private struct Page: LanyardObject {
    var id = ObjectID()
    var title = ""
    @Text var body = ""
}

/// Documents of real agents.
@Suite(.timeLimit(.minutes(20))) struct TextDocumentTests {
    private static let program = Bundle.main.bundleURL.appending(path: "lanyardd").path

    @Test func `two people on two machines type into one sentence`() async throws {
        let mesh = try await Mesh(2, program: Self.program)
        let page = try await mesh[0].lanyard.save(Page(body: "We meet at ."))
        try await mesh.converged()
        let ada = try await mesh[0].lanyard.textDocument(\Page.body, of: page.id)
        let ben = try await mesh[1].lanyard.textDocument(\Page.body, of: page.id)
        let (adaCaret, benCaret) = (ada.caret(at: 11), ben.caret(at: 0))
        // A letter at a time, each where its person's caret is, while the other's letters come.
        for (own, other) in zip("seven sharp", "Dear all 😀 ") {
            try ada.insert(String(own), at: adaCaret.offset)
            try ben.insert(String(other), at: benCaret.offset)
            _ = try await mesh[0].lanyard.client.version()
        }
        try await ada.saved()
        try await ben.saved()
        for document in [ada, ben] { try await document.reaches("Dear all 😀 We meet at seven sharp.") }
        #expect((adaCaret.offset, benCaret.offset) == (34, 12))
        #expect(try await mesh[0].lanyard.reload(page)?.body == ada.text)
    }

    @Test func `many hands on two machines, one cut off for a while, show one text with every word`() async throws {
        let mesh = try await Mesh(2, program: Self.program)
        let page = try await mesh[0].lanyard.save(Page(body: "|"))
        try await mesh.converged()
        var documents: [TextDocument] = []
        for (index, unit) in [TextUnit.utf16, .utf8, .scalars, .utf16].enumerated() {
            documents.append(
                try await mesh[index % 2].lanyard.textDocument(\Page.body, of: page.id, unit: unit))
        }
        try await mesh.isolate(1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, document) in documents.enumerated() {
                group.addTask {
                    let caret = document.caret(at: index < 2 ? 0 : document.count)
                    for letter in "<word\(index)é>" {
                        try document.insert(String(letter), at: caret.offset)
                        // One answer of the agent, so that letters go out one by one and in runs.
                        if letter == "o" { try await document.saved() }
                    }
                    try await document.saved()
                }
            }
            try await group.waitForAll()
        }
        try await mesh.heal()
        try await mesh.converged()
        let text = try #require(try await mesh[0].lanyard.reload(page)).body
        for index in documents.indices { #expect(text.contains("<word\(index)é>"), "\(text)") }
        for document in documents { try await document.reaches(text) }
    }

    @Test func `a view takes others' edits when it wants them, and its carets stay`() async throws {
        let mesh = try await Mesh(1, program: Self.program)
        let page = try await mesh[0].lanyard.save(Page(body: "one three"))
        let view = try await mesh[0].lanyard.textDocument(\Page.body, of: page.id)
        let other = try await mesh[0].lanyard.textDocument(\Page.body, of: page.id, unit: .scalars)
        var edits = view.remoteEdits.makeAsyncIterator()
        let caret = view.caret(at: 4)
        let selection = view.selection(4..<9)
        try other.insert("two 😀 ", at: 4)
        try await other.saved()
        #expect(view.text == "one three", "not before it is taken")
        try view.insert("!", at: 9)
        var shown = "one three!"
        while shown != "one two 😀 three!" {
            for step in try await edits.next() ?? [] {
                #expect(step == TextSplice(offset: 4, deleted: 0, inserted: "two 😀 "))
                let index = shown.utf16.index(shown.startIndex, offsetBy: step.offset)
                shown.insert(contentsOf: step.inserted, at: index)
            }
        }
        #expect(view.text == shown)
        #expect(caret.offset == 4)
        #expect((selection.start.offset, selection.end.offset) == (11, 16), "what is selected is still \"three\"")
        try await view.saved()
        try await other.reaches(shown)
        try view.set("one two three!")
        try await view.saved()
        #expect(try await mesh[0].lanyard.reload(page)?.body == "one two three!")
    }

    @Test func `what is typed while the agent is away is there afterwards, once`() async throws {
        let mesh = try await Mesh(1, program: Self.program)
        let page = try await mesh[0].lanyard.save(Page(body: "-"))
        let document = try await mesh[0].lanyard.textDocument(\Page.body, of: page.id)
        for round in 0..<3 {
            for letter in "abc" { try document.insert(String(letter), at: document.count) }
            mesh.crash(0)
            for letter in "def" { try document.insert(String(letter), at: document.count) }
            try await mesh.restart(0)
            try await document.saved()
            let expected = "-" + String(repeating: "abcdef", count: round + 1)
            #expect(document.text == expected)
            #expect(try await mesh[0].lanyard.reload(page)?.body == expected)
        }
    }

    @Test func `what is typed and deleted while the agent is away needs no saving`() async throws {
        let mesh = try await Mesh(1, program: Self.program)
        let page = try await mesh[0].lanyard.save(Page(body: "-"))
        let document = try await mesh[0].lanyard.textDocument(\Page.body, of: page.id)
        mesh.crash(0)
        // What is typed before the loss is known is sent.
        for await connection in mesh[0].lanyard.connection.states where connection != .connected { break }
        try document.insert("a", at: 1)
        async let saving: Void = document.saved()
        try document.delete(1..<2)
        try await saving
        #expect(document.text == "-")
    }

    @Test func `typing in one go is one change, not one for each letter`() async throws {
        let mesh = try await Mesh(1, program: Self.program)
        let page = try await mesh[0].lanyard.save(Page(body: ""))
        let before = try await mesh[0].lanyard.client.status().spaces[0].changes
        do {
            let document = try await mesh[0].lanyard.textDocument(\Page.body, of: page.id)
            for letter in String(repeating: "typing ", count: 30) {
                try document.insert(String(letter), at: document.count)
            }
            // Dropped here: what was typed is written all the same.
        }
        let object = mesh[0].lanyard.query(Page.self)
        for try await pages in object.live() where pages.first?.body.count == 210 { break }
        let changes = try await mesh[0].lanyard.client.status().spaces[0].changes - before
        #expect(changes >= 1 && changes < 100, "\(changes) changes for 210 letters")
    }

    @Test func `a long text that is pasted goes in several requests`() async throws {
        let mesh = try await Mesh(1, program: Self.program)
        let page = try await mesh[0].lanyard.save(Page(body: "[]"))
        let document = try await mesh[0].lanyard.textDocument(\Page.body, of: page.id)
        let pasted = String(repeating: "\u{1}é漢😀 pasted, ", count: 60_000)
        try document.insert(pasted, at: 1)
        try document.insert("behind", at: document.count - 1)
        try await document.saved()
        #expect(document.text == "[\(pasted)behind]")
        #expect(try await mesh[0].lanyard.reload(page)?.body == document.text)
    }

    @Test func `places outside of the text, and inside of a character, are refused`() async throws {
        let mesh = try await Mesh(1, program: Self.program)
        let page = try await mesh[0].lanyard.save(Page(body: "a😀"))
        let document = try await mesh[0].lanyard.textDocument(\Page.body, of: page.id)
        #expect(throws: ControlError.self) { try document.insert("x", at: 4) }
        let inside = #expect(throws: ControlError.self) { try document.delete(1..<2) }
        #expect(inside?.code == .insideCharacter)
        #expect(document.text == "a😀")
        let missing = await #expect(throws: ControlError.self) {
            _ = try await mesh[0].lanyard.textDocument(\Page.body, of: "nowhere")
        }
        #expect(missing?.code == .notFound)
        let title = await #expect(throws: ControlError.self) {
            _ = try await mesh[0].lanyard.textDocument(\Page.title, of: page.id)
        }
        #expect(title?.code == .typeMismatch)
    }

    @Test func `a deleted object ends its documents with an error`() async throws {
        let mesh = try await Mesh(1, program: Self.program)
        let page = try await mesh[0].lanyard.save(Page(body: "gone soon"))
        let document = try await mesh[0].lanyard.textDocument(\Page.body, of: page.id)
        try await mesh[0].lanyard.delete(page)
        let error = await #expect(throws: ControlError.self) {
            for try await _ in document.remoteEdits {}
        }
        #expect(error?.code == .notFound)
        #expect(throws: ControlError.self) { try document.insert("x", at: 0) }
        #expect(document.text == "gone soon")
    }
}

extension TextDocument {
    /// Returns when the text is this one.
    fileprivate func reaches(_ expected: String) async throws {
        let limit = Task {
            try await ContinuousClock().sleep(until: .now + .seconds(300))
            Issue.record("the text is still: \(self.text)")
            return
        }
        let reading = Task {
            var edits = self.remoteEdits.makeAsyncIterator()
            _ = self.takeRemoteEdits()
            while self.text != expected, try await edits.next() != nil {}
        }
        let watch = Task {
            _ = await limit.result
            reading.cancel()
        }
        try await reading.value
        limit.cancel()
        watch.cancel()
        #expect(text == expected)
    }
}
