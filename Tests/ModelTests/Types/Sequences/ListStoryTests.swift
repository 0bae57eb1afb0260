import SyncModel
import Testing

@Suite struct ListStoryTests {
    private typealias Words = Document<ReplicatedList<ReplicatedRegister<ExactString>>>

    private func words(_ document: Words) -> [ExactString] { document.value.compactMap(\.value) }

    private func shopping() -> [Words] {
        var documents = Words.documents(3)
        documents[0].write { $0.append(contentsOf: ["milk", "bread", "eggs", "tea"]) }
        meet(&documents)
        return documents
    }

    @Test func `an element moved on both sides appears once`() {
        var documents = shopping()
        documents[0].write { $0.move(from: 3, to: 0) }
        documents[1].write { $0.move(from: 3, to: 1) }
        #expect(words(documents[0]) == ["tea", "milk", "bread", "eggs"])
        #expect(words(documents[1]) == ["milk", "tea", "bread", "eggs"])
        meet(&documents)
        // Of equal stamps the greater replica's.
        for document in documents { #expect(words(document) == ["milk", "tea", "bread", "eggs"]) }
        documents[0].write { $0.move(from: 1, to: 3) }
        meet(&documents)
        for document in documents { #expect(words(document) == ["milk", "bread", "eggs", "tea"]) }
    }

    @Test func `an element deleted on one side and edited on the other stays, edited`() {
        var documents = shopping()
        documents[0].write { $0.remove(at: 1) }
        documents[1].write { $0[1].set("rye bread") }
        meet(&documents)
        for document in documents { #expect(words(document) == ["milk", "rye bread", "eggs", "tea"]) }
        #expect(documents[0].value == documents[1].value)
    }

    @Test func `an element deleted on one side and moved on the other is gone`() {
        var documents = shopping()
        documents[0].write { $0.remove(at: 1) }
        documents[1].write { $0.move(from: 1, to: 3) }
        meet(&documents)
        for document in documents { #expect(words(document) == ["milk", "eggs", "tea"]) }
    }

    @Test func `deleted here, moved there, edited elsewhere: it stays where it was moved`() {
        var documents = shopping()
        documents[0].write { $0.remove(at: 0) }
        documents[1].write { $0.move(from: 0, to: 3) }
        documents[0].merge(documents[1])
        documents[2].write { $0[0].set("oat milk") }
        #expect(words(documents[0]) == ["bread", "eggs", "tea"])
        meet(&documents)
        for document in documents { #expect(words(document) == ["bread", "eggs", "tea", "oat milk"]) }
    }

    @Test func `the value of a deleted element travels, for an edit made apart may keep it`() throws {
        typealias Tasks = Document<ReplicatedList<ReplicatedDictionary<ExactString, ReplicatedRegister<Int>>>>
        var documents = Tasks.documents(3)
        documents[0].write { draft in
            let task = draft.insert(.update("a", .set(1)), at: 0)
            task["b"].set(2)
        }
        documents[1].merge(documents[0])
        documents[0].write { $0.remove(at: 0) }
        // The third learns of the element when it is dead already.
        try documents[2].join(documents[0].delta(since: VersionVector()))
        #expect(documents[2].value.isEmpty)
        let written = documents[1].write { $0[0]["c"].set(3) }
        let edit = try #require(written)
        try documents[2].apply(edit)
        #expect(documents[2].value[0].map(\.value.value) == [1, 2, 3])
        meet(&documents)
        #expect(documents[0].value == documents[2].value)
        #expect(documents[1].value == documents[2].value)
    }

    @Test func `runs inserted apart at one place stay together`() {
        var documents = shopping()
        for (index, letter) in ["a", "b", "c"].enumerated() {
            documents[index].write { $0.insert(contentsOf: (1...3).map { ExactString("\(letter)\($0)") }, at: 2) }
        }
        meet(&documents)
        let expected: [ExactString] = [
            "milk", "bread", "a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3", "eggs", "tea",
        ]
        for document in documents { #expect(words(document) == expected) }
    }

    @Test func `removing the list above keeps the elements that were edited or inserted apart`() {
        typealias Lists = Document<ReplicatedDictionary<ExactString, ReplicatedList<ReplicatedRegister<ExactString>>>>
        var documents = Lists.documents(2)
        documents[0].write { $0["x"].append(contentsOf: ["a", "b", "c"]) }
        meet(&documents)
        documents[0].write { $0.removeValue(forKey: "x") }
        documents[1].write { draft in
            draft["x"][1].set("B")
            draft["x"].append("d")
            draft["x"].move(from: 0, to: 2)
        }
        #expect(documents[0].value["x"] == nil)
        meet(&documents)
        for document in documents { #expect(document.value["x"]?.compactMap(\.value) == ["B", "d"]) }
        #expect(documents[0].value == documents[1].value)
    }

    @Test func `a created list is there while it is empty`() {
        var documents = Words.documents(2)
        #expect(!documents[0].value.isLive)
        documents[0].write { $0.create() }
        #expect(documents[0].value.isLive && documents[0].value.isEmpty)
        let written1 = documents[0].write { $0.create() }
        #expect(written1 == nil)
    }

    @Test func `what names no element that its author saw is void`() {
        var documents = shopping()
        let before = documents[0].value
        let origin = Origin(
            dot: Dot(replica: .author(9), counter: 0), stamp: .zero, context: documents[0].vector)
        let blind = Origin(dot: origin.dot, stamp: .zero, context: VersionVector())
        let element = DotReference.other(before.identity(at: 0))
        let place = Placement.after(nil, .end)
        var value = before
        value.apply(.edit(element, .set("x")), at: blind)
        value.apply(.move(element, place), at: blind)
        value.apply(.delete([DotRange(first: element, count: .max)]), at: blind)
        value.apply(.insert(.before(element), [.set("x")]), at: blind)
        value.apply(.edit(.own(0), .set("x")), at: origin)
        value.apply(.move(.other(Dot(replica: .author(1), counter: 77)), place), at: origin)
        value.apply(.insert(place, []), at: origin)
        value.apply(.delete([]), at: origin)
        #expect(value == before)
        value.apply(.delete([DotRange(first: element, count: .max)]), at: origin)
        #expect(value.isEmpty)
        // A node that a move made is no element.
        documents[0].write { $0.move(from: 0, to: 2) }
        let moved = documents[0].value
        let dot = Dot(replica: .author(1), counter: documents[0].vector.next(of: .author(1)) - 1)
        value = moved
        value.apply(
            .edit(.other(dot), .set("x")), at: Origin(dot: origin.dot, stamp: .zero, context: documents[0].vector))
        #expect(value == moved)
    }

    @Test func `an element whose value spans several counters is followed by the next all the same`() throws {
        var documents = Document<ReplicatedList<ReplicatedText>>.documents(2)
        documents[0].write { draft in
            draft.record(
                .insert(
                    .after(nil, .end),
                    ["one", "2", "three", "4"].map { .insert(.after(nil, .end), ExactString($0)) }))
        }
        #expect(documents[0].value.map(\.string) == ["one", "2", "three", "4"])
        #expect(documents[0].vector.next(of: .author(1)) == 10)
        documents[1].merge(documents[0])
        documents[1].write { $0[2].append("!") }
        documents[0].write { $0.move(from: 2, to: 0) }
        meet(&documents)
        for document in documents { #expect(document.value.map(\.string) == ["three!", "one", "2", "4"]) }
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func `edits by index do what they do to an array`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var document = Words(replica: .author(1))
        var array: [ExactString] = []
        for step in 0..<60 {
            let word = ExactString("\(step)")
            let index = Int.random(in: 0...array.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where index < array.count:
                let target = Int.random(in: 0..<array.count, using: &generator)
                document.write { $0.move(from: index, to: target) }
                array.insert(array.remove(at: index), at: target)
            case 1 where index < array.count:
                document.write { $0[index].set(word) }
                array[index] = word
            case 2:
                let end = Int.random(in: index...min(array.count, index + 2), using: &generator)
                document.write { $0.removeSubrange(index..<end) }
                array.removeSubrange(index..<end)
            case _:
                let run = (0..<Int.random(in: 1...4, using: &generator)).map { ExactString("\(step).\($0)") }
                document.write { $0.insert(contentsOf: run, at: index) }
                array.insert(contentsOf: run, at: index)
            }
            #expect(words(document) == array)
            #expect(array.indices.allSatisfy { document.value[$0].value == array[$0] })
            #expect(array.indices.allSatisfy { document.value.index(ofElement: document.value.identity(at: $0)) == $0 })
        }
    }
}
