package import SyncModel

/// What a stream holds.
package struct StreamSummary: Sendable, Hashable {
    package let name: String
    /// That a reader is shown.
    package let events: Int64
    package let lastPosition: Int64
    /// Nil: nobody has said how to keep it, so every event is.
    package let setting: Operation.StreamSetting?
    /// Its retention has let events go.
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
