/// The members of a struct, by key path; see `ReplicatedStruct`.
///
/// Sendable although key paths are not always: `init` takes only those that are.
public struct ReplicatedMembers<Root, each Member: Replicated>: ReplicatedMemberList, @unchecked Sendable {
    /// An edit of one member.
    public typealias Operation = MemberOperation<repeat each Member>
    /// The part of each member that a replica lacks.
    public typealias Delta = MemberDeltas<repeat each Member>

    let paths: (repeat WritableKeyPath<Root, each Member>)

    /// Creates the list of members. Later versions add paths at the end, and keep the others where they are.
    public init(_ path: repeat any WritableKeyPath<Root, each Member> & Sendable) { paths = (repeat each path) }

    /// True if a member is live.
    public func isLive(_ root: Root) -> Bool {
        for path in repeat each paths {
            if root[keyPath: path].isLive { return true }
        }
        return false
    }

    /// The span of the member's operation.
    public func span(of operation: Operation) -> UInt64 {
        var sum: UInt64 = 0
        for nested in repeat Self.span((each Member).self, each operation.operations) { sum += nested }
        return max(1, sum)
    }

    private static func span<Nested: Replicated>(_ type: Nested.Type, _ operation: Nested.Operation?) -> UInt64 {
        operation.map { Nested.span(of: $0) } ?? 0
    }

    /// Edits the member.
    public func apply(_ operation: Operation, at origin: Origin, to root: inout Root) {
        for (path, nested) in repeat (each paths, each operation.operations) {
            if let nested { root[keyPath: path].apply(nested, at: origin) }
        }
    }

    /// Returns the removals of the members.
    public func removal(of root: Root) -> Removal {
        var children: [Removal.Child] = []
        var index: UInt64 = 0
        for path in repeat each paths {
            let member = root[keyPath: path]
            let removal = member.isLive ? member.removal : Removal()
            if !removal.isEmpty { children.append(Removal.Child(key: Self.key(index), removal: removal)) }
            index += 1
        }
        return Removal(children: children.sorted { $0.key.lexicographicallyPrecedes($1.key) })
    }

    /// Removes what was seen of every member.
    public func remove(_ removal: Removal, at origin: Origin, from root: inout Root) {
        var index: UInt64 = 0
        for path in repeat each paths {
            root[keyPath: path].remove(removal.child(Self.key(index)), at: origin)
            index += 1
        }
    }

    /// Returns the deltas of the members.
    public func delta(of root: Root, since vector: VersionVector) -> Delta {
        Delta(deltas: (repeat Self.delta(root[keyPath: each paths], since: vector)))
    }

    /// Nil when there is nothing to say: what `join` then takes is the delta of nothing.
    private static func delta<Nested: Replicated>(_ member: Nested, since vector: VersionVector) -> Nested.Delta? {
        let delta = member.delta(since: vector)
        return delta == Nested().delta(since: vector) ? nil : delta
    }

    private static func join<Nested: Replicated>(
        _ delta: Nested.Delta?, into member: inout Nested, held: VersionVector, theirs: VersionVector
    ) {
        member.join(delta ?? Nested().delta(since: VersionVector()), held: held, theirs: theirs)
    }

    /// Joins member by member.
    public func join(_ delta: Delta, into root: inout Root, held: VersionVector, theirs: VersionVector) {
        for (path, nested) in repeat (each paths, each delta.deltas) {
            Self.join(nested, into: &root[keyPath: path], held: held, theirs: theirs)
        }
    }

    /// The edit of the member at `path`, which must be in the list.
    public func operation<Edited: Replicated>(
        _ operation: Edited.Operation, on path: WritableKeyPath<Root, Edited>
    ) -> Operation {
        var isListed = false
        for listed in repeat each paths {
            if listed == path { isListed = true }
        }
        precondition(isListed, "a member is edited that is not in the list of members")
        return MemberOperation(operations: (repeat Self.match(each paths, path, operation)))
    }

    /// The operation, if it is one of this member.
    private static func match<Listed: Replicated>(
        _ listed: WritableKeyPath<Root, Listed>, _ path: AnyKeyPath, _ operation: any Hashable
    ) -> Listed.Operation? { listed == path ? operation as? Listed.Operation : nil }

    /// A member's key in a `Removal`: its place, as a varint.
    private static func key(_ index: UInt64) -> [UInt8] {
        var key: [UInt8] = []
        key.append(varint: index)
        return key
    }
}

/// An edit of one member of a struct.
public struct MemberOperation<each Member: Replicated>: Sendable {
    /// The operations by member: all nil but one.
    let operations: (repeat (each Member).Operation?)
}

/// The part of a struct's members that a replica lacks.
public struct MemberDeltas<each Member: Replicated>: Sendable {
    /// Nil where there is nothing to say.
    let deltas: (repeat (each Member).Delta?)
}

extension MemberOperation: Hashable {
    /// Exact equality.
    public static func == (left: Self, right: Self) -> Bool {
        for (left, right) in repeat (each left.operations, each right.operations) {
            if left != right { return false }
        }
        return true
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { repeat (each operations).hash(into: &hasher) }
}

extension MemberDeltas: Hashable {
    /// Exact equality.
    public static func == (left: Self, right: Self) -> Bool {
        for (left, right) in repeat (each left.deltas, each right.deltas) {
            if left != right { return false }
        }
        return true
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { repeat (each deltas).hash(into: &hasher) }
}
