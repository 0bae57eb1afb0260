import ReplicatedTypes

/// The events of a device to a stream, beyond the end of its histories, that admins have emitted again.
///
/// They are kept as an object of the space, which the changes that emit them write: so every member comes to know of them, and it
/// stays through compaction. Each field is a stretch of one history, `INCARNATION:START-END`
/// with the counters of its events from START up to END; its value is true.
package struct AcceptedEvents: Hashable, Sendable {
    package static let collection = ExactString("lanyard.accepted")

    package static func key(of device: DeviceID, stream: ExactString) -> ObjectKey {
        ObjectKey(collection: collection, id: ExactString("\(device):\(stream.string)"))
    }

    private let device: DeviceID
    private var stretches: [UInt64: [Range<UInt64>]] = [:]

    /// Passes over fields that no node wrote so.
    package init(of device: DeviceID, _ fields: [JSONValue.Member]) {
        self.device = device
        for field in fields where field.value == .bool(true) {
            let parts = field.key.string.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let incarnation = UInt64(parts[0], radix: 16) else { continue }
            let counters = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
            guard counters.count == 2, let start = counters[0], let end = counters[1], start < end else { continue }
            stretches[incarnation, default: []].append(start..<end)
        }
    }

    /// Returns what an operation on the object says.
    package static func fields(of action: ObjectState.Action) -> [JSONValue.Member] {
        guard case .edit(_, let edits) = action else { return [] }
        return edits.compactMap { edit in
            if case .update(let name, _) = edit { JSONValue.Member(key: name, value: .bool(true)) } else { nil }
        }
    }

    /// True if the event at this dot was emitted again.
    package func covers(_ dot: Dot) -> Bool {
        dot.replica.device == device
            && stretches[dot.replica.incarnation]?.contains { $0.contains(dot.counter) } ?? false
    }

    /// Returns the fields for events that follow each other in the stream, as far as the device wrote them.
    package static func fields(covering dots: [Dot]) -> [JSONValue.Member] {
        var ends: [UInt64: ClosedRange<UInt64>] = [:]
        for dot in dots {
            let known = ends[dot.replica.incarnation] ?? dot.counter...dot.counter
            ends[dot.replica.incarnation] =
                min(known.lowerBound, dot.counter)...max(known.upperBound, dot.counter)
        }
        return ends.sorted { $0.key < $1.key }.map { incarnation, counters in
            let name = "\(String(incarnation, radix: 16)):\(counters.lowerBound)-\(counters.upperBound + 1)"
            return JSONValue.Member(key: ExactString(name), value: .bool(true))
        }
    }
}
