/// A tree of positions in its one canonical form: what is compared, hashed, kept and shipped of it.
package struct Skeleton: Hashable, Sendable, Codable {
    /// Nodes of one replica with consecutive counters, each but the first the right child of the one before, all with the
    /// same right origin.
    package struct Run: Hashable, Sendable, Codable {
        package enum Place: Hashable, Sendable, Codable {
            case before(Dot)
            /// Nil as parent: the root. Nil as right origin: the end.
            case after(Dot?, rightOrigin: Dot?)
        }

        package let first: Dot
        package fileprivate(set) var count: UInt64
        package let place: Place

        package init(first: Dot, count: UInt64, place: Place) {
            self.first = first
            self.count = count
            self.place = place
        }

        fileprivate var rightOrigin: Dot? {
            switch place {
            case .before(let next): next
            case .after(_, let rightOrigin): rightOrigin
            }
        }

        /// True if `next` would be a part of this run.
        func continues(with next: Run) -> Bool {
            guard case .after(let parent?, let rightOrigin) = next.place, first.counter + count == next.first.counter,
                first.replica == next.first.replica, parent.replica == first.replica
            else { return false }
            return parent.counter + 1 == next.first.counter && rightOrigin == self.rightOrigin
        }
    }

    /// Sorted by dot; as few as possible.
    package var runs: [Run] = []

    package init() {}
}

extension PositionTree {
    /// The nodes that `vector` does not cover, with their places.
    package func skeleton(since vector: VersionVector = VersionVector()) -> Skeleton {
        var skeleton = Skeleton()
        for node in nodesByDot(since: vector) {
            let link = links[Int(node)]
            let next = link.rightOrigin == Self.none ? nil : dot(of: link.rightOrigin)
            let place: Skeleton.Run.Place
            switch link.side {
            case .left: place = .before(dot(of: link.parent))
            case .right: place = .after(link.parent == Self.none ? nil : dot(of: link.parent), rightOrigin: next)
            }
            let run = Skeleton.Run(first: dot(of: node), count: 1, place: place)
            if let last = skeleton.runs.indices.last, skeleton.runs[last].continues(with: run) {
                skeleton.runs[last].count += 1
            } else {
                skeleton.runs.append(run)
            }
        }
        return skeleton
    }

    /// The nodes that `vector` does not cover, sorted by dot.
    package func nodesByDot(since vector: VersionVector = VersionVector()) -> [Node] {
        var nodes: [Node] = []
        for replica in replicas.indices.sorted(by: { replicas[$0] < replicas[$1] }) {
            let next = vector.next(of: replicas[replica])
            for stretch in stretches[replica] where stretch.counter + UInt64(stretch.count) > next {
                let skipped = stretch.counter < next ? Node(next - stretch.counter) : 0
                nodes += (stretch.node + skipped)..<(stretch.node + Node(stretch.count))
            }
        }
        return nodes
    }

    /// Adds the nodes of `skeleton` that are not here. Returns false if some have no place: their parent or right origin is
    /// neither here nor there, or they are in a circle; those are left out.
    ///
    /// A node needs two earlier ones, which may stand later in the skeleton. The needed ones are inserted first, with an
    /// array as the stack: the sender decides how deep it grows.
    @discardableResult
    package mutating func insert(_ skeleton: Skeleton) -> Bool {
        var states = [RunState](repeating: .waiting, count: skeleton.runs.count)
        for start in skeleton.runs.indices {
            var stack = [start]
            while let index = stack.last {
                switch states[index] {
                case .inserted, .refused:
                    stack.removeLast()
                    continue
                case .waiting, .entered: break
                }
                let needed = skeleton.runs[index].needed.filter { node(at: $0) == nil }
                if needed.isEmpty {
                    states[index] = insert(skeleton.runs[index]) ? .inserted : .refused
                    stack.removeLast()
                } else if states[index] == .waiting {
                    states[index] = .entered
                    stack += needed.compactMap { skeleton.runIndex(of: $0) }.filter { states[$0] == .waiting }
                } else {
                    states[index] = .refused
                    stack.removeLast()
                }
            }
        }
        return states.allSatisfy { $0 == .inserted }
    }

    private enum RunState {
        case waiting
        case entered
        case inserted
        case refused
    }

    /// Adds the nodes of `run` that are not here. The nodes that its first one needs must be here. False if there is no room.
    private mutating func insert(_ run: Skeleton.Run) -> Bool {
        guard run.count > 0, run.count <= Self.decodedLimit, UInt64(links.count) + run.count < UInt64(Node.max),
            !run.first.counter.addingReportingOverflow(run.count).overflow
        else { return false }
        var parent = Self.none
        var side = Side.right
        var rightOrigin = Self.none
        switch run.place {
        case .before(let next):
            side = .left
            parent = node(at: next) ?? Self.none
            rightOrigin = parent
        case .after(let previous, let next):
            parent = previous.flatMap { node(at: $0) } ?? Self.none
            rightOrigin = next.flatMap { node(at: $0) } ?? Self.none
        }
        var offset: UInt64 = 0
        while offset < run.count {
            let first = Dot(replica: run.first.replica, counter: run.first.counter + offset)
            if let present = node(at: first) {
                parent = present
                side = .right
                offset += 1
                continue
            }
            var count: UInt64 = 1
            while offset + count < run.count,
                node(at: Dot(replica: first.replica, counter: first.counter + count)) == nil
            {
                count += 1
            }
            guard
                let node = insert(first: first, count: Int(count), parent: parent, side: side, rightOrigin: rightOrigin)
            else { return false }
            parent = node + Node(count - 1)
            side = .right
            offset += count
        }
        return true
    }
}

extension Skeleton.Run {
    /// The nodes without which the first of these has no place.
    fileprivate var needed: [Dot] {
        switch place {
        case .before(let next): [next]
        case .after(let parent, let rightOrigin): [parent, rightOrigin].compactMap { $0 }
        }
    }
}

extension Skeleton {
    fileprivate func runIndex(of dot: Dot) -> Int? {
        let index = runs.firstIndexPast { $0.first > dot } - 1
        guard index >= 0, runs[index].first.replica == dot.replica,
            dot.counter - runs[index].first.counter < runs[index].count
        else { return nil }
        return index
    }
}
