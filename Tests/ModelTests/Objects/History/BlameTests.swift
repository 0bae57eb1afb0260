import SyncModel
import Testing

/// Who wrote what is shown.
@Suite struct BlameTests {
    private let schema: CollectionSchema

    init() throws {
        schema = try CollectionSchema(
            #"{"fields":{"t":"text","s":"set","k":"counter","l":"list","o":"orderedSet","c":"constant"}}"#)
    }

    private func blame(_ desk: Desk, _ path: String) -> [BlameSpan]? {
        desk.past.blame(desk.object, path.keys, schema)
    }

    /// Each change types a scalar of its own, so each scalar says which change it is of.
    @Test func `every scalar is its author's, and what one change wrote in a row is one span`() throws {
        for seed in UInt64(1)...200 {
            var generator = SeededGenerator(seed: seed)
            var desks = Desk.among(3, schema: schema)
            try desks[0].put(#"{"t":""}"#)
            desks[1].hear(desks[0])
            desks[2].hear(desks[0])
            var authors: [Unicode.Scalar: Dot] = [:]
            for step in 0..<Int.random(in: 5...40, using: &generator) {
                let index = Int.random(in: 0..<3, using: &generator)
                let count = desks[index].object.shownText.count
                if generator.chance(20) {
                    desks[index].hear(desks[Int.random(in: 0..<3, using: &generator)])
                } else if count > 0, generator.chance(30) {
                    let start = Int.random(in: 0..<count, using: &generator)
                    try desks[index].edit("t", .delete(at: start, count: min(2, count - start)))
                } else {
                    let scalar = try #require(Unicode.Scalar(0x4E00 + UInt32(step)))
                    // Often where it typed last, so that runs go on from one change to the next.
                    let offset = generator.chance(60) ? count : Int.random(in: 0...count, using: &generator)
                    let word = String(repeating: String(scalar), count: Int.random(in: 1...4, using: &generator))
                    try desks[index].edit([("t", .insert(at: offset, .text(word))), ("t", .insert(at: 0, .text(word)))])
                    authors[scalar] = desks[index].version
                }
            }
            for index in 1..<3 { desks[0].hear(desks[index]) }
            for index in 1..<3 { desks[index].hear(desks[0]) }
            let spans = try #require(blame(desks[0], "t"))
            try check(spans, desks[0], authors, "seed \(seed)")
            for desk in desks { #expect(blame(desk, "t") == spans, "seed \(seed)") }
        }
    }

    private func check(
        _ spans: [BlameSpan], _ desk: Desk, _ authors: [Unicode.Scalar: Dot], _ comment: Comment
    ) throws {
        let shown = desk.object.shownText
        var read: [Unicode.Scalar] = []
        for span in spans {
            guard case .text(let offset, let text) = span.content else {
                Issue.record("not a part of a text")
                return
            }
            #expect(offset == read.count && span.path == ["t"], comment)
            #expect(text.unicodeScalars.allSatisfy { authors[$0] == span.version }, comment)
            let change = try #require(desk.past.change(of: span.version))
            #expect(span.wallMilliseconds == change.wallMilliseconds, comment)
            read += Array(text.unicodeScalars)
        }
        #expect(read == shown, comment)
        for (one, next) in zip(spans, spans.dropFirst()) { #expect(one.version != next.version, comment) }
    }

    @Test func `a value is its last writer's, everywhere the same`() throws {
        var desks = Desk.among(2, schema: schema)
        try desks[0].put(#"{"r":1,"d":{"x":1,"y":1},"c":7}"#)
        desks[1].hear(desks[0])
        let birth = try #require(desks[0].version)
        try desks[0].put(#"{"r":2}"#)
        try desks[1].put(#"{"r":3,"d":{"x":2}}"#)
        let apart = try desks.map { try #require($0.version) }
        desks[0].hear(desks[1])
        desks[1].hear(desks[0])
        for desk in desks {
            let shown = try #require(blame(desk, "r")?.first)
            #expect(shown.content == .value(try #require(desk.json?["r"])))
            #expect(shown.version == (desk.json?["r"] == 2 ? apart[0] : apart[1]))
            #expect(blame(desk, "d")?.map(\.path) == [["d", "x"], ["d", "y"]])
            #expect(blame(desk, "d")?.map(\.version) == [apart[1], birth])
            #expect(blame(desk, "d/y")?.map(\.version) == [birth])
            #expect(blame(desk, "c")?.map(\.version) == [birth])
            #expect(blame(desk, "none") == nil && blame(desk, "d/z") == nil)
        }
    }

    @Test func `elements are theirs who put them there or edited them last`() throws {
        var desks = Desk.among(2, schema: schema)
        try desks[0].put(#"{"s":[1],"o":["a"],"l":["m",{"n":1},[]],"k":5}"#)
        desks[1].hear(desks[0])
        let birth = try #require(desks[0].version)
        try desks[1].edit([
            ("s", .add(2)), ("o", .insert(at: 0, "b")), ("l/0", .set("M")), ("l/1/p", .set(2)), ("k", .increment(3)),
        ])
        let edit = try #require(desks[1].version)
        desks[0].hear(desks[1])
        func told(_ field: String) -> [Told]? {
            blame(desks[0], field)?.map { Told($0) }
        }
        #expect(told("s") == [Told("s", 1, birth), Told("s", 2, edit)])
        #expect(told("o") == [Told("o", "b", edit), Told("o", "a", birth)])
        #expect(
            told("l") == [
                Told("l/0", "M", edit), Told("l/1/n", 1, birth), Told("l/1/p", 2, edit), Told("l/2", [], birth),
            ])
        #expect(told("k") == [Told("k", 5, birth), Told("k", 3, edit)])
    }

    private struct Told: Equatable {
        let path: [ExactString]
        let content: AuthoredPart.Content
        let version: Dot

        init(_ span: BlameSpan) { (path, content, version) = (span.path, span.content, span.version) }

        init(_ path: String, _ value: JSONValue, _ version: Dot) {
            (self.path, content, self.version) = (path.keys, .value(value), version)
        }
    }

    @Test func `of two lives shown as one each part is its author's`() throws {
        var desks = Desk.among(2, schema: schema)
        try desks[0].put(#"{"t":"one","r":1,"s":[1]}"#)
        try desks[1].put(#"{"t":"two","r":2,"s":[1,2]}"#)
        let births = try desks.map { try #require($0.version) }
        desks[0].hear(desks[1])
        desks[1].hear(desks[0])
        for desk in desks {
            let text = try #require(blame(desk, "t"))
            #expect(Set(text.map(\.version)) == Set(births) && text.count == 2)
            let read = text.map { span in if case .text(_, let text) = span.content { text } else { "" } }
            #expect(.text(read.joined()) == desk.json?["t"])
            let value = try #require(blame(desk, "r")?.first)
            #expect(value.content == .value(try #require(desk.json?["r"])))
            #expect(value.version == births[desk.json?["r"] == 1 ? 0 : 1])
            #expect(blame(desk, "s")?.count == 2)
            #expect(blame(desk, "t") == blame(desks[0], "t") && blame(desk, "r") == blame(desks[0], "r"))
        }
    }

    @Test func `what the log does not hold any more is known by its dot`() throws {
        var desk = Desk.among(1, schema: schema)[0]
        try desk.put(#"{"t":"ab","r":1}"#)
        let spans = try #require(ObjectPast([]).blame(desk.object, ["t"], schema))
        #expect(spans.map(\.wallMilliseconds) == [nil] && spans.first?.version.replica == desk.replica)
        #expect(spans.first?.content == .text(offset: 0, "ab"))
    }
}

extension ObjectState {
    /// The scalars of the field `t`.
    fileprivate var shownText: [Unicode.Scalar] {
        guard case .string(let text)? = shownValue(at: ["t"], nil) else { return [] }
        return Array(text.string.unicodeScalars)
    }
}
