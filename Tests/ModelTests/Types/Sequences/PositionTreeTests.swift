import SyncModel
import Testing

@Suite struct PositionTreeTests {
    /// One insertion as it travels.
    private struct Insertion {
        let placement: Placement
        let count: Int
        let origin: Origin
    }

    private struct Site {
        let replica: ReplicaID
        var tree = PositionTree()
        var vector = VersionVector()

        init(_ number: UInt8) { replica = .author(number) }

        mutating func apply(_ insertion: Insertion) {
            let dot = insertion.origin.dot
            guard vector.next(of: dot.replica) == dot.counter, vector.covers(insertion.origin.context) else { return }
            _ = tree.insert(insertion.placement, count: insertion.count, at: insertion.origin)
            vector.advance(dot.replica, to: dot.counter + UInt64(insertion.count))
        }

        var dots: [Dot] {
            var dots: [Dot] = []
            var node = tree.order.next(after: nil)
            while let here = node {
                dots.append(tree.dot(of: here))
                node = tree.order.next(after: here)
            }
            return dots
        }
    }

    /// Insertions of some authors who hear of each other now and then, in a causal order.
    private func history(_ generator: inout SeededGenerator, writes: Int) -> [Insertion] {
        var sites = (1...UInt8.random(in: 1...5, using: &generator)).map { Site($0) }
        var history: [Insertion] = []
        var cursors = [PositionTree.Node?](repeating: nil, count: sites.count)
        for _ in 0..<writes {
            let index = Int.random(in: sites.indices, using: &generator)
            if generator.chance(25) { for insertion in history { sites[index].apply(insertion) } }
            let site = sites[index]
            let previous =
                if generator.chance(60) {
                    cursors[index]
                } else {
                    site.tree.count == 0 || generator.chance(20)
                        ? nil : PositionTree.Node.random(in: 0..<PositionTree.Node(site.tree.count), using: &generator)
                }
            let count = generator.chance(70) ? 1 : Int.random(in: 1..<6, using: &generator)
            let dot = Dot(replica: site.replica, counter: site.vector.next(of: site.replica))
            let insertion = Insertion(
                placement: site.tree.placement(after: previous, by: site.replica), count: count,
                origin: Origin(dot: dot, stamp: .zero, context: site.vector))
            history.append(insertion)
            sites[index].apply(insertion)
            // Types on behind it, or at the same place again, which is backward.
            cursors[index] =
                generator.chance(50) ? sites[index].tree.node(at: dot).map { $0 + Int32(count) - 1 } : previous
        }
        return history
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func `any causal order gives the order of the slow tree`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let history = history(&generator, writes: 40)
        var first = Site(101)
        var slow = ObviousTree()
        for insertion in history {
            first.apply(insertion)
            slow.insert(first.tree.skeleton())
        }
        #expect(first.dots == slow.order)
        #expect(first.tree.count == history.reduce(0) { $0 + $1.count })
        var second = Site(102)
        // Each pass in another order; what is early is refused, and comes again.
        while second.tree.count < first.tree.count {
            for insertion in history.shuffled(using: &generator) { second.apply(insertion) }
        }
        #expect(second.dots == first.dots)
        #expect(second.tree.skeleton() == first.tree.skeleton())
        var third = PositionTree()
        let inserted1 = third.insert(first.tree.skeleton())
        #expect(inserted1)
        #expect(third.skeleton() == first.tree.skeleton())
        var rebuilt = Site(103)
        rebuilt.tree = third
        #expect(rebuilt.dots == first.dots)
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func `a skeleton since a vector brings exactly what lacks`(seed: UInt64)
    {
        var generator = SeededGenerator(seed: seed)
        let history = history(&generator, writes: 60)
        var whole = Site(101)
        var partial = Site(102)
        for insertion in history {
            whole.apply(insertion)
            if generator.chance(40) { partial.apply(insertion) }
        }
        let lacking = whole.tree.skeleton(since: partial.vector)
        #expect(lacking.runs.reduce(0) { $0 + $1.count } == UInt64(whole.tree.count - partial.tree.count))
        let inserted2 = partial.tree.insert(lacking)
        #expect(inserted2)
        #expect(partial.dots == whole.dots)
        #expect(partial.tree.skeleton() == whole.tree.skeleton())
        let inserted3 = partial.tree.insert(whole.tree.skeleton())
        #expect(inserted3)
        #expect(partial.tree.count == whole.tree.count)
    }

    @Test func `an insertion beside a node its author cannot know is void`() {
        var site = Site(1)
        let known = Dot(replica: .author(1), counter: 0)
        site.apply(
            Insertion(
                placement: .after(nil, .end), count: 1,
                origin: Origin(dot: known, stamp: .zero, context: VersionVector())))
        let stranger = Dot(replica: .author(2), counter: 0)
        let blind = Origin(dot: stranger, stamp: .zero, context: VersionVector())
        for placement: Placement in [
            .before(.other(known)), .after(.other(known), .inherited), .after(nil, .node(.other(known))),
            .before(.own(0)), .before(.own(7)), .after(.own(3), .end),
        ] {
            let inserted4 = site.tree.insert(placement, count: 1, at: blind)
            #expect(inserted4 == nil)
        }
        #expect(site.tree.count == 1)
        let seeing = Origin(dot: stranger, stamp: .zero, context: site.vector)
        let inserted5 = site.tree.insert(.before(.other(known)), count: 1, at: seeing)
        #expect(inserted5 != nil)
        let inserted6 = site.tree.insert(.before(.other(known)), count: 1, at: seeing)
        #expect(inserted6 == nil)
        #expect(site.dots == [stranger, known])
    }

    @Test func `positions in a circle, or without a place, are left out`() {
        let dots = (0..<4).map { Dot(replica: .author(UInt8($0) + 1), counter: 5) }
        var skeleton = Skeleton()
        skeleton.runs = [
            .init(first: dots[0], count: 2, place: .before(dots[1])),
            .init(first: dots[1], count: 1, place: .after(dots[0], rightOrigin: nil)),
            .init(first: dots[2], count: 3, place: .after(nil, rightOrigin: nil)),
            .init(first: dots[3], count: 1, place: .after(dots[2], rightOrigin: Dot(replica: .author(9), counter: 0))),
        ]
        var tree = PositionTree()
        let inserted7 = tree.insert(skeleton)
        #expect(!inserted7)
        #expect(tree.count == 3)
        skeleton.runs = [.init(first: dots[0], count: .max, place: .after(nil, rightOrigin: nil))]
        let inserted8 = tree.insert(skeleton)
        #expect(!inserted8)
    }

    @Test func `a run takes one entry, also when it was typed one by one`() {
        var site = Site(1)
        var previous: PositionTree.Node?
        for counter in 0..<1_000 as Range<UInt64> {
            let placement = site.tree.placement(after: previous, by: site.replica)
            let origin = Origin(
                dot: Dot(replica: site.replica, counter: counter), stamp: .zero, context: VersionVector())
            previous = site.tree.insert(placement, count: 1, at: origin)
        }
        #expect(site.tree.skeleton().runs.count == 1)
        #expect(site.tree.skeleton().canonicalBytes.count < 60)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `the order in blocks counts and finds like an array`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var order = PositionOrder()
        var array: [(node: PositionOrder.Node, isShown: Bool)] = []
        while array.count < 12_000 {
            let node = PositionOrder.Node(array.count)
            // Far apart and close together: blocks are split in the middle and at their ends.
            let index = generator.chance(50) ? array.count : Int.random(in: 0...array.count, using: &generator)
            if index > 0, generator.chance(1) {
                // Beside single ones, runs of less than a block and of several.
                let count = Int.random(in: 1...(generator.chance(50) ? 40 : 1_600), using: &generator)
                order.insertNext(count, after: array[index - 1].node)
                array.insert(contentsOf: (node..<node + Int32(count)).map { ($0, false) }, at: index)
            } else if index < array.count, generator.chance(50) {
                order.insertNext(before: array[index].node)
                array.insert((node, false), at: index)
            } else {
                order.insertNext(after: index == 0 ? nil : array[index - 1].node)
                array.insert((node, false), at: index)
            }
            for _ in 0..<2 {
                let index = Int.random(in: 0..<array.count, using: &generator)
                array[index].isShown = generator.chance(70)
                order.setShown(array[index].node, array[index].isShown)
            }
        }
        let shown = array.filter(\.isShown).map(\.node)
        #expect(order.count == array.count && order.shownCount == shown.count)
        #expect(shown.indices.map { order.shownNode(at: $0) } == shown)
        #expect(shown.indices.allSatisfy { order.shownIndex(of: shown[$0]) == $0 })
        #expect(shown.count > 500, "there is something to find")
        let inside = 100..<shown.count - 100
        #expect(order.shownNodes(in: inside) == Array(shown[inside]))
        var visited: [PositionOrder.Node] = []
        order.forEachShown { visited.append($0) }
        #expect(visited == shown)
        #expect(zip(array, array.dropFirst()).allSatisfy { order.next(after: $0.node) == $1.node })
        #expect(order.next(after: array[array.count - 1].node) == nil)
        for _ in 0..<1_000 {
            let (left, right) = (generator.next() % UInt64(array.count), generator.next() % UInt64(array.count))
            #expect(order.precedes(array[Int(left)].node, array[Int(right)].node) == (left < right))
        }
    }
}
