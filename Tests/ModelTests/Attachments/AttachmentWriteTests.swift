import LawHistories
import SyncModel
import Testing

/// Attaching as an application asks for it, what becomes of it when nobody has seen it, and what history tells.
@Suite struct AttachmentWriteTests {
    private static func attach(_ name: ExactString) -> ObjectWrite { .attach(Desk.key, .named(name)) }

    private static func detach(_ id: Dot) -> ObjectWrite { .detach(Desk.key, attachment: id) }

    @Test func `attaching needs an object that is there`() throws {
        var desk = Desk.among(1)[0]
        #expect(throws: ObjectRefusal.notFound) { try desk.plan(Self.attach("a")) }
        try desk.put("{}")
        try desk.write(Self.attach("a"))
        #expect(desk.reading.attachments.map(\.file) == [.named("a")])
        #expect(desk.reading.attachments.map(\.id) == [desk.version])
        try desk.delete()
        #expect(throws: ObjectRefusal.deleted) { try desk.plan(Self.attach("a")) }
    }

    @Test func `a name that nobody could read back is refused`() throws {
        var desk = Desk.among(1)[0]
        try desk.put("{}")
        let name = ExactString(String(repeating: "é", count: Limits.attachmentNameBytes / 2))
        try desk.write(Self.attach(name))
        #expect(throws: ObjectRefusal.tooLarge(limitBytes: Limits.attachmentNameBytes)) {
            try desk.plan(Self.attach(ExactString(name.string + "x")))
        }
    }

    @Test func `detaching what is gone, or never was, writes nothing`() throws {
        var desks = Desk.among(2)
        try desks[0].put("{}")
        try desks[0].write(Self.attach("a"))
        let id = try #require(desks[0].version)
        desks[1].hear(desks[0])
        #expect(try !desks[1].write(Self.detach(id)).isEmpty)
        #expect(desks[1].reading.attachments.isEmpty)
        #expect(try desks[1].plan(Self.detach(id)).isEmpty)
        #expect(try desks[1].plan(Self.detach(Dot(replica: desks[0].replica, counter: 77))).isEmpty)
        try desks[0].delete()
        #expect(try desks[0].plan(Self.detach(id)).isEmpty)
    }

    @Test func `until somebody decides nothing is attached or detached`() throws {
        var desks = Desk.among(2, schema: try CollectionSchema(#"{"deletePolicy":"ask"}"#))
        try desks[0].put("{}")
        try desks[0].write(Self.attach("a"))
        let id = try #require(desks[0].version)
        desks[1].hear(desks[0])
        try desks[0].delete()
        try desks[1].write(Self.attach("b"))
        desks[0].hear(desks[1])
        #expect(throws: ObjectRefusal.undecided) { try desks[0].plan(Self.attach("c")) }
        #expect(throws: ObjectRefusal.undecided) { try desks[0].plan(Self.detach(id)) }
        try desks[0].resolve(.keep)
        #expect(desks[0].reading.attachments.map(\.file.name) == ["b", "a"])
    }

    // MARK: What history tells

    @Test func `history tells what was attached and detached, and what a deletion took`() throws {
        var desk = Desk.among(1, schema: try CollectionSchema(#"{"deletePolicy":"updateWins"}"#))[0]
        try desk.put(#"{"t":1}"#)
        try desk.write(Self.attach("a"))
        let first = try #require(desk.reading.attachments.first)
        try desk.write(Self.attach("b"))
        let second = try #require(desk.reading.attachments.first)
        try desk.write(Self.detach(first.id))
        try desk.delete()
        var replay = ObjectReplay(schema: desk.schema, members: desk.members)
        let told = desk.past.changes.compactMap { replay.redo($0)?.attachments }
        #expect(told == [[], [.attached(first)], [.attached(second)], [.detached(first)], [.detached(second)]])
        replay = ObjectReplay(schema: desk.schema, members: desk.members)
        let ofField = desk.past.changes.compactMap { replay.redo($0, path: ["t"])?.attachments }
        #expect(ofField.allSatisfy(\.isEmpty) && ofField.count == told.count)
    }

    @Test func `a version shows the attachments that its author saw`() throws {
        var desks = Desk.among(2)
        try desks[0].put("{}")
        desks[1].hear(desks[0])
        try desks[0].write(Self.attach("mine"))
        try desks[1].write(Self.attach("theirs"))
        desks[0].hear(desks[1])
        let past = desks[0].past
        let version = try #require(desks[1].version)
        let change = try #require(past.change(of: version))
        let state = past.state(behind: change, members: desks[0].members)
        #expect(state.shownAttachments.map(\.file.name) == ["theirs"])
        #expect(desks[0].reading.attachments.count == 2)
    }

    // MARK: Folding

    private static let life = Operation.LifeReference.own(counter: 0)
    private static let replica = Desk(0).replica

    private static func edit(_ edit: AttachmentSet.Operation) -> Operation {
        .editAttachments(Operation.AttachmentEdit(object: Desk.key, life: life, edit: edit))
    }

    /// One change each, the first at counter 5.
    private static func fold(_ operations: [Operation], isUnknown: Bool = false) -> Folding {
        let changes = operations.enumerated().map { index, operation in
            Change(
                start: 5 + UInt64(index), stamp: Stamp(rawValue: UInt64(index + 1) << 16), wallMilliseconds: 0,
                context: [], operations: [operation])
        }
        return Folding(
            changes, of: replica, Folding.Rules(isUnknown: { _ in isUnknown }, isLatestOnly: { _ in false }))
    }

    @Test func `what is attached and detached before anybody sees it leaves the detachment only`() {
        let operations = [
            Self.edit(.attach(.named("a"))), Self.edit(.attach(.named("b"))), Self.edit(.detach(.own(5))),
        ]
        let folded = Self.fold(operations)
        #expect(folded.changes.flatMap(\.operations) == [.void(span: 1)] + operations.dropFirst())
        #expect(folded.changes.map(\.start) == [5, 7])
        #expect(folded.changes.reduce(0) { $0 + $1.count } == 3)
        #expect(folded.edited == [Desk.key])
    }

    @Test func `an attachment that stays keeps its dot`() {
        let operations = [Self.edit(.attach(.named("a"))), Self.edit(.attach(.named("b")))]
        let folded = Self.fold(operations)
        #expect(folded.changes.map(\.start) == [5, 6])
        #expect(folded.changes.flatMap(\.operations) == operations)
        #expect(folded.edited.isEmpty && folded.deleted.isEmpty)
    }

    @Test func `a deletion that wins takes what was attached before it`() {
        let delete = Operation.deleteObject(Operation.ObjectDeletion(object: Desk.key, policy: .deleteWins))
        let operations = [Self.edit(.attach(.named("a"))), delete]
        #expect(Self.fold(operations).changes.flatMap(\.operations) == [.void(span: 1), delete])
        #expect(Self.fold(operations, isUnknown: true).changes.flatMap(\.operations) == [.void(span: 2)])
        let weaker = Operation.deleteObject(Operation.ObjectDeletion(object: Desk.key, policy: .updateWins))
        let kept = [operations[0], weaker]
        #expect(Self.fold(kept).changes.flatMap(\.operations) == kept)
    }
}
