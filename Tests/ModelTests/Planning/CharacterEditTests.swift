import SyncModel
import Testing

/// Edits of a text that would cut what a person sees as one character.
@Suite struct CharacterEditTests {
    /// A letter, a family of five scalars, an accent of two, a flag of two.
    private static let text = "a👩‍👩‍👧e\u{301}🇩🇪"

    private func desk(_ schema: String = #"{"fields":{"t":"text","l":"local"}}"#) throws -> Desk {
        var desk = Desk.among(1, schema: try CollectionSchema(schema))[0]
        try desk.put(#"{"t":"\#(Self.text)","l":"\#(Self.text)"}"#)
        return desk
    }

    private func edit(_ desk: inout Desk, _ edits: [(String, FieldEdit.Action)], keepsCharacters: Bool = true) throws {
        try desk.write(
            .edit(
                Desk.key, edits.map { FieldEdit(path: $0.0.keys, action: $0.1) },
                ObjectWrite.EditOptions(keepsCharacters: keepsCharacters)))
    }

    @Test(arguments: ["t", "l"])
    func `an insertion inside a character is refused with its ends, and the text stays`(field: String) throws {
        var desk = try desk()
        let before = desk.json
        for (offset, start, end) in [(2, 1, 6), (5, 1, 6), (7, 6, 8), (9, 8, 10)] {
            let refusal = ObjectRefusal.insideCharacter(field: field, offset: offset, start: start, end: end)
            #expect(throws: refusal) { try edit(&desk, [(field, .insert(at: offset, "x"))]) }
        }
        #expect(desk.json == before)
        for offset in [10, 8, 6, 1, 0] { try edit(&desk, [(field, .insert(at: offset, "x"))]) }
        #expect(desk.json?[ExactString(field)] == .text("xax👩‍👩‍👧xe\u{301}x🇩🇪x"))
    }

    @Test(arguments: ["t", "l"])
    func `a deletion that takes a part of a character is refused, one of whole characters is done`(field: String) throws
    {
        var desk = try desk()
        let before = desk.json
        for (offset, count, inside, start, end) in [(0, 2, 2, 1, 6), (2, 4, 2, 1, 6), (6, 1, 7, 6, 8), (1, 6, 7, 6, 8)]
        {
            let refusal = ObjectRefusal.insideCharacter(field: field, offset: inside, start: start, end: end)
            #expect(throws: refusal) { try edit(&desk, [(field, .delete(at: offset, count: count))]) }
        }
        #expect(desk.json == before)
        try edit(&desk, [(field, .delete(at: 1, count: 5)), (field, .delete(at: 3, count: 2))])
        #expect(desk.json?[ExactString(field)] == .text("ae\u{301}"))
    }

    @Test func `who says so cuts a character`() throws {
        var desk = try desk()
        try edit(&desk, [("t", .delete(at: 7, count: 1)), ("t", .insert(at: 8, "x"))], keepsCharacters: false)
        let expected = "a👩‍👩‍👧e🇩x🇪"
        #expect(desk.json?["t"] == .text(expected))
    }

    @Test func `each edit is judged by what those before it left`() throws {
        var desk = try desk()
        // Behind the accent's letter, once the accent is taken off with it.
        try edit(
            &desk, [("t", .delete(at: 6, count: 2)), ("t", .insert(at: 6, "o\u{308}")), ("t", .insert(at: 8, "!"))])
        let before = desk.json
        #expect(before?["t"] == .text("a👩‍👩‍👧o\u{308}!🇩🇪"))
        #expect(throws: ObjectRefusal.insideCharacter(field: "t", offset: 1, start: 0, end: 2)) {
            try edit(&desk, [("t", .insert(at: 0, "e\u{301}")), ("t", .insert(at: 1, "x"))])
        }
        #expect(desk.json == before)
    }

    @Test func `what lies outside of the text is refused as that`() throws {
        var desk = try desk()
        let actions: [FieldEdit.Action] = [
            .insert(at: 11, "x"), .insert(at: -1, "x"), .delete(at: 2, count: 9), .delete(at: 2, count: .max),
            .delete(at: -1, count: 1), .delete(at: 10, count: 1),
        ]
        for action in actions {
            for field in ["t", "l"] {
                #expect(throws: ObjectRefusal.indexOutOfRange(field: field, count: 10)) {
                    try edit(&desk, [(field, action)])
                }
            }
        }
    }

    @Test func `lists count elements, and a text of two lives is judged as it is shown`() throws {
        var desks = Desk.among(2, schema: try CollectionSchema(#"{"fields":{"t":"text"}}"#))
        try desks[0].put(#"{"t":"e"}"#)
        try desks[1].put(#"{"t":"\u0301","q":["a","b"]}"#)
        desks[0].hear(desks[1])
        try edit(&desks[0], [("q", .insert(at: 1, "c"))])
        let shown = try #require(desks[0].json?["t"])
        if shown == .text("e\u{301}") {
            #expect(throws: ObjectRefusal.insideCharacter(field: "t", offset: 1, start: 0, end: 2)) {
                try edit(&desks[0], [("t", .insert(at: 1, "x"))])
            }
        } else {
            #expect(shown == .text("\u{301}e"))
            try edit(&desks[0], [("t", .insert(at: 1, "x"))])
        }
    }
}
