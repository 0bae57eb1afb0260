import SyncModel
import Testing

/// What is left of changes that nobody has seen.
struct FoldingTests {
    private let device: TestDevice
    private let key = ObjectKey(collection: "box", id: "milk")

    init() throws { device = try TestDevice(1) }

    private func set(_ field: ExactString, _ value: JSONValue) -> ObjectFields.Operation {
        .update(field, .register(.set(value)))
    }

    private func edit(_ life: Operation.LifeReference, _ edits: ObjectFields.Operation...) -> Operation {
        .editObject(.init(object: key, life: life, edits: edits))
    }

    private func delete(_ policy: DeletePolicy = .deleteWins) -> Operation {
        .deleteObject(.init(object: key, policy: policy))
    }

    /// Changes of these operations, one behind the other.
    private func changes(_ groups: [Operation]..., from start: UInt64 = 0) -> [Change] {
        var next = start
        var milliseconds: Int64 = 1_000
        return groups.map { operations in
            let change = Change(
                start: next, stamp: Stamp(rawValue: UInt64(milliseconds) << 16), wallMilliseconds: milliseconds,
                context: [], operations: operations)
            next += change.count
            milliseconds += 1
            return change
        }
    }

    private func fold(
        _ changes: [Change], unknown: Bool = false, latestOnly: Set<String> = []
    ) -> Folding {
        Folding(
            changes, of: device.replica(),
            Folding.Rules(isUnknown: { _ in unknown }, isLatestOnly: { latestOnly.contains($0) }))
    }

    @Test func `nine toggles of a checkbox are one change, and the last one keeps its dot`() {
        let known = Operation.LifeReference.own(counter: 0)
        var next: UInt64 = 5
        let toggles = (1...9).map { time in
            defer { next += 1 }
            return Change(
                start: next, stamp: Stamp(rawValue: UInt64(Int64(time)) << 16), wallMilliseconds: 0, context: [],
                operations: [edit(known, set("done", .bool(time % 2 == 1)))])
        }
        let folded = fold(toggles)
        #expect(folded.changes.count == 1)
        #expect(folded.changes[0].start == 5)
        #expect(folded.changes[0].count == 9)
        #expect(folded.changes[0].stamp == toggles[8].stamp)
        #expect(folded.changes[0].operations == [.void(span: 8), toggles[8].operations[0]])
        #expect(folded.edited == [key])
    }

    @Test func `an update goes into the insert where it replaces what that wrote, and the birth keeps its dot`() {
        let birth = edit(.birth, set("title", "milk"), set("done", .bool(false)), set("price", .integer(1)))
        let later = edit(.own(counter: 0), set("done", .bool(true)))
        let folded = fold(changes([birth], [later]))
        #expect(
            folded.changes.map(\.operations) == [
                [
                    edit(.birth, set("title", "milk")), .void(span: 1),
                    edit(.own(counter: 0), set("price", .integer(1))),
                ],
                [later],
            ])
    }

    @Test func `fields, lives and types are told apart`() {
        let one = Operation.LifeReference.own(counter: 0)
        let other = Operation.LifeReference.own(counter: 1)
        let operations: [Operation] = [
            edit(one, set("a", .integer(1))), edit(one, set("b", .integer(1))), edit(other, set("a", .integer(2))),
            edit(one, .update("a", .set(.add(.integer(1))))), edit(one, .update("a", .counter(.increment(by: 1)))),
            edit(one, .update("a", .counter(.increment(by: 1)))),
        ]
        #expect(fold(changes(operations)).changes.map(\.operations) == [operations])
    }

    @Test func `an element that came and went leaves only its going`() {
        let known = Operation.LifeReference.own(counter: 0)
        let folded = fold(
            changes(
                [edit(known, .update("tags", .set(.add("red"))))], [edit(known, .update("tags", .set(.add("blue"))))],
                [edit(known, .update("tags", .set(.remove("red"))))], from: 3))
        #expect(
            folded.changes.map(\.operations) == [
                [.void(span: 1), edit(known, .update("tags", .set(.add("blue"))))],
                [edit(known, .update("tags", .set(.remove("red"))))],
            ])
    }

    @Test func `edits before the deletion of their object are dropped, the deletion stays`() {
        let known = Operation.LifeReference.own(counter: 0)
        let folded = fold(
            changes(
                [edit(known, set("a", .integer(1)))], [.event(1)], [edit(known, set("b", .integer(1)))], [delete()],
                from: 3))
        #expect(folded.changes.map(\.operations) == [[.void(span: 1), .event(1)], [.void(span: 1), delete()]])
        #expect(folded.deleted == [key])
    }

    @Test(arguments: [DeletePolicy.updateWins, .lastWriterWins, .ask])
    func `edits before a deletion that may not hold are kept`(policy: DeletePolicy) {
        let known = Operation.LifeReference.own(counter: 0)
        let operations = [edit(known, set("a", .integer(1))), delete(policy)]
        #expect(fold(changes(operations, from: 3)).changes.map(\.operations) == [operations])
    }

    @Test(arguments: DeletePolicy.allCases)
    func `what was created and deleted leaves nothing, and a creation behind it stays`(policy: DeletePolicy) {
        let birth = edit(.birth, set("a", .integer(1)))
        let folded = fold(
            changes([birth], [edit(.own(counter: 0), set("a", .integer(2)))], [delete(policy)]), unknown: true)
        #expect(folded.changes.map(\.operations) == [[.void(span: 4)]])
        let again = fold(changes([birth], [delete(policy)], [birth]), unknown: true)
        #expect(again.changes.map(\.operations) == [[.void(span: 3), birth]])
    }

    @Test func `a decision is not undone by what it decided`() {
        let operations = [edit(.birth, set("a", .integer(1))), delete(.ask), .keepObject(key)]
        #expect(fold(changes(operations), unknown: true).changes.map(\.operations) == [operations])
    }

    @Test func `events stay, but for older ones of a stream that shows only the latest per type`() {
        let on = Operation.appendEvent(.init(stream: "light", type: "hall", payload: Array("1".utf8)))
        let off = Operation.appendEvent(.init(stream: "light", type: "hall", payload: Array("0".utf8)))
        let cellar = Operation.appendEvent(.init(stream: "light", type: "cellar", payload: Array("1".utf8)))
        let all = changes([on], [cellar], [off], [.event(1)], [.event(2)], [on])
        #expect(fold(all).changes == all)
        let folded = fold(all, latestOnly: ["light"])
        #expect(
            folded.changes.map(\.operations) == [
                [.void(span: 1), cellar], [.void(span: 1), .event(1)], [.event(2)], [on],
            ])
        #expect(folded.events == [0, 2])
    }

    @Test func `a change with another event beside it keeps all of its events`() {
        let on = Operation.appendEvent(.init(stream: "light", type: "hall", payload: Array("1".utf8)))
        let all = changes([on, .event(1)], [on])
        #expect(fold(all, latestOnly: ["light"]).changes == all)
    }

    @Test func `what other replicas were known to have is still named`() throws {
        let other = try TestDevice(2).replica()
        let known = Operation.LifeReference.own(counter: 0)
        let first = Change(
            start: 3, stamp: Stamp(rawValue: UInt64(1) << 16), wallMilliseconds: 0,
            context: [VersionVector.Entry(replica: other, next: 7)], operations: [edit(known, set("a", .integer(1)))])
        let second = Change(
            start: 4, stamp: Stamp(rawValue: UInt64(2) << 16), wallMilliseconds: 0, context: [],
            operations: [edit(known, set("a", .integer(2)))])
        let folded = fold([first, second])
        #expect(folded.changes.map(\.context) == [first.context])
    }
}
