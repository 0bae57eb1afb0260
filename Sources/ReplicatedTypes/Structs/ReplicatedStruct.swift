/// A struct whose members are replicated types, and that merges member by member without code of its own.
///
///     struct Note: ReplicatedStruct {
///         var title = ReplicatedRegister<String>()
///         var tags = ReplicatedSet<ExactString>()
///         var plays = ReplicatedCounter()
///
///         static let members = ReplicatedMembers(\Note.title, \Note.tags, \Note.plays)
///     }
///
/// Listing the members once is the price of not using a macro, which would make everybody who builds this compile
/// swift-syntax first. Members are named by their place in the list: later versions add at its end, and never reorder.
/// What is not in the list does not travel.
public protocol ReplicatedStruct: Replicated where Operation == Members.Operation, Delta == Members.Delta {
    /// A `ReplicatedMembers` of the members' types.
    associatedtype Members: ReplicatedMemberList where Members.Root == Self
    /// The members, each once.
    static var members: Members { get }
}

extension ReplicatedStruct {
    /// True if a reader sees anything of it.
    public var isLive: Bool { Self.members.isLive(self) }

    /// The number of counters that the operation owns.
    public static func span(of operation: Operation) -> UInt64 { members.span(of: operation) }

    /// Applies an operation whose causal past is applied; again, it changes nothing.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        Self.members.apply(operation, at: origin, to: &self)
    }

    /// The data about inner counters that a removal of the whole has to carry.
    public var removal: Removal { Self.members.removal(of: self) }

    /// Removes everything the author of `origin` had seen.
    public mutating func remove(_ removal: Removal, at origin: Origin) {
        Self.members.remove(removal, at: origin, from: &self)
    }

    /// Returns the part that a replica which holds `vector` lacks.
    public func delta(since vector: VersionVector) -> Delta { Self.members.delta(of: self, since: vector) }

    /// Takes in a delta that was made at `theirs`.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        Self.members.join(delta, into: &self, held: held, theirs: theirs)
    }
}

/// The editing and merging of a struct's members; `ReplicatedMembers` is the one implementation.
public protocol ReplicatedMemberList<Root>: Sendable {
    /// The struct.
    associatedtype Root
    /// An edit of one member.
    associatedtype Operation: Hashable, Sendable, Codable
    /// The part of the members that a replica lacks.
    associatedtype Delta: Hashable, Sendable, Codable

    /// True if a member is live.
    func isLive(_ root: Root) -> Bool
    /// The span of the member's operation.
    func span(of operation: Operation) -> UInt64
    /// Edits the member.
    func apply(_ operation: Operation, at origin: Origin, to root: inout Root)
    /// Returns the removals of the members.
    func removal(of root: Root) -> Removal
    /// Removes what was seen of every member.
    func remove(_ removal: Removal, at origin: Origin, from root: inout Root)
    /// Returns the deltas of the members.
    func delta(of root: Root, since vector: VersionVector) -> Delta
    /// Joins member by member.
    func join(_ delta: Delta, into root: inout Root, held: VersionVector, theirs: VersionVector)
    /// The edit of the member at `path`, which must be in the list.
    func operation<Member: Replicated>(
        _ operation: Member.Operation, on path: WritableKeyPath<Root, Member>
    ) -> Operation
}
