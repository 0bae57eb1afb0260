extension Frame {
    /// An offer to send state for what the receiver lacks: "What I hold and you lack, take from me as state." The changes may
    /// be held no more, or state may be far less to send. The receiver decides.
    package struct StateOffer: Hashable, Sendable {
        package var space: SpaceID

        package init(space: SpaceID) { self.space = space }
    }

    /// "Send me what you hold as state." Answered by `StateItems` with the same id.
    package struct StateRequest: Hashable, Sendable {
        /// The id of the request: not 0; unique per session and direction, among those of wants.
        package var id: UInt64
        package var space: SpaceID
        /// The vector that the receiver held when it began to ask, or less; at most `Limits.stateFrameEntries`.
        package var since: VersionVector
        /// The vector behind the events that it has staged, per replica.
        package var stagedEvents: VersionVector
        /// True if the receiver has staged objects: objects are to be named before they are sent.
        package var asks: Bool
        /// Bytes of items that may be sent before the next `Credit`; at most `Limits.creditBytes`.
        package var creditBytes: UInt64

        package init(
            id: UInt64, space: SpaceID, since: VersionVector, stagedEvents: VersionVector, asks: Bool,
            creditBytes: UInt64
        ) {
            self.id = id
            self.space = space
            self.since = VersionVector(since.entries.prefix(Limits.stateFrameEntries))
            self.stagedEvents = VersionVector(stagedEvents.entries.prefix(Limits.stateFrameEntries))
            self.asks = asks
            self.creditBytes = creditBytes
        }
    }

    /// Some bytes of a state delta, wherever they fall.
    package struct StateItems: Hashable, Sendable {
        package var id: UInt64
        /// The sender's vector, in the first frame and in no other. Nil there too if it has more than
        /// `Limits.stateFrameEntries` entries.
        package var vector: VersionVector?
        /// The bytes of the stream; at most `Limits.statePartBytes`.
        package var bytes: [UInt8]
        /// True if no more comes. The closing item says whether all came.
        package var last: Bool

        package init(id: UInt64, vector: VersionVector? = nil, bytes: [UInt8], last: Bool) {
            self.id = id
            self.vector = vector.flatMap { $0.entries.count <= Limits.stateFrameEntries ? $0 : nil }
            self.bytes = bytes
            self.last = last
        }
    }

    /// "These come next: which have you staged just so?" Nothing more comes before the answer.
    package struct StateQuestion: Hashable, Sendable {
        package var id: UInt64
        /// 1 to `Limits.stateAnnouncementsPerFrame`.
        package var announcements: [StateAnnouncement]

        package init(id: UInt64, announcements: [StateAnnouncement]) {
            self.id = id
            self.announcements = announcements
        }
    }

    package struct StateAnswer: Hashable, Sendable {
        package var id: UInt64
        /// True for each announced object that is staged, one for each announcement, in their order.
        package var staged: [Bool]

        package init(id: UInt64, staged: [Bool]) {
            self.id = id
            self.staged = staged
        }
    }
}

extension Frame.StateRequest {
    func checkBounds() throws(WireError) {
        try Frame.require(id > 0, "state_request.id")
        try Frame.require(creditBytes <= Limits.creditBytes, "state_request.credit_bytes")
    }
}

extension Frame.StateItems {
    func checkBounds() throws(WireError) {
        try Frame.require(id > 0, "state_items.id")
        try Frame.require(bytes.count <= Limits.statePartBytes, "state_items.data")
        try Frame.require(!bytes.isEmpty || vector != nil || last, "state_items.data")
    }
}

extension VersionVector {
    /// The bytes of the vector, in the form of acknowledgements; also without entries.
    var frameBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(entries: entries)
        return bytes
    }

    init(frameBytes bytes: [UInt8], _ field: String) throws(WireError) {
        var reader = ByteReader(bytes)
        do throws(CodecError) {
            let entries = try reader.entries(field, upTo: Limits.stateFrameEntries)
            guard reader.isAtEnd, entries.allSatisfy({ $0.next > 0 }) else { throw .outOfRange(field: field) }
            self.init(entries)
        } catch { throw .outOfRange(field: field) }
    }
}
