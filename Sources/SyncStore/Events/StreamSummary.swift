/// What a stream holds.
package struct StreamSummary: Sendable, Hashable {
    package let name: String
    package let events: Int64
    package let lastPosition: Int64

    package init(name: String, events: Int64, lastPosition: Int64) {
        self.name = name
        self.events = events
        self.lastPosition = lastPosition
    }
}
