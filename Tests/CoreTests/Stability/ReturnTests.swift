import ReplicatedTypes
import SyncCore
import SyncModel
import SyncStore
import Testing

/// The first seconds of a device that was retired while it was away, and comes back.
@Suite struct ReturnTests {
    private static let booking = LocalWrite.planned([
        .appendEvent(.init(stream: "booked", type: nil, payload: Array("{}".utf8))),
        .put(Mesh.key("order"), .init(fields: [JSONValue.Member(key: "title", value: .string("an order"))])),
    ])

    /// Node 2 writes a transaction of an event and an object, was retired by node 0, and comes back to it. Node 1 hears of all through 0.
    private func history(_ faults: CoreFaults = [], under replicas: Int = 1) throws -> Mesh {
        var mesh = try Mesh(3, faults: faults)
        for other in 1...2 { try mesh.pair(0, other) }
        try mesh.put(2, "milk")
        mesh.pass(seconds: 200)
        mesh.disconnect(2)
        if replicas > 1 { try mesh.restart(2) }
        try mesh.append(2, Self.booking)
        try mesh.retire(0, 2)
        mesh.pass(seconds: 1)
        mesh.connect(0, 2)
        mesh.pass(seconds: 3)
        return mesh
    }

    private func expectBack(_ mesh: Mesh, events: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for node in 0..<3 {
            let counts = try mesh.nodes[node].store.state().counts
            #expect(counts.events == events && counts.objects == 2, "on node \(node)", sourceLocation: sourceLocation)
            #expect(!mesh.nodes[node].core.isWritingAgain, sourceLocation: sourceLocation)
        }
        #expect(try mesh.digests().count == 1, sourceLocation: sourceLocation)
    }

    /// The event of the transaction without its object.
    private func torn(_ mesh: Mesh) -> Set<Int> {
        Set(mesh.views.filter { $0.node != 2 && $0.counts.events == 1 && $0.counts.objects < 2 }.map(\.node))
    }

    @Test(arguments: [1, 2])
    func `a transaction that is written again is never seen in parts by others`(replicas: Int) throws {
        let mesh = try history(under: replicas)
        try expectBack(mesh)
        #expect(torn(mesh).isEmpty)
        #expect(torn(try history(.tearReturningWork, under: replicas)).contains(0), "the rule is what keeps it whole")
    }

    private static let order = Mesh.key("order")
    private static let titles = ["first", "second", "third"].map { $0 + String(repeating: ".", count: 600) }

    /// Node 2 creates an object while it is away and goes on with it, in more changes than one step writes again, and in more bytes than
    /// wait in memory until all is written again. The history ends as soon as node 0 has something of it.
    private func written(holding hold: Tick.Span) throws -> Mesh {
        var bounds = CoreConfiguration.Bounds()
        bounds.rewritingStepChanges = 1
        bounds.persistBatchBytes = 1_024
        var mesh = try Mesh(3, bounds: bounds) { $0.timing.rewritingHold = hold }
        for other in 1...2 { try mesh.pair(0, other) }
        try mesh.put(2, "milk")
        mesh.pass(seconds: 200)
        // Node 1 is away with it, or else all that it writes would be one change.
        for node in 1...2 { mesh.disconnect(node) }
        mesh.connect(1, 2)
        for title in Self.titles {
            try mesh.put(2, Self.order, title)
            mesh.pass(seconds: 1)
        }
        try mesh.retire(0, 2)
        mesh.disconnect(1)
        mesh.connect(0, 1)
        mesh.pass(seconds: 1)
        mesh.connect(0, 2)
        for _ in 0..<500 where try mesh.titles(0, Self.order).isEmpty {
            mesh.pass(until: mesh.now + .milliseconds(10))
        }
        return mesh
    }

    @Test func `what others write to an object between two steps of writing it again is kept`() throws {
        var mesh = try written(holding: CoreConfiguration.Timing().rewritingHold)
        #expect(try mesh.titles(0, Self.order) == [Self.titles[2]], "it is there as a whole")
        try mesh.put(0, Self.order, "by another")
        mesh.pass(seconds: 5)
        try expectBack(mesh, events: 0)
        for node in 0..<3 { #expect(try mesh.titles(node, Self.order) == ["by another"], "on node \(node)") }
    }

    @Test func `writing again holds up the device's other work for some time only`() throws {
        var mesh = try written(holding: .milliseconds(1))
        #expect(try mesh.titles(0, Self.order) != [Self.titles[2]], "a part of it is there")
        mesh.pass(seconds: 5)
        try expectBack(mesh, events: 0)
        for node in 0..<3 { #expect(try mesh.titles(node, Self.order) == [Self.titles[2]], "on node \(node)") }
    }

    /// Nodes 2 and 3 are away together. 2 loses what it wrote there, and 3, which has it, comes back later.
    @Test func `work that comes back later than its device is written again, too`() throws {
        var mesh = try Mesh(4)
        for other in 1...3 { try mesh.pair(0, other) }
        try mesh.put(2, "milk")
        mesh.connect(2, 3)
        mesh.pass(seconds: 200)
        let image = try mesh.image(of: 2)
        for node in 2...3 { mesh.disconnect(node) }
        mesh.connect(2, 3)
        try mesh.put(2, Mesh.key("order"), "an order")
        mesh.pass(seconds: 1)
        mesh.disconnect(3)
        try mesh.putBack(2, image)
        for node in 2...3 { try mesh.retire(0, node) }
        mesh.pass(seconds: 200)
        mesh.connect(0, 2)
        mesh.pass(seconds: 60)
        #expect(!mesh.nodes[2].core.isWritingAgain)
        mesh.connect(0, 3)
        mesh.pass(seconds: 60)
        for node in 0..<4 {
            #expect(!mesh.nodes[node].core.isWritingAgain, "on node \(node)")
            #expect(try mesh.titles(node, Mesh.key("order")) == ["an order"], "on node \(node)")
        }
        #expect(try mesh.digests().count == 1)
    }

    @Test func `the device says that it writes again from the moment on at which its work is gone`() throws {
        let views = try history().views.filter { $0.node == 2 && $0.counts.objects < 2 && $0.counts.events == 1 }
        #expect(!views.isEmpty && views.allSatisfy(\.isWritingAgain))
    }

    /// Node 2 is retired, and what it would have to hear first is forgotten: it gets the state in place of that.
    private func longAway(_ faults: CoreFaults = []) throws -> Mesh {
        var mesh = try Mesh(3, faults: faults) { $0.exchangesState = true }
        for other in 1...2 { try mesh.pair(0, other) }
        for number in 0..<5 { try mesh.put(0, Mesh.key("\(number)"), "note") }
        mesh.pass(seconds: 200)
        mesh.disconnect(2)
        for number in 0..<5 { try mesh.delete(0, Mesh.key("\(number)")) }
        try mesh.put(2, Mesh.key("own"), "mine")
        try mesh.retire(0, 2)
        mesh.pass(seconds: 5)
        #expect(try (0..<2).map { try mesh.kept($0) } == [0, 0])
        mesh.connect(0, 2)
        mesh.pass(seconds: 3)
        #expect(mesh.nodes[2].core.counters.statesTaken > 0)
        return mesh
    }

    @Test func `a device that gets the state of what it missed is back as soon`() throws {
        let mesh = try longAway()
        #expect(!mesh.nodes[2].core.isWritingAgain)
        for node in 0..<3 { #expect(try mesh.titles(node, Mesh.key("own")) == ["mine"]) }
        #expect(try longAway(.acknowledgeReturnsLater).nodes[2].core.isWritingAgain, "the rule is what makes it fast")
    }

    /// Nodes 1 and 2 are away together, and are retired. What 2 writes there has reached 1, an admin, who then makes 2 a reader.
    @Test func `the work of a device that was made a reader meanwhile waits until it may write`() throws {
        var mesh = try Mesh(5)
        try mesh.joinAll()
        let (admin, reader) = (mesh.nodes[1].fact.device, mesh.nodes[2].fact.device)
        try mesh.order(0, .role(admin, .admin))
        try mesh.put(2, "milk")
        mesh.pass(seconds: 200)
        mesh.disconnect(1)
        mesh.disconnect(2)
        mesh.connect(1, 2)
        try mesh.put(2, Mesh.key("order"), "an order")
        mesh.pass(seconds: 1)
        try mesh.order(1, .role(reader, .reader))
        mesh.pass(seconds: 1)
        try mesh.retire(0, 2)
        try mesh.retire(0, 1)
        mesh.pass(seconds: 5)
        let history = try mesh.history(2)
        for node in [0, 3, 4] {
            mesh.connect(node, 1)
            mesh.connect(node, 2)
        }
        mesh.pass(seconds: 30)
        #expect(mesh.nodes[2].core.hasVoidWork && !mesh.nodes[2].core.isWritingAgain)
        #expect(try mesh.history(2) == history, "it began none to write it again")
        #expect(try mesh.digests().count == 1)
        for node in 0..<5 { #expect(try mesh.titles(node, Mesh.key("order")).isEmpty, "on node \(node)") }
        try mesh.order(0, .role(reader, .writer))
        mesh.pass(seconds: 30)
        #expect(!mesh.nodes[2].core.hasVoidWork)
        #expect(try mesh.digests().count == 1)
        for node in 0..<5 { #expect(try mesh.titles(node, Mesh.key("order")) == ["an order"], "on node \(node)") }
    }

    /// Node 1, an admin, takes an event of node 2 that counts nowhere. Only 3 hears of that, and 0 retires 1 meanwhile.
    @Test func `an event that a retired admin had accepted stays accepted`() throws {
        var mesh = try Mesh(4)
        try mesh.joinAll()
        let (admin, reader) = (mesh.nodes[1].fact.device, mesh.nodes[2].fact.device)
        try mesh.order(0, .role(admin, .admin))
        mesh.pass(seconds: 200)
        mesh.disconnect(2)
        try mesh.say(2, "unheard")
        try mesh.order(0, .role(reader, .reader))
        for node in [0, 1, 3] { mesh.connect(node, 2) }
        mesh.pass(seconds: 20)
        func void(_ node: Int) throws -> [VoidOperation] {
            try mesh.nodes[node].store.voidWork(of: reader, after: nil, limit: 10, byteBudget: .max, space: .home)
                .operations
        }
        let operation = try #require(try void(1).first)
        guard case .event(let event) = operation.content else {
            Issue.record("\(operation) is no event")
            return
        }
        #expect(try (0..<4).map { try void($0).map(\.isAccepted) } == Array(repeating: [false], count: 4))
        for node in [1, 3] { mesh.disconnect(node) }
        mesh.connect(1, 3)
        let said = ObjectWrite.put(
            AcceptedEvents.key(of: reader, stream: ExactString(event.stream)),
            .init(fields: AcceptedEvents.fields(covering: [operation.key.dot]), ifAbsent: true))
        try mesh.append(1, .planned([.appendEvent(event), said]))
        mesh.pass(seconds: 1)
        mesh.disconnect(1)
        try mesh.retire(0, 1)
        mesh.connect(0, 3)
        mesh.pass(seconds: 20)
        for node in [0, 3] {
            #expect(try mesh.said(node) == ["unheard"])
            #expect(try void(node).map(\.isAccepted) == [true])
            let key = AcceptedEvents.key(of: reader, stream: ExactString(event.stream))
            #expect(try mesh.standing(node, key) != .live, "what was said of it is void by the retirement")
        }
    }

    @Test func `work that is not written again comes all the same`() throws {
        var mesh = try history(.forgetVoidWork)
        #expect(try mesh.nodes[0].store.state().counts.events == 0)
        mesh.pass(seconds: 4)
        #expect(try (0..<2).map { try mesh.nodes[$0].store.state().counts.events } == [1, 1])
    }

    @Test func `a device that returned and restarts is not held up`() throws {
        var mesh = try history()
        try mesh.restart(2)
        mesh.connect(0, 2)
        try mesh.append(2, Self.booking)
        try mesh.restart(2)
        mesh.connect(0, 2)
        mesh.pass(seconds: 1)
        try mesh.put(2, Mesh.key("after"), "written at once")
        mesh.pass(seconds: 1)
        for node in 0..<2 { #expect(try mesh.titles(node, Mesh.key("after")) == ["written at once"]) }
    }
}
