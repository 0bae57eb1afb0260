package import SyncModel

/// The events of one stream that the log holds and does not show: dropped ones, and those at or beyond a strict end of their
/// replica (`CutTable.strictEnd`).
package struct HiddenEvents: Sendable {
    package let dropped: DroppedEvents
    /// The strict ends of the held replicas that have one.
    package let strictEnds: [ReplicaID: UInt64]

    package init(dropped: DroppedEvents, strictEnds: [ReplicaID: UInt64] = [:]) {
        self.dropped = dropped
        self.strictEnds = strictEnds
    }

    package func contains(_ dot: Dot) -> Bool {
        if dropped.contains(dot) { return true }
        return !strictEnds.isEmpty && strictEnds[dot.replica].map { dot.counter >= $0 } ?? false
    }
}
