import LawHistories
import SyncModel
import Testing

/// An attachment never changes and goes with its object; what is said of edits of a life holds for attaching too.
@Suite struct AttachmentHistoryTests {
    private static let title: [ObjectFields.Operation] = [.update("title", .register(.set("x")))]

    /// Two nodes that hold one object, begun by the first.
    private static func shared() -> (world: ObjectWorld, life: Dot) {
        var world = ObjectWorld(nodes: 2)
        let life = world.write(.edit(.birth, title), by: 0, at: 1)
        world.syncAll()
        return (world, life)
    }

    private func names(_ world: ObjectWorld, at node: Int) -> [String] {
        world.nodes[node].state.shownAttachments.newestFirst.map(\.file.name.string)
    }

    @Test func `what is attached is shown on every node, the newest first`() {
        var (world, life) = Self.shared()
        let first = world.write(.attach("a", to: life), by: 0, at: 10)
        world.syncAll()
        let second = world.write(.attach("b", to: life), by: 1, at: 20)
        world.syncAll()
        for node in world.nodes {
            #expect(node.state.shownAttachments.newestFirst.map(\.id) == [second, first])
            #expect(node.state.shownAttachments.newestFirst.map(\.file) == [.named("b"), .named("a")])
        }
    }

    @Test func `one file attached twice is two attachments of one blob`() {
        var (world, life) = Self.shared()
        let mine = world.write(.attach("a", to: life), by: 0)
        world.write(.attach("a", to: life), by: 1)
        world.syncAll()
        #expect(Set(world.nodes[0].state.shownAttachments.map(\.file.blob)).count == 1)
        #expect(names(world, at: 0) == ["a", "a"])
        world.write(.detach(mine, of: life), by: 0)
        world.syncAll()
        #expect(names(world, at: 1) == ["a"])
    }

    @Test func `what is detached by two is detached, and comes back for nobody`() {
        var (world, life) = Self.shared()
        let id = world.write(.attach("a", to: life), by: 0)
        world.syncAll()
        world.write(.detach(id, of: life), by: 0)
        world.write(.detach(id, of: life), by: 1)
        world.syncAll()
        #expect(names(world, at: 0).isEmpty && names(world, at: 1).isEmpty)
    }

    @Test func `an edit beside a detachment does not bring it back`() {
        var (world, life) = Self.shared()
        let id = world.write(.attach("a", to: life), by: 0)
        world.syncAll()
        world.write(.detach(id, of: life), by: 0, at: 10)
        world.write(.edit(.other(life), Self.title), by: 1, at: 99)
        world.syncAll()
        #expect(names(world, at: 0).isEmpty)
    }

    @Test func `nobody detaches what they have not seen`() {
        // No honest node writes this: node 1 names a dot that it does not hold.
        var (world, life) = Self.shared()
        let id = world.write(.attach("a", to: life), by: 0)
        world.write(.detach(id, of: life), by: 1)
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20 { #expect(world.replayed(&random).shownAttachments.map(\.id) == [id]) }
    }

    @Test(arguments: DeletePolicy.allCases)
    func `attachments go with their object`(_ policy: DeletePolicy) {
        var (world, life) = Self.shared()
        world.write(.attach("a", to: life), by: 0)
        world.syncAll()
        world.write(.delete(policy), by: 1)
        world.syncAll()
        for node in world.nodes {
            #expect(node.state.judgement == .deleted)
            #expect(node.state.shownAttachments.isEmpty)
        }
    }

    /// Node 0 deletes an object with one attachment while node 1 attaches another.
    private static func deletedWhileAttached(
        _ policy: DeletePolicy, deletedAt: Int64 = 10, attachedAt: Int64 = 20
    ) -> (world: ObjectWorld, life: Dot) {
        var (world, life) = shared()
        world.write(.attach("before", to: life), by: 0, at: 2)
        world.syncAll()
        world.write(.delete(policy), by: 0, at: deletedAt)
        world.write(.attach("beside", to: life), by: 1, at: attachedAt)
        world.syncAll()
        return (world, life)
    }

    @Test func `deleteWins: what was attached apart is dropped and listed`() {
        let (world, _) = Self.deletedWhileAttached(.deleteWins)
        for node in world.nodes {
            #expect(node.state.judgement == .deleted)
            #expect(node.state.lives.deletions.flatMap(\.edited).map(\.replica) == [world.nodes[1].replica])
            #expect(node.state.lives.deletions.flatMap(\.edited).map(\.count) == [1])
        }
    }

    @Test func `updateWins: attaching keeps the object, and all its attachments`() {
        let (world, _) = Self.deletedWhileAttached(.updateWins)
        #expect(names(world, at: 0) == ["beside", "before"])
        #expect(names(world, at: 1) == ["beside", "before"])
    }

    @Test func `lastWriterWins: attaching later than the deletion keeps all, earlier nothing`() {
        #expect(names(Self.deletedWhileAttached(.lastWriterWins).world, at: 0) == ["beside", "before"])
        let (world, _) = Self.deletedWhileAttached(.lastWriterWins, deletedAt: 20, attachedAt: 10)
        #expect(names(world, at: 0).isEmpty && names(world, at: 1).isEmpty)
    }

    @Test func `ask: attachments are hidden until somebody decides, and come back with the object`() {
        var (world, _) = Self.deletedWhileAttached(.ask)
        #expect(world.nodes[0].state.judgement == .undecided)
        #expect(names(world, at: 0).isEmpty)
        var other = world
        world.write(.keep, by: 0)
        world.syncAll()
        #expect(names(world, at: 1) == ["beside", "before"])
        other.write(.delete(.ask), by: 0)
        other.syncAll()
        #expect(names(other, at: 1).isEmpty)
    }

    @Test func `detaching beside a deletion is an edit that it did not know`() {
        var (world, life) = Self.shared()
        let id = world.write(.attach("a", to: life), by: 0)
        world.write(.attach("b", to: life), by: 0)
        world.syncAll()
        world.write(.delete(.updateWins), by: 0)
        world.write(.detach(id, of: life), by: 1)
        world.syncAll()
        #expect(names(world, at: 0) == ["b"])
    }

    @Test func `a new life has none of the old one's attachments`() {
        var (world, life) = Self.shared()
        world.write(.attach("a", to: life), by: 0)
        world.write(.delete(.updateWins), by: 0)
        world.write(.edit(.birth, Self.title), by: 0)
        world.syncAll()
        #expect(names(world, at: 1).isEmpty)
    }

    @Test func `lives that were begun apart show the attachments of both`() {
        var world = ObjectWorld(nodes: 2)
        let mine = world.write(.edit(.birth, Self.title), by: 0)
        world.write(.attach("mine", to: mine), by: 0, at: 10)
        let theirs = world.write(.edit(.birth, Self.title), by: 1)
        world.write(.attach("theirs", to: theirs), by: 1, at: 20)
        world.syncAll()
        #expect(names(world, at: 0) == ["theirs", "mine"])
        #expect(names(world, at: 1) == ["theirs", "mine"])
    }

    @Test func `who was not let in yet attaches nothing`() {
        var world = ObjectWorld(nodes: 2)
        let life = world.write(.edit(.birth, Self.title), by: 0)
        let stranger = Origin(
            dot: Dot(replica: ObjectHistory(nodes: 9).replicas[8], counter: 0), stamp: Stamp(rawValue: 1 << 40),
            context: world.nodes[0].held)
        var state = world.nodes[0].state
        let outcome = state.apply(
            .attach("a", to: life), at: stranger, wallMilliseconds: 0, members: world.members, earlier: { [] })
        #expect(outcome == .void)
        #expect(state == world.nodes[0].state)
    }

    @Test func `forgetting stable deletions leaves the attachments of what stays`() {
        var (world, _) = Self.deletedWhileAttached(.updateWins)
        var state = world.nodes[0].state
        let before = state.shownAttachments
        #expect(state.collect { _ in true })
        #expect(state.shownAttachments == before && before.count == 2)
        world.write(.delete(.updateWins), by: 0)
        state = world.nodes[0].state
        #expect(state.collect { _ in true })
        #expect(state.isEmpty)
    }
}

extension ObjectState.Action {
    fileprivate static func attach(_ name: ExactString, to life: Dot) -> ObjectState.Action {
        .editAttachments(.other(life), .attach(.named(name)))
    }

    fileprivate static func detach(_ id: Dot, of life: Dot) -> ObjectState.Action {
        .editAttachments(.other(life), .detach(.other(id)))
    }
}
