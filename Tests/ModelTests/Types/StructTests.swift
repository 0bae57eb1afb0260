import Foundation
import SyncModel
import Testing

/// A struct of replicated members: it merges member by member, with no more code than this.
private struct Note: ReplicatedStruct {
    var title = ReplicatedRegister<ExactString>()
    var tags = ReplicatedSet<ExactString>()
    var plays = ReplicatedCounter()

    static let members = ReplicatedMembers(\Note.title, \Note.tags, \Note.plays)
}

extension Note: StateCoded {}

@Suite struct StructTests {
    @Test func `members are edited apart and merge each by its own rule`() throws {
        var anna = Document<Note>(replica: People.anna)
        anna.write { note in
            note.title.set("Shopping")
            note.tags.insert("home")
        }
        var ben = anna.forked(as: People.ben)
        let change = try #require(
            anna.write { note in
                note.title.set("Shopping list")
                note.plays.increment()
            })
        ben.write { note in
            note.tags.insert("food")
            note.plays.increment()
        }
        try ben.apply(change)
        anna.merge(ben)
        #expect(anna.value == ben.value)
        #expect(anna.value.title.value == "Shopping list")
        #expect(anna.value.tags.elements == ["food", "home"])
        #expect(anna.value.plays.value == 2)
    }

    @Test func `notes nest in a dictionary, and removing one spares what was edited apart`() {
        var anna = Document<ReplicatedDictionary<ExactString, Note>>(replica: People.anna)
        anna.write { notes in
            notes.update("1") { note in
                note.title.set("Diary")
                note.plays.increment(by: 4)
            }
        }
        var ben = anna.forked(as: People.ben)
        anna.write { $0.removeValue(forKey: "1") }
        ben.write { $0["1"].plays.increment() }
        exchange(&anna, &ben)
        #expect(anna.value == ben.value)
        #expect(anna.value["1"]?.plays.value == 1)
        #expect(anna.value["1"]?.title.value == nil)
    }

    @Test func `state, change and delta survive JSON and bytes`() throws {
        var anna = Document<Note>(replica: People.anna)
        let change = try #require(
            anna.write { note in
                note.title.set("Ä")
                note.tags.insert("x")
                note.plays.increment(by: -3)
            })
        #expect(try throughJSON(anna) == anna)
        #expect(try throughJSON(change) == change)
        let delta = anna.delta(since: VersionVector())
        #expect(try throughJSON(delta) == delta)
        #expect(try Note(canonicalBytes: anna.value.canonicalBytes) == anna.value)
        for operation in change.operations {
            #expect(try Note.Operation(canonicalBytes: operation.canonicalBytes) == operation)
        }
    }

    private func throughJSON<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }
}
