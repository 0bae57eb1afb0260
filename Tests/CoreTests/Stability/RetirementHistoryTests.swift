import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// Whole histories of devices that were let go. Each breaks without the rule it is about.
@Suite struct RetirementHistoryTests {
    /// Everybody knows everybody, through node 0; nothing is on its way.
    private func paired(_ count: Int, apart: Int? = nil, faults: CoreFaults = []) throws -> Mesh {
        var mesh = try Mesh(count, faults: faults)
        for other in 1..<count where other != apart { try mesh.pair(0, other) }
        mesh.pass(seconds: 200)
        return mesh
    }

    private func expectEqual(_ mesh: Mesh, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try mesh.digests().count == 1, sourceLocation: sourceLocation)
        #expect(Set(mesh.nodes.map { $0.core.held.digest }).count == 1, sourceLocation: sourceLocation)
    }

    @Test func `what waits for a member goes once somebody lets it go, and it comes back without raising anything`()
        throws
    {
        var mesh = try paired(3)
        for number in 0..<20 { try mesh.put(0, Mesh.key("\(number)"), "note") }
        mesh.pass(seconds: 200)
        mesh.disconnect(2)
        for number in 0..<20 { try mesh.delete(1, Mesh.key("\(number)")) }
        for number in 0..<5 { try mesh.put(2, Mesh.key("\(number)"), "edited in vain") }
        for number in 0..<10 { try mesh.put(2, Mesh.key("own \(number)"), "mine") }
        mesh.pass(seconds: 1_000)
        #expect(try mesh.kept(0) == 20)
        try mesh.retire(0, 2)
        #expect(mesh.nodes[0].core.stabilityView.heldBackBy.map(\.name) != ["node2"])
        mesh.pass(seconds: 300)
        #expect(try (0..<2).map { try mesh.kept($0) } == [0, 0])

        mesh.connect(1, 2)
        mesh.pass(seconds: 400)
        #expect(mesh.nodes.allSatisfy { !$0.core.cuts.isAway(mesh.nodes[2].device.id) })
        for node in 0..<3 {
            #expect(try mesh.nodes[node].store.state().counts.objects == 10)
            for number in 0..<20 { #expect(try mesh.standing(node, Mesh.key("\(number)")) != .live) }
            for number in 0..<10 { #expect(try mesh.titles(node, Mesh.key("own \(number)")) == ["mine"]) }
        }
        // What was edited in vain is listed where it was edited.
        let conflicted = try mesh.nodes[2].store.objects(
            ObjectQuery(space: .home, collection: nil, selection: .conflicted, after: nil, limit: 100))
        #expect(conflicted.count == 5)
        try expectEqual(mesh)
        // And it counts again.
        try mesh.delete(0, Mesh.key("own 1"))
        mesh.disconnect(2)
        mesh.pass(seconds: 1_000)
        #expect(try mesh.kept(0) == 1)
    }

    @Test func `whoever was let go is back with all it wrote within three seconds`() throws {
        for pause: Int64 in [0, 5] {
            var mesh = try paired(3)
            try mesh.put(0, "milk")
            mesh.pass(seconds: 200)
            mesh.disconnect(2)
            try mesh.put(2, Mesh.key("own"), "mine")
            try mesh.retire(0, 2)
            if pause > 0 { mesh.pass(seconds: pause) }
            mesh.connect(0, 2)
            mesh.pass(seconds: 3)
            #expect(mesh.nodes.allSatisfy { !$0.core.cuts.isAway(mesh.nodes[2].device.id) })
            #expect(!mesh.nodes[2].core.hasVoidWork, "after a pause of \(pause) s")
            for node in 0..<3 { #expect(try mesh.titles(node, Mesh.key("own")) == ["mine"]) }
        }
    }

    @Test func `a deletion that is not done again is listed where it was made`() throws {
        var mesh = try paired(3)
        try mesh.put(0, Mesh.key("edited"), "milk")
        try mesh.put(0, Mesh.key("left"), "bread")
        mesh.pass(seconds: 200)
        mesh.disconnect(2)
        try mesh.delete(2, Mesh.key("edited"))
        try mesh.delete(2, Mesh.key("left"))
        try mesh.put(1, Mesh.key("edited"), "oat milk")
        try mesh.retire(1, 2)
        mesh.pass(seconds: 5)
        mesh.connect(1, 2)
        mesh.pass(seconds: 200)
        for node in 0..<3 {
            #expect(try mesh.titles(node, Mesh.key("edited")) == ["oat milk"])
            #expect(try mesh.standing(node, Mesh.key("left")) != .live)
        }
        let listed = try mesh.nodes[2].store.objects(
            ObjectQuery(space: .home, collection: nil, selection: .conflicted, after: nil, limit: 100))
        #expect(listed.map(\.key) == [Mesh.key("edited")])
        #expect(listed.first?.droppedEdits.map(\.isDeletion) == [true])
        try expectEqual(mesh)
    }

    @Test func `what others built on stays, whoever hears of the cut first`() throws {
        var mesh = try paired(3)
        mesh.disconnect(0)
        mesh.connect(1, 2)
        try mesh.put(2, Mesh.key("seen"), "by the one who was let go")
        try mesh.put(1, Mesh.key("after"), "by one who had seen it")
        try mesh.put(2, Mesh.key("unseen"), "by nobody")
        mesh.disconnect(2)
        try mesh.retire(0, 2)
        mesh.connect(0, 1)
        mesh.pass(seconds: 300)
        for node in 0..<2 {
            #expect(try mesh.standing(node, Mesh.key("seen")) == .live)
            #expect(try mesh.standing(node, Mesh.key("after")) == .live)
            // Node 1 held it, and had written nothing since.
            #expect(try mesh.standing(node, Mesh.key("unseen")) != .live)
        }
        mesh.connect(0, 2)
        mesh.pass(seconds: 300)
        for node in 0..<3 { #expect(try mesh.titles(node, Mesh.key("unseen")) == ["by nobody"]) }
        #expect(try mesh.nodes[0].store.state().counts.objects == 3)
        try expectEqual(mesh)
    }

    @Test func `nothing is forgotten before every member that is left has heard of the cut`() throws {
        // Node 1 may meet node 2 yet, and answer what it did to the note without knowing that nobody waits for it. Node 3 is
        // company for node 0: who is alone forgets nothing.
        func kept(_ faults: CoreFaults) throws -> [Int64] {
            var mesh = try paired(4, faults: faults)
            try mesh.setPolicy(0, "updateWins")
            try mesh.put(0, "milk")
            mesh.pass(seconds: 300)
            mesh.disconnect(2)
            try mesh.put(2, "oat milk")
            try mesh.delete(0)
            mesh.pass(seconds: 300)
            mesh.disconnect(1)
            try mesh.retire(0, 2)
            mesh.pass(seconds: 300)
            let before = try mesh.kept(0)
            mesh.connect(1, 2)
            try mesh.put(1, Mesh.key("after"), "by one who had seen what node 2 did")
            mesh.disconnect(2)
            mesh.connect(0, 1)
            mesh.pass(seconds: 300)
            let standings = try [0, 1, 3].map { try mesh.standing($0) }
            #expect(standings == [.live, .live, .live], "node 1 spoke for it")
            return [before, try mesh.kept(0)]
        }
        #expect(try kept([]) == [1, 0])
        // What was forgotten too early comes back only where the edit is taken in before what speaks for it.
        #expect(
            try kept([.releaseBeforeAcknowledged, .tearReturningWork]).first == 0, "the rule is what keeps it")
    }

    @Test func `two values written apart are both shown, also when one had to be written again`() throws {
        var mesh = try paired(3)
        try mesh.put(0, "milk")
        mesh.pass(seconds: 200)
        mesh.disconnect(2)
        try mesh.put(2, "oat milk")
        try mesh.put(2, "soy milk")
        try mesh.put(0, "rice milk")
        try mesh.retire(1, 2)
        mesh.pass(seconds: 300)
        mesh.connect(0, 2)
        mesh.pass(seconds: 400)
        for node in 0..<3 { #expect(try Set(mesh.titles(node)) == ["soy milk", "rice milk"]) }
        try expectEqual(mesh)
    }

    @Test func `a device may be let go twice, also while it is away again`() throws {
        var mesh = try paired(3)
        for round in 1...3 {
            mesh.disconnect(2)
            try mesh.put(2, Mesh.key("round \(round)"), "mine")
            try mesh.retire(round % 2, 2)
            mesh.pass(seconds: 300)
            mesh.connect(0, 2)
            mesh.pass(seconds: 400)
            #expect(
                try (0..<3).map { try mesh.nodes[$0].store.state().counts.objects }
                    == [3, 3, 3].map { _ in Int64(round) })
        }
        try expectEqual(mesh)
    }

    @Test func `of two that let each other go one stays, and both have all they wrote`() throws {
        var mesh = try paired(3)
        mesh.disconnect(0)
        mesh.disconnect(1)
        mesh.disconnect(2)
        try mesh.put(0, Mesh.key("zero"), "mine")
        try mesh.put(1, Mesh.key("one"), "mine")
        try mesh.retire(0, 1)
        try mesh.retire(1, 0)
        mesh.connect(0, 1)
        mesh.pass(seconds: 300)
        mesh.connect(0, 2)
        mesh.connect(1, 2)
        mesh.pass(seconds: 600)
        #expect(try (0..<3).map { try mesh.nodes[$0].store.state().counts.objects } == [2, 2, 2])
        try expectEqual(mesh)
    }

    @Test func `who let everybody else go has forgotten nothing when it meets them again`() throws {
        var mesh = try paired(3)
        try mesh.put(0, "milk")
        mesh.pass(seconds: 200)
        mesh.disconnect(0)
        try mesh.delete(0)
        try mesh.retire(0, 1)
        try mesh.retire(0, 2)
        mesh.pass(seconds: 300)
        #expect(try mesh.kept(0) == 1)
        mesh.connect(0, 1)
        mesh.connect(0, 2)
        mesh.pass(seconds: 600)
        #expect(try (0..<3).map { try mesh.kept($0) } == [0, 0, 0])
        try expectEqual(mesh)
    }

    @Test(arguments: [0, 1, 2])
    func `what most have settled holds over what one says who was let go, whoever is the lesser`(away: Int) throws {
        var mesh = try paired(3)
        let left = (0..<3).filter { $0 != away }
        try mesh.put(0, "milk")
        try mesh.put(0, Mesh.key("bread"), "rye")
        mesh.pass(seconds: 300)
        mesh.disconnect(away)
        mesh.connect(left[0], left[1])
        try mesh.delete(left[0])
        try mesh.put(away, "oat milk")
        try mesh.delete(away, Mesh.key("bread"))
        // Neither side hears of the other.
        for other in left { try mesh.retire(away, other) }
        try mesh.retire(left[1], away)
        mesh.pass(seconds: 600)
        #expect(
            try [left[0], away].map { try mesh.kept($0) } == [0, 1],
            "two have forgotten a deletion, the one that is alone has not")
        for other in left { mesh.connect(away, other) }
        mesh.pass(seconds: 900)
        let standings = try (0..<3).map { try mesh.standing($0) }
        #expect(!standings.contains(.live) && Set(standings).count == 1)
        try expectEqual(mesh)
    }

    @Test func `of two halves that let each other go one forgets`() throws {
        let halves = [[0, 1], [2, 3]]
        func apart(_ faults: CoreFaults) throws -> (mesh: Mesh, kept: [Int64]) {
            var mesh = try paired(4, faults: faults)
            for node in 0..<4 { try mesh.put(node, Mesh.key("\(node)"), "note") }
            mesh.pass(seconds: 300)
            for node in 0..<4 { mesh.disconnect(node) }
            for (half, other) in zip(halves, halves.reversed()) {
                mesh.connect(half[0], half[1])
                try mesh.delete(half[0], Mesh.key("\(half[0])"))
                for device in other { try mesh.retire(half[0], device) }
            }
            mesh.pass(seconds: 600)
            return (mesh, try halves.map { try mesh.kept($0[0]) })
        }
        #expect(try apart([.settleAlone]).kept == [0, 0], "the rule is what keeps it")
        var (mesh, kept) = try apart([])
        let least = try #require((0..<4).min { mesh.nodes[$0].device.id < mesh.nodes[$1].device.id })
        #expect(kept == (least < 2 ? [0, 1] : [1, 0]))
        for node in 1..<4 { mesh.connect(0, node) }
        mesh.pass(seconds: 900)
        #expect(try (0..<4).map { try mesh.nodes[$0].store.state().counts.objects } == [2, 2, 2, 2])
        try expectEqual(mesh)
    }

    /// Four devices, of which the fourth is away since before an object was written and deleted.
    private func deletedWhileAway() throws -> Mesh {
        var mesh = try paired(4)
        mesh.pass(seconds: 200)
        mesh.disconnect(3)
        try mesh.put(1, "milk")
        mesh.pass(seconds: 200)
        try mesh.delete(1)
        return mesh
    }

    @Test func `a cut of one who is lost is settled by another who says it, too`() throws {
        var mesh = try deletedWhileAway()
        // Its author is lost before everybody has heard.
        mesh.disconnect(2)
        try mesh.retire(0, 3)
        mesh.disconnect(0)
        mesh.connect(1, 2)
        mesh.pass(seconds: 600)
        #expect(try mesh.kept(1) == 1)
        try mesh.retire(1, 0)
        try mesh.retire(1, 3)
        mesh.pass(seconds: 600)
        // Two of four: it is the half with the least device that forgets.
        let least = (0..<4).min { mesh.nodes[$0].device.id < mesh.nodes[$1].device.id }
        #expect(try (1..<3).map { try mesh.kept($0) } == (least == 1 || least == 2 ? [0, 0] : [1, 1]))
        mesh.connect(1, 0)
        mesh.connect(1, 3)
        mesh.pass(seconds: 900)
        #expect(try (0..<4).map { try mesh.kept($0) } == [0, 0, 0, 0])
        try expectEqual(mesh)
    }

    /// A cut is acknowledged and passed on at once: with its author go only those that hear nothing in that moment.
    @Test func `a cut that all have acknowledged is settled before its author is lost`() throws {
        var mesh = try deletedWhileAway()
        try mesh.retire(0, 3)
        for node in 0..<3 {
            let cuts = mesh.nodes[node].core.cuts
            #expect(!cuts.cuts.isEmpty && cuts.cuts.allSatisfy { cuts.isSettled($0.dot) }, "node \(node)")
        }
        mesh.disconnect(0)
        mesh.connect(1, 2)
        mesh.pass(seconds: 600)
        #expect(try (1..<3).map { try mesh.kept($0) } == [0, 0])
    }

    @Test func `whom a device let in while it was away is let in again with it`() throws {
        var mesh = try paired(4, apart: 3)
        mesh.disconnect(2)
        try mesh.retire(0, 2)
        mesh.pass(seconds: 300)
        try mesh.pair(2, 3)
        try mesh.put(3, Mesh.key("new"), "by the newcomer")
        mesh.pass(seconds: 300)
        #expect(try mesh.titles(2, Mesh.key("new")) == ["by the newcomer"])
        mesh.connect(0, 2)
        mesh.pass(seconds: 300)
        mesh.connect(0, 3)
        mesh.pass(seconds: 600)
        for node in 0..<4 { #expect(try mesh.titles(node, Mesh.key("new")) == ["by the newcomer"]) }
        #expect(mesh.nodes.allSatisfy { $0.core.cuts.away.isEmpty })
        try expectEqual(mesh)
    }

    @Test func `who was let go writes nothing until it is let in again`() throws {
        var mesh = try paired(3)
        mesh.disconnect(2)
        try mesh.retire(0, 2)
        // It hears of the cut from one that cannot let it in: a store, not an agent.
        for known in try mesh.nodes[0].store.state().tips {
            let held = try mesh.nodes[2].store.state().tips.first { $0.replica == known.replica }?.tip
            var tip = held ?? .empty(space: .home, replica: known.replica)
            for segment in try mesh.nodes[0].store.segments(of: known.replica, from: tip.next, byteBudget: .max) {
                let verified = try segment.walked(from: tip)
                tip = verified.tip
                _ = try mesh.nodes[2].store.apply([verified], wallMilliseconds: 0)
            }
        }
        #expect(throws: StoreError.retired) {
            _ = try mesh.nodes[2].store.append(
                [[.deleteObject(.init(object: Mesh.note, policy: .deleteWins))]], wallMilliseconds: 0)
        }
    }
}
