/// What a set can hold, or a dictionary have as a key: found by hash, and leaving a process in one order everywhere.
///
/// Equality must be exact (reflexive, and equal values interchangeable), or replicas could show different twins: use
/// `ExactString` rather than `String`, and no `Double` that may be NaN or −0.
public typealias ReplicableElement = Hashable & Comparable & Codable & Sendable

/// What a register can hold.
public typealias ReplicableValue = Hashable & Codable & Sendable
