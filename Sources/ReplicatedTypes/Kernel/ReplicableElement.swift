/// An element of a set, or a key of a dictionary: found by hash, and leaving a process in one order everywhere.
///
/// Equality must be exact (reflexive, and equal values interchangeable), or replicas could show different twins: use
/// `ExactString` rather than `String`, and no `Double` that may be NaN or −0.
public typealias ReplicableElement = Hashable & Comparable & Codable & Sendable

/// A value of a register.
public typealias ReplicableValue = Hashable & Codable & Sendable
