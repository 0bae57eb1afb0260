import SyncModel
import Testing

@Suite struct CounterTests {
    @Test func `plays counted apart add up`() throws {
        var home = Document<ReplicatedCounter>(replica: People.anna)
        home.write { $0.increment() }
        var phone = home.forked(as: People.ben)
        var laptop = home.forked(as: People.cleo)
        for _ in 0..<10 { phone.write { $0.increment() } }
        let plays = (0..<5).compactMap { _ in laptop.write { $0.increment() } }
        phone.merge(laptop)
        for play in plays + plays { try phone.apply(play) }
        #expect(phone.value.value == 16)
        #expect(phone.value.parts.count == 3)
    }

    @Test func `removing the key above keeps what was added apart`() {
        var anna = Document<ReplicatedDictionary<ExactString, ReplicatedCounter>>(replica: People.anna)
        anna.write { $0["song"].increment(by: 7) }
        var ben = anna.forked(as: People.ben)
        anna.write { $0.removeValue(forKey: "song") }
        ben.write { $0["song"].increment(by: 2) }
        #expect(anna.value["song"] == nil)
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(anna.value["song"]?.value == 2)
        // And again, now that both know all: gone for good.
        ben.write { $0.removeValue(forKey: "song") }
        anna.merge(ben)
        #expect(anna.value.isEmpty)
        anna.write { $0["song"].increment(by: 1) }
        #expect(anna.value["song"]?.value == 1)
    }

    @Test func `an increment that would leave 64 bits is refused, and void when a peer sends it`() throws {
        var anna = Document<ReplicatedCounter>(replica: People.anna)
        anna.write { $0.increment(by: .max) }
        #expect(anna.write { $0.increment() } == nil)
        let forged = DocumentChange<ReplicatedCounter.Operation>(
            start: Dot(replica: People.ben, counter: 0), count: 2, stamp: Stamp(rawValue: 1 << 20),
            context: VersionVector(), operations: [.increment(by: .max), .increment(by: .max)])
        try anna.apply(forged)
        #expect(anna.value.value == .max)
    }

    @Test func `adding nothing makes a counter visible`() {
        var anna = Document<ReplicatedCounter>(replica: People.anna)
        #expect(!anna.value.isLive)
        anna.write { $0.increment(by: 0) }
        #expect(anna.value.isLive)
        #expect(anna.value.value == 0)
    }

    @Test func `a removal of more than counts here leaves nothing, and later increments count whole`() throws {
        var anna = Document<ReplicatedDictionary<ExactString, ReplicatedCounter>>(replica: People.anna)
        anna.write { $0["song"].increment(by: 4) }
        let counted = anna.value
        var ben = anna.forked(as: People.ben)
        let void = try #require(anna.write { $0["song"].increment(by: 7) })
        try ben.apply(void)
        let removal = try #require(ben.write { $0.removeValue(forKey: "song") })
        let after = try #require(ben.write { $0["song"].increment(by: 2) })
        func value(after changes: DocumentChange<ReplicatedDictionary<ExactString, ReplicatedCounter>.Operation>...)
            -> Int64?
        {
            var value = counted
            for change in changes {
                let origin = Origin(dot: change.start, stamp: change.stamp, context: change.context)
                for operation in change.operations { value.apply(operation, at: origin) }
            }
            return value["song"]?.value
        }
        // Where the seven are void, the removal had seen more than there is.
        #expect(value(after: removal) == nil)
        #expect(value(after: removal, after) == 2)
        #expect(value(after: void, removal, after) == 2, "they count again")
    }

    @Test func `a removal that claims to have seen what its author cannot know is void`() {
        var counter = ReplicatedCounter()
        let origin = Origin(
            dot: Dot(replica: People.ben, counter: 0), stamp: Stamp(rawValue: 1), context: VersionVector())
        counter.remove(
            Removal(seen: [Removal.Seen(replica: People.anna, last: .max, total: 5)]), at: origin)
        #expect(counter == ReplicatedCounter())
    }
}
