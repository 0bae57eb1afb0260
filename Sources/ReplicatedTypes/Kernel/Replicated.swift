/// A value that several replicas change apart and that merges to the same everywhere.
///
/// Three roads lead to one state (tested over random histories): applying the same operations in any causal order,
/// merging whole states, and joining deltas.
///
/// A conforming value holds no vector of its own, so that values nest without repeating it; `Document` pairs a value
/// with the vector that it reflects. What a value holds is *dots*: each live thing carries the dot of the operation that
/// made it. A dot that one side holds, and the other does not hold although its vector covers it, was removed there.
/// (Almeida, Shoker, Baquero: "Delta State Replicated Data Types", 2018.)
public protocol Replicated: Hashable, Sendable, Codable {
    /// The smallest edit.
    associatedtype Operation: Hashable, Sendable, Codable
    /// The part of this value that a replica at some vector lacks.
    associatedtype Delta: Hashable, Sendable, Codable

    /// Creates a value that no replica has written yet.
    init()

    /// True if a reader sees anything: an element, a scalar, or the creation of an empty container.
    var isLive: Bool { get }

    /// The number of counters that the operation owns, at least 1.
    static func span(of operation: Operation) -> UInt64

    /// Applies an operation whose causal past is applied. Applying it again changes nothing. An operation that makes
    /// no sense here (it comes from a peer) is void: it changes nothing on any replica alike.
    mutating func apply(_ operation: Operation, at origin: Origin)

    /// The data that a removal of this value has to carry because no vector tells it; empty unless counters are inside.
    var removal: Removal { get }

    /// Removes everything the author of `origin` had seen of it. What was concurrent survives.
    mutating func remove(_ removal: Removal, at origin: Origin)

    /// Everything that a replica which holds `vector` lacks, and the dots of all that is live, so that what is missing
    /// from them is known to be removed.
    func delta(since vector: VersionVector) -> Delta

    /// Takes in a delta made at `theirs` (the sender's vector) for a vector that `held` (ours) covers.
    mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector)
}

extension Replicated {
    /// Joins a whole state that reflects `theirs` into this one, which reflects `held`: commutative, associative, idempotent.
    public mutating func merge(_ other: Self, held: VersionVector, theirs: VersionVector) {
        join(other.delta(since: VersionVector()), held: held, theirs: theirs)
    }
}
