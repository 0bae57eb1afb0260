import ControlAPI
import LanyardClient

/// Events of an export on their way into a space. A group of events and the note of how far they go are one change: both are
/// written or neither.
///
/// The dot identifies an event. The import does not write events that this node holds, nor those that their device, a member of
/// this space, will send. For events of other devices a note records, per stream, the counter up to which an import wrote them,
/// here or on another node of the space.
final class EventImport {
    private static let groupEvents = 1_000
    private static let groupBytes = 512 << 10

    private let client: LanyardClient
    private let space: String
    private let summary: ImportSummary
    private let includesLost: Bool
    /// The history that this node holds: next counters by replica.
    private var held: [String: UInt64] = [:]
    /// Devices whose events come by themselves.
    private var members: Set<String> = []
    private var stream = ""
    /// Next counters by replica, of the stream.
    private var noted: [String: UInt64] = [:]
    private var moved: Set<String> = []
    private var group: [EventDraft] = []
    private var bytes = 0

    init(_ client: LanyardClient, _ space: String, _ summary: ImportSummary, includesLost: Bool) {
        self.client = client
        self.space = space
        self.summary = summary
        self.includesLost = includesLost
    }

    func begin() async throws(ControlError) {
        let found = try await client.status(space: space).spaces.first
        for entry in found?.versionVector.entries ?? [] { held[entry.replica] = entry.next }
        guard !includesLost else { return }
        for device in try await client.devices(space: space) where !["retired", "revoked"].contains(device.state) {
            members.insert(device.id)
        }
    }

    func add(_ event: ExportedEvent) async throws(ControlError) {
        if event.stream.bytewise != stream.bytewise {
            try await flush()
            stream = event.stream
            noted = try await notes()
        }
        let (replica, counter) = (event.dot.replica, event.dot.counter)
        guard counter >= held[replica] ?? 0, counter >= noted[replica] ?? 0 else {
            summary.knownEvents += 1
            return
        }
        guard !members.contains(event.device) else {
            summary.expectedEvents += 1
            return
        }
        if group.count >= Self.groupEvents || bytes + event.payload.bytes.count > Self.groupBytes { try await flush() }
        group.append(try EventDraft(checking: event.payload, type: event.type))
        bytes += event.payload.bytes.count
        noted[replica] = counter + 1
        moved.insert(replica)
    }

    func flush() async throws(ControlError) {
        guard !group.isEmpty else { return }
        var writer = JSONWriter()
        writer.byte(UInt8(ascii: "{"))
        for (index, replica) in moved.sorted().enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.string(replica)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(noted[replica] ?? 0)
        }
        writer.byte(UInt8(ascii: "}"))
        let note = try ObjectPut(
            collection: ExportFormat.notes, id: stream, fields: JSONText(checked: writer.bytes))
        let events = group.map { Transaction.Step.emit(stream: stream, $0) }
        _ = try await client.perform(try Transaction(space: space, events + [.put(note)]))
        summary.events += group.count
        (group, bytes, moved) = ([], 0, [])
    }

    private func notes() async throws(ControlError) -> [String: UInt64] {
        do throws(ControlError) {
            let note = try await client.object(
                try ObjectName(collection: ExportFormat.notes, id: stream), space: space)
            return try JSONDecoding.value([String: UInt64].self, from: note.fields.bytes, unknownKeys: .ignore)
        } catch {
            guard error.code == .notFound || error.code == .unknownCollection else { throw error }
            return [:]
        }
    }
}
