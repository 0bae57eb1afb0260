/// The reasons why no reader may begin with a state. Each says who can act on it.
extension SnapshotRecord {
    /// A problem of a record that reads back.
    package enum Problem: Hashable, Sendable {
        /// The vector names histories that this space does not have, so events that are here under other names would be
        /// counted twice. An import brings such records.
        case foreign
        /// The vector covers operations that are not here. The author of a snapshot holds what it covers, and those
        /// operations arrive before it. So state is still arriving, or the author claims operations that their owner never
        /// wrote; then a reader would never be given that owner's next events.
        case ahead
        /// The snapshot lacks events that were dropped. A node that drops events waits for every snapshot that it knows, and
        /// this one was on its way. A reader that begins with it would never get them.
        case outdated
    }

    /// - Parameters:
    ///   - devices: all whose histories this space has.
    ///   - held: all that is here.
    ///   - dropped: of its stream; nothing of one that shows the greatest per type, where what is dropped was superseded.
    package func problem(
        in space: SpaceID, devices: Set<DeviceID>, holding held: VersionVector, dropped: DroppedEvents
    ) -> Problem? {
        guard self.space == space, vector.entries.allSatisfy({ devices.contains($0.replica.device) }) else {
            return .foreign
        }
        guard held.covers(vector) else { return .ahead }
        return vector.covers(dropped.vector) ? nil : .outdated
    }

    /// The readable part of fields that are no record.
    package struct Unreadable: Hashable, Sendable {
        /// The format, if it is greater than this program's: a newer one wrote it. Nil if the fields were edited.
        package let newerFormat: Int64?
        /// Nil where that is what was changed.
        package let stream: ExactString?
        package let schema: Int64?

        package init(_ fields: [JSONValue.Member]) {
            func value(_ name: String) -> JSONValue? { fields.first { $0.key == ExactString(name) }?.value }
            func number(_ name: String) -> Int64? {
                if case .integer(let number)? = value(name) { number } else { nil }
            }
            newerFormat = number("format").flatMap { $0 > SnapshotRecord.format ? $0 : nil }
            stream = if case .string(let stream)? = value("stream") { stream } else { nil }
            schema = number("schema")
        }

        /// True if it may be one that a reader asks for.
        package func mayServe(stream: ExactString, schema: Int64) -> Bool {
            self.stream == stream && self.schema.map { $0 == schema } ?? true
        }
    }
}
