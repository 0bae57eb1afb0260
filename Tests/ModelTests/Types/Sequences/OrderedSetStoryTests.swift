import SyncModel
import Testing

@Suite struct OrderedSetStoryTests {
    private typealias Tags = Document<ReplicatedOrderedSet<ExactString>>

    private func tags() -> [Tags] {
        var documents = Tags.documents(3)
        documents[0].write { $0.append(contentsOf: ["a", "b", "c"]) }
        meet(&documents)
        return documents
    }

    @Test func `a value inserted apart appears once`() {
        var documents = tags()
        documents[0].write { $0.insert("x", at: 0) }
        documents[1].write { $0.append("x") }
        documents[2].write { $0.insert("x", at: 1) }
        meet(&documents)
        for document in documents { #expect(Array(document.value) == ["a", "x", "b", "c"]) }
        documents[0].write { $0.move(from: 1, to: 3) }
        meet(&documents)
        for document in documents { #expect(Array(document.value) == ["a", "b", "c", "x"]) }
    }

    @Test func `of a removal and an insertion made apart the insertion survives, of a removal and a move the removal`()
    {
        var documents = tags()
        documents[0].write { $0.remove("b") }
        documents[1].write { draft in
            draft.remove("b")
            draft.insert("b", at: 0)
            draft.move(from: 2, to: 0)
        }
        documents[2].write { $0.move(from: 1, to: 2) }
        documents[0].merge(documents[2])
        #expect(Array(documents[0].value) == ["a", "c"])
        meet(&documents)
        for document in documents {
            #expect(document.value.contains("b"))
            #expect(document.value.count == 3)
            #expect(document.value == documents[0].value)
        }
    }

    @Test func `a value is found by hash, and inserted only when it is not there`() {
        var document = tags()[0]
        #expect(document.value.contains("b") && document.value.firstIndex(of: "b") == 1)
        #expect(!document.value.contains("x") && document.value.firstIndex(of: "x") == nil)
        let written1 = document.write { $0.insert("b", at: 0) }
        #expect(written1 == nil)
        let written2 = document.write { $0.remove("x") }
        #expect(written2 == nil)
        document.write { $0.append(contentsOf: ["b", "x", "x", "y"]) }
        #expect(Array(document.value) == ["a", "b", "c", "x", "y"])
        document.write { $0.remove(at: 0) }
        document.write { $0.insert("a", at: 2) }
        #expect(Array(document.value) == ["b", "c", "a", "x", "y"])
    }

    @Test func `removing the set above keeps what was inserted apart`() {
        var documents = Document<ReplicatedDictionary<ExactString, ReplicatedOrderedSet<ExactString>>>.documents(2)
        documents[0].write { $0["x"].append(contentsOf: ["a", "b"]) }
        meet(&documents)
        documents[0].write { $0.removeValue(forKey: "x") }
        documents[1].write { draft in
            draft["x"].insert("c", at: 0)
            draft["x"].move(from: 2, to: 0)
        }
        meet(&documents)
        for document in documents { #expect(document.value["x"].map(Array.init) == ["c"]) }
    }
}
