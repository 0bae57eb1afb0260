extension Frame {
    /// Presence records that the receiver does not have, as far as the sender knows: of the sender and of other members.
    package struct Presence: Hashable, Sendable {
        package var space: SpaceID
        /// The records: at least one, at most `Limits.presencesPerFrame`.
        package var records: [SignedPresence]

        package init(space: SpaceID, records: [SignedPresence]) {
            self.space = space
            self.records = records
        }

        func checkBounds() throws(WireError) {
            try Frame.require((1...Limits.presencesPerFrame).contains(records.count), "presence.records")
            try Frame.require(
                records.allSatisfy { $0.record.isValid && $0.signature.count == ChainSignature.byteCount },
                "presence.records")
        }
    }
}
