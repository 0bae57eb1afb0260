extension PastOperation {
    /// The number of counters it owns.
    fileprivate var span: UInt64 { action.span }

    fileprivate var isEdit: Bool {
        switch action {
        case .edit, .editAttachments: true
        case .delete, .keep: false
        }
    }
}

/// Everything that was done to one object, change by change, in the order in which it arrived at a node.
package struct ObjectPast: Sendable {
    /// The part of one change in the object: all its edits, or one deletion or decision.
    package struct Change: Sendable {
        /// The operations in their order; at least one.
        package let operations: ArraySlice<PastOperation>

        /// The object's version behind the change: its last dot.
        package var version: Dot { Dot(replica: last.origin.dot.replica, counter: max(counters.upperBound, 1) - 1) }
        package var wallMilliseconds: Int64 { last.wallMilliseconds }
        package var stamp: Stamp { last.origin.stamp }

        fileprivate var last: PastOperation { operations[operations.endIndex - 1] }
        fileprivate var counters: Range<UInt64> {
            operations[operations.startIndex].origin.dot.counter..<last.origin.dot.counter + last.span
        }
    }

    /// The object before all `changes`; nil if these are all changes there ever were.
    package let beginning: ObjectBeginning?
    package let changes: [Change]

    /// - Parameter operations: in causal order; those of one change together. What the beginning has is left out.
    package init(_ operations: [PastOperation], from beginning: ObjectBeginning? = nil) {
        self.beginning = beginning
        let known = beginning?.state.lives.touched ?? VersionVector()
        let operations = operations.filter { !known.covers($0.origin.dot) }
        var changes: [Change] = []
        var start = 0
        for index in operations.indices {
            let next = index + 1
            if next < operations.count, Self.areOfOneChange(operations[index], operations[next]) { continue }
            changes.append(Change(operations: operations[start..<next]))
            start = next
        }
        self.changes = changes
    }

    /// A stamp is greater than every other that its author had seen, its own earlier ones included: a replica gives it to
    /// one change.
    private static func areOfOneChange(_ one: PastOperation, _ next: PastOperation) -> Bool {
        one.isEdit && next.isEdit && one.origin.dot.replica == next.origin.dot.replica
            && one.origin.stamp == next.origin.stamp
    }

    // MARK: As it was

    /// The change that has this version, or in which the operation with this dot is; nil: none of this object.
    package func change(of version: Dot) -> Change? {
        changes.first { $0.version.replica == version.replica && $0.counters.contains(version.counter) }
    }

    /// True if `state(behind:)` is known here: the author of the change had seen all operations of `beginning`, which are not
    /// told apart any more.
    package func isKnown(_ change: Change) -> Bool {
        let last = change.last.origin
        return (beginning?.state.lives.touched.entries ?? []).allSatisfy { entry in
            last.knows(Dot(replica: entry.replica, counter: entry.next - 1))
        }
    }

    /// The object as the author of a change left it: with all that the author had seen, and nothing that was concurrent.
    /// The same on every node that holds the change, and knows it (`isKnown`).
    package func state(behind change: Change, members: MemberFacts) -> ObjectState {
        let last = change.last.origin
        var state = beginning?.state ?? ObjectState()
        for change in changes {
            for operation in change.operations
            where last.knows(operation.origin.dot) || operation.origin.dot == last.dot {
                _ = state.apply(
                    operation.action, at: operation.origin, wallMilliseconds: operation.wallMilliseconds,
                    members: members, earlier: { [] })
            }
        }
        return state
    }

    /// The object before a change as this node showed it: with all that arrived here earlier, in that order.
    package func state(before change: Change, members: MemberFacts) -> ObjectState {
        var state = beginning?.state ?? ObjectState()
        for earlier in changes {
            if earlier.version == change.version { break }
            for operation in earlier.operations {
                _ = state.apply(
                    operation.action, at: operation.origin, wallMilliseconds: operation.wallMilliseconds,
                    members: members, earlier: { [] })
            }
        }
        return state
    }

    /// The object with the changes that were made until a time, by their authors' clocks. A change whose author had seen a later
    /// one counts as later, too, whatever its clock said: what it edits may not be there.
    package func state(upTo milliseconds: Int64, members: MemberFacts) -> ObjectState {
        var state = beginning?.state ?? ObjectState()
        // The first change of each replica that is left out.
        var later: [Dot] = []
        for change in changes {
            let origin = change.last.origin
            let isLater =
                change.wallMilliseconds > milliseconds
                || later.contains { $0.replica == origin.dot.replica || origin.knows($0) }
            guard !isLater else {
                if !later.contains(where: { $0.replica == origin.dot.replica }) {
                    later.append(Dot(replica: origin.dot.replica, counter: change.counters.lowerBound))
                }
                continue
            }
            for operation in change.operations {
                _ = state.apply(
                    operation.action, at: operation.origin, wallMilliseconds: operation.wallMilliseconds,
                    members: members, earlier: { [] })
            }
        }
        return state
    }

    /// Finds the changes of many dots.
    var index: Index { Index(changes) }

    struct Index {
        private struct Entry {
            let counters: Range<UInt64>
            let change: Int
        }

        private let changes: [Change]
        /// The entries of each replica, by counters.
        private var entries: [ReplicaID: [Entry]] = [:]

        fileprivate init(_ changes: [Change]) {
            self.changes = changes
            // Changes of one replica arrive in their order.
            for (index, change) in changes.enumerated() {
                entries[change.version.replica, default: []].append(Entry(counters: change.counters, change: index))
            }
        }

        /// The change that `dot` is in (nil: none that is known here), and how many counters from it on are in that same.
        func change(of dot: Dot) -> (change: Change?, count: UInt64) {
            let entries = entries[dot.replica] ?? []
            let index = entries.firstIndexPast { $0.counters.upperBound > dot.counter }
            guard index < entries.count else { return (nil, .max) }
            let counters = entries[index].counters
            guard counters.contains(dot.counter) else { return (nil, counters.lowerBound - dot.counter) }
            return (changes[entries[index].change], counters.upperBound - dot.counter)
        }
    }
}
