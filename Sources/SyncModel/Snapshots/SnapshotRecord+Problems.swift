/// Why nobody may begin with a state. Each says who could do something about it.
extension SnapshotRecord {
    /// Of a record that reads back.
    package enum Problem: Hashable, Sendable {
        /// Its vector names histories that this space does not have, so events that are here under other names would be counted
        /// twice; an import brings such.
        case foreign
        /// Its vector covers operations that are not here. Whoever saves a snapshot holds what it covers, and what they hold comes
        /// before it; so state is still arriving, or somebody claims what its owner never wrote, and a reader would never be
        /// given that owner's next events.
        case ahead
        /// Events were dropped that it does not hold: who drops them waits for every snapshot that is known, and this one was on
        /// its way. Whoever begins with it would never have them.
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

    /// What is left to say of fields that are no record.
    package struct Unreadable: Hashable, Sendable {
        /// Greater than this program's: a newer one wrote it. Nil: somebody changed it.
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

        /// Whether it may be one that somebody asks for.
        package func mayServe(stream: ExactString, schema: Int64) -> Bool {
            self.stream == stream && self.schema.map { $0 == schema } ?? true
        }
    }
}
