package import SyncModel

/// A summary of one stream.
package struct StreamSummary: Sendable, Hashable {
    package let name: String
    /// The number of events shown to readers.
    package let events: Int64
    package let lastPosition: Int64
    /// The stream's setting; nil if none was set, so every event is kept.
    package let setting: Operation.StreamSetting?
    /// True if the stream's retention has dropped events.
    package let hasDropped: Bool

    package init(
        name: String, events: Int64, lastPosition: Int64, setting: Operation.StreamSetting? = nil,
        hasDropped: Bool = false
    ) {
        self.name = name
        self.events = events
        self.lastPosition = lastPosition
        self.setting = setting
        self.hasDropped = hasDropped
    }
}
