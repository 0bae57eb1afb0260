package import SyncModel

/// An event as it lies in the log, with its place in both orders.
package struct StoredEvent: Sendable, Hashable {
    package let dot: Dot
    package let stamp: Stamp
    package let type: String?
    /// The JSON text as its author wrote it.
    package let payload: [UInt8]
    /// The author's wall clock.
    package let wallMilliseconds: Int64
    /// Arrival number at this node, from 1, growing without reuse over all streams.
    package let position: Int64

    package init(dot: Dot, stamp: Stamp, type: String?, payload: [UInt8], wallMilliseconds: Int64, position: Int64) {
        self.dot = dot
        self.stamp = stamp
        self.type = type
        self.payload = payload
        self.wallMilliseconds = wallMilliseconds
        self.position = position
    }
}

extension StoredEvent {
    package var canonicalKey: CanonicalKey { CanonicalKey(stamp: stamp, dot: dot) }
}
