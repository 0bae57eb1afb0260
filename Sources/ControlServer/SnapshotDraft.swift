package import ControlAPI

/// A snapshot to be saved.
package struct SnapshotDraft: Sendable, Equatable {
    package var space: String
    package var stream: String
    package var consumer: String
    package var schema: Int64
    /// The position up to which the state holds acknowledged events; nil: all of them.
    package var position: EventPosition?
    /// The number of newest snapshots to keep. Older ones are deleted, unless they hold what no newer one does; nil: none is.
    package var keepMostRecent: Int?
    /// The size of the whole in bytes; nil if unknown before the end.
    package var size: UInt64?

    package init(
        space: String, stream: String, consumer: String, schema: Int64, position: EventPosition? = nil,
        keepMostRecent: Int? = nil, size: UInt64? = nil
    ) {
        self.space = space
        self.stream = stream
        self.consumer = consumer
        self.schema = schema
        self.position = position
        self.keepMostRecent = keepMostRecent
        self.size = size
    }
}
