import SyncModel
import Testing

@Suite struct RegisterTests {
    private typealias Light = Document<ReplicatedRegister<Bool>>

    @Test func `a later write replaces the one its author saw`() {
        var hall = Light(replica: People.anna)
        hall.write { $0.set(true) }
        var kitchen = hall.forked(as: People.ben)
        kitchen.write { $0.set(false) }
        hall.merge(kitchen)
        #expect(hall.value.value == false)
        #expect(hall.value.conflicts.isEmpty)
    }

    @Test func `values written apart are all kept until somebody who saw them writes`() {
        var anna = Document<ReplicatedRegister<String>>(replica: People.anna)
        anna.write { $0.set("Tea") }
        var ben = anna.forked(as: People.ben)
        anna.write(2_000) { $0.set("Coffee") }
        ben.write(3_000) { $0.set("Water") }
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(anna.value.value == "Water")
        #expect(anna.value.conflicts == ["Coffee"])
        // Choosing the shown value is a decision: it resolves the conflict.
        anna.write { $0.set("Water") }
        ben.merge(anna)
        #expect(ben.value.values == ["Water"])
    }

    @Test func `writing what is shown writes nothing`() {
        var light = Light(replica: People.anna)
        #expect(light.write { $0.set(true) } != nil)
        #expect(light.write { $0.set(true) } == nil)
    }

    @Test func `a clock a year ahead wins against writes made apart and locks nothing`() {
        let year: Int64 = 365 * 86_400_000
        var wrong = Light(replica: People.anna)
        wrong.write(year) { $0.set(true) }
        var right = wrong.forked(as: People.ben)
        right.write(1_000) { $0.set(false) }
        wrong.merge(right)
        #expect(wrong.value.value == false)
        wrong.write(1_001) { $0.set(true) }
        #expect(wrong.value.value == true)
    }

    @Test func `of two creations the first in canonical order is the constant`() throws {
        var anna = Document<Constant<String>>(replica: People.anna)
        var ben = Document<Constant<String>>(replica: People.ben)
        try anna.edit(wallMilliseconds: 2_000) { draft throws(ConstantAlreadySet) in try draft.set("A") }
        try ben.edit(wallMilliseconds: 1_000) { draft throws(ConstantAlreadySet) in try draft.set("B") }
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(anna.value.value == "B")
        #expect(anna.value.conflicts == ["A"])
        let before = anna
        #expect(throws: ConstantAlreadySet()) { try anna.edit(wallMilliseconds: 3_000) { try $0.set("C") } }
        #expect(anna == before)
    }
}
