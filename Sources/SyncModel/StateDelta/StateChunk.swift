/// A stretch of a state delta that a sender has read: whole items, as they are sent.
package struct StateChunk: Sendable, Equatable {
    package var bytes: [UInt8]
    /// Objects that come next, of which the receiver is asked first; empty when it is not.
    package var question: [StateAnnouncement]
    /// The closing item is in it.
    package var isLast: Bool

    package init(bytes: [UInt8], question: [StateAnnouncement], isLast: Bool) {
        self.bytes = bytes
        self.question = question
        self.isLast = isLast
    }
}

/// The approximate number of bytes on the wire, sent as changes or as state.
package struct StateWeight: Sendable, Equatable {
    package var changeBytes: UInt64
    package var stateBytes: UInt64

    package init(changeBytes: UInt64, stateBytes: UInt64) {
        self.changeBytes = changeBytes
        self.stateBytes = stateBytes
    }
}
