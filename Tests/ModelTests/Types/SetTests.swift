import SyncModel
import Testing

@Suite struct SetTests {
    private typealias Tags = Document<ReplicatedSet<ExactString>>

    @Test func `of an addition and a removal made apart the addition survives`() {
        var anna = Tags(replica: People.anna)
        anna.write { $0.insert("holiday") }
        var ben = anna.forked(as: People.ben)
        anna.write { $0.remove("holiday") }
        ben.write {
            $0.remove("holiday")
            $0.insert("holiday")
        }
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(anna.value.contains("holiday"))
    }

    @Test func `a removal removes the additions its author saw, whoever made them`() throws {
        var anna = Tags(replica: People.anna)
        var ben = Tags(replica: People.ben)
        anna.write { $0.insert("x") }
        let apart = ben.write { $0.insert("x") }
        anna.merge(ben)
        anna.write { $0.remove("x") }
        ben.merge(anna)
        #expect(ben.value.isEmpty)
        // What comes again is known, and brings nothing back.
        try ben.apply(#require(apart))
        #expect(ben.value.isEmpty)
    }

    @Test func `elements come in one order, and twins in another normal form stay two`() {
        var anna = Tags(replica: People.anna)
        anna.write { draft in for tag in ["zoo", "e\u{301}", "\u{e9}", "apple"] { draft.insert(ExactString(tag)) } }
        #expect(anna.value.count == 4)
        #expect(anna.value.map(\.string.unicodeScalars.count) == [5, 2, 3, 1])
        #expect(anna.value.elements.first == "apple")
    }

    @Test func `an empty set that was created is there until its removal`() {
        var anna = Document<ReplicatedDictionary<ExactString, ReplicatedSet<ExactString>>>(replica: People.anna)
        anna.write { $0["tags"].create() }
        #expect(anna.value["tags"]?.isEmpty == true)
        var ben = anna.forked(as: People.ben)
        ben.write { $0.removeValue(forKey: "tags") }
        anna.merge(ben)
        #expect(anna.value["tags"] == nil)
        #expect(anna.value == ReplicatedDictionary())
    }

    @Test func `assigning records the difference only`() {
        var anna = Tags(replica: People.anna)
        anna.write { $0.assign(["a", "b", "c"]) }
        let change = anna.write { $0.assign(["b", "c", "d"]) }
        #expect(change?.operations == [.remove("a"), .add("d")])
    }

    @Test func `a set that only grows is the union`() {
        var anna = Document<AddOnlySet<Int>>(replica: People.anna)
        var ben = Document<AddOnlySet<Int>>(replica: People.ben)
        anna.write { $0.insert(3) }
        ben.write { for number in [1, 2, 3] { $0.insert(number) } }
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(Array(anna.value) == [1, 2, 3])
        #expect(anna.value.dots(of: 3).count == 2)
    }
}
