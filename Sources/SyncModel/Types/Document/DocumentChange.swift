/// What one edit wrote: an atomic group of operations.
public struct DocumentChange<Operation: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    /// Its first counter.
    public let start: Dot
    /// How many counters its operations own together.
    public let count: UInt64
    /// Greater than all stamps its author had seen.
    public let stamp: Stamp
    /// What its author held.
    public let context: VersionVector
    /// In the order in which they were written; each begins where the one before it ends.
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

/// What a replica that holds `since` lacks of a document.
public struct DocumentDelta<Content: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    /// What the receiver must hold at least.
    public let since: VersionVector
    /// What the receiver holds afterwards, beside its own.
    public let vector: VersionVector
    let greatestStamp: Stamp
    let content: Content
}

/// Why a document does not take something in. It is unchanged then.
public enum DocumentError: Error, Hashable, Sendable {
    /// Something was written before it that is not held yet: take that in first.
    case missingContext
    /// It begins inside a change that is held: two histories were written under one replica.
    case overlap
    /// Nobody who follows the rules has written this.
    case malformed
}
