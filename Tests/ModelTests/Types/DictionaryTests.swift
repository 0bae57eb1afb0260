import SyncModel
import Testing

@Suite struct DictionaryTests {
    private typealias Settings = Document<ReplicatedDictionary<ExactString, ReplicatedRegister<Int>>>
    private typealias Shelf = Document<
        ReplicatedDictionary<ExactString, ReplicatedDictionary<ExactString, ReplicatedRegister<Int>>>
    >

    @Test func `keys set apart are all there`() {
        var anna = Settings(replica: People.anna)
        var ben = Settings(replica: People.ben)
        anna.write { $0["volume"].set(7) }
        ben.write { $0["balance"].set(-1) }
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(anna.value.keys == ["balance", "volume"])
        #expect(anna.value.map(\.value.value) == [-1, 7])
    }

    @Test func `removing a key removes what was seen below; an edit made apart survives`() {
        var anna = Shelf(replica: People.anna)
        anna.write { draft in
            draft["top"]["books"].set(10)
            draft["top"]["vases"].set(2)
        }
        var ben = anna.forked(as: People.ben)
        anna.write { $0.removeValue(forKey: "top") }
        ben.write { $0["top"]["cups"].set(4) }
        #expect(anna.value.isEmpty)
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(anna.value["top"]?.keys == ["cups"])
    }

    @Test func `a delta brings what is new and takes away what is gone, as the whole state does`() throws {
        var anna = Settings(replica: People.anna)
        anna.write { draft in for number in 0..<50 { draft[ExactString("k\(number)")].set(number) } }
        var ben = anna.forked(as: People.ben)
        anna.write { draft in
            draft["k7"].set(70)
            draft.removeValue(forKey: "k8")
        }
        ben.write { $0["mine"].set(1) }
        var merged = ben
        merged.merge(anna)
        try ben.join(anna.delta(since: ben.vector.intersection(anna.vector)))
        #expect(ben == merged)
        #expect(ben.value.count == 50)
        #expect(ben.value["k7"]?.value == 70)
    }

    @Test func `a delta for somebody who holds more is refused`() {
        var anna = Settings(replica: People.anna)
        anna.write { $0["a"].set(1) }
        var ben = Settings(replica: People.ben)
        let delta = anna.delta(since: anna.vector)
        #expect(throws: DocumentError.missingContext) { try ben.join(delta) }
    }

    @Test func `a change waits for its context`() throws {
        var anna = Settings(replica: People.anna)
        let first = try #require(anna.write { $0["a"].set(1) })
        let second = try #require(anna.write { $0["a"].set(2) })
        var ben = Settings(replica: People.ben)
        #expect(throws: DocumentError.missingContext) { try ben.apply(second) }
        try ben.apply(first)
        try ben.apply(second)
        try ben.apply(first)
        #expect(ben.value == anna.value)
    }

    @Test func `an edit that throws writes nothing`() {
        struct Changed: Error {}
        var anna = Settings(replica: People.anna)
        anna.write { $0["a"].set(1) }
        let before = anna
        #expect(throws: Changed.self) {
            try anna.edit(wallMilliseconds: 5) { draft in
                draft["a"].set(2)
                throw Changed()
            }
        }
        #expect(anna == before)
    }
}

extension VersionVector {
    /// What both hold.
    fileprivate func intersection(_ other: VersionVector) -> VersionVector {
        VersionVector(entries.map { Entry(replica: $0.replica, next: min($0.next, other.next(of: $0.replica))) })
    }
}
