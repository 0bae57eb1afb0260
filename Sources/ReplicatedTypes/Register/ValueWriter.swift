/// The writer of a value, and the time of writing.
package struct ValueWriter: Hashable, Sendable {
    package let replica: ReplicaID
    /// The stamp of the write. Its milliseconds are those of the writer's clock, unless the writer had seen a later stamp.
    package let stamp: Stamp
}
