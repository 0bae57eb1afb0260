/// The operations of one edit: an atomic group.
public struct DocumentChange<Operation: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    /// The dot of the first operation.
    public let start: Dot
    /// The number of counters that the operations own together.
    public let count: UInt64
    /// Greater than all stamps its author had seen.
    public let stamp: Stamp
    /// The vector that the author held.
    public let context: VersionVector
    /// The operations in the order in which they were written; each begins where the one before it ends.
    public let operations: [Operation]

    /// A change as it was written elsewhere; `Document.apply` checks it.
    public init(start: Dot, count: UInt64, stamp: Stamp, context: VersionVector, operations: [Operation]) {
        self.start = start
        self.count = count
        self.stamp = stamp
        self.context = context
        self.operations = operations
    }
}

/// The part of a document that a replica which holds `since` lacks.
public struct DocumentDelta<Content: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    /// The vector that the receiver must hold at least.
    public let since: VersionVector
    /// The vector that the receiver holds afterwards, in addition to its own.
    public let vector: VersionVector
    let greatestStamp: Stamp
    let content: Content
}

/// The reason why a document does not take a change or delta in. The document is unchanged then.
public enum DocumentError: Error, Hashable, Sendable {
    /// An operation that was written before it is not held yet: take that in first.
    case missingContext
    /// The change begins inside a change that is held: two histories were written under one replica.
    case overlap
    /// The change breaks a rule: an author that follows them cannot have written it.
    case malformed
}
