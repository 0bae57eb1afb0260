extension Frame {
    /// Members' newest acknowledgements that the receiver does not have, as far as the sender knows.
    package struct Acknowledgements: Hashable, Sendable {
        package var space: SpaceID
        /// The rows: at least one, at most `Limits.acknowledgementsPerFrame`.
        package var rows: [AcknowledgementRow]

        package init(space: SpaceID, rows: [AcknowledgementRow]) {
            self.space = space
            self.rows = rows
        }
    }

    /// "These are the newest that I have: send me newer ones, whole."
    package struct AcknowledgementRequest: Hashable, Sendable {
        package var space: SpaceID
        /// Sorted by device, each once; at most `Limits.acknowledgementsPerFrame`.
        package var held: [Held]

        package struct Held: Hashable, Sendable {
            package var device: DeviceID
            package var mark: AcknowledgementMark

            package init(device: DeviceID, mark: AcknowledgementMark) {
                self.device = device
                self.mark = mark
            }
        }

        package init(space: SpaceID, held: [Held]) {
            self.space = space
            self.held = held
        }
    }
}
