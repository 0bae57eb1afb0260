import ControlAPI
import SyncAgent
package import SyncModel
import SyncStore

/// Void work on something else than objects.
package enum OtherWork: Hashable, Sendable {
    case events(of: ExactString)
    case schema(of: ExactString)
    case setting(of: ExactString)
}

// Taking over the events, schemas and settings of streams that a device wrote beyond the end of its histories.
extension Agent {
    /// Writes the work as changes of this device; work that cannot be taken stays, with the reason.
    func accept(
        _ work: OtherWork, of reviewed: (id: DeviceID, name: String)
    ) async throws(ControlError) -> AcceptanceResponse.Other {
        var other = AcceptanceResponse.Other(work)
        do throws(ControlError) {
            switch work {
            case .events(let stream): try await acceptEvents(of: stream, reviewed, &other.count)
            case .schema(let collection): try await acceptSchema(of: collection, reviewed, &other.count)
            case .setting(let stream): try await acceptSetting(of: stream, reviewed, &other.count)
            }
        } catch {
            guard Self.isOfOneObject(error) else { throw error }
            (other.code, other.reason) = (error.code.rawValue, error.message)
        }
        return other
    }

    /// Emits again the events that no admin has accepted, in their order: some in a change, which also says which they are. That
    /// is refused where another request has said so meanwhile.
    private func acceptEvents(
        of stream: ExactString, _ reviewed: (id: DeviceID, name: String), _ count: inout Int
    ) async throws(ControlError) {
        let key = AcceptedEvents.key(of: reviewed.id, stream: stream)
        var (cursor, isAccepted, attempt) = (CanonicalKey?.none, false, 1)
        while true {
            try Self.checkIsWanted()
            let (now, page) = try await stored { [cursor] () throws(StoreError) in
                // The object first: where it changes before the page is read, the write is refused.
                (try store.object(key, space: .home), try voidPage(of: reviewed.id, after: cursor))
            }
            let batch = EventBatch(page.operations, stream)
            isAccepted = isAccepted || batch.isPartlyAccepted
            if !batch.events.isEmpty {
                do throws(ControlError) {
                    _ = try await write(batch.writes(to: key, now), once: false)
                } catch {
                    let isStale = error.code == .versionMismatch || error.code == .alreadyExists
                    guard isStale, attempt < Self.acceptanceAttempts else { throw error }
                    attempt += 1
                    continue
                }
                (count, attempt) = (count + batch.events.count, 1)
            }
            if let next = batch.rest ?? page.next {
                cursor = next
            } else if count > 0 {
                return
            } else if isAccepted {
                throw ControlError(
                    .alreadyExists, "All of it was accepted before.", hint: "See them: lanyard events \(stream)")
            } else {
                throw .nothingToAccept(of: reviewed.name, "stream \(stream)", isDropped: page.isDropped)
            }
        }
    }

    /// Sets what the device set, in the order in which it did; what it left alone stays.
    private func acceptSchema(
        of collection: ExactString, _ reviewed: (id: DeviceID, name: String), _ count: inout Int
    ) async throws(ControlError) {
        var wanted = CollectionSchema()
        let edits = try await voidWork(of: reviewed, "the schema of \(collection)") { operation in
            if case .schema(let edit) = operation.content, edit.collection == collection {
                (edit, operation.key)
            } else {
                nil
            }
        }
        var seen = VersionVector()
        for (edit, key) in edits {
            wanted.apply(edit, at: Origin(dot: key.dot, stamp: key.stamp, context: seen))
            seen.advance(key.dot.replica, to: key.dot.counter + edit.span)
        }
        let now = try await stored { () throws(StoreError) in try store.schema(of: collection, space: .home) }
        let outcome = try await write([.setSchema(collection, wanted.wish(beside: now))], once: false)
        if outcome.dots == nil { throw .acceptanceSetsNothing("lanyard schema show \(collection)") }
        count = 1
    }

    /// Makes the last setting that the device made.
    private func acceptSetting(
        of stream: ExactString, _ reviewed: (id: DeviceID, name: String), _ count: inout Int
    ) async throws(ControlError) {
        let settings = try await voidWork(of: reviewed, "the setting of stream \(stream)") { operation in
            if case .stream(let setting) = operation.content, setting.stream == stream { setting } else { nil }
        }
        let streams = try await stored { () throws(StoreError) in try store.streams(of: .home) }
        guard let last = settings.last, last != streams.first(where: { ExactString($0.name) == stream })?.setting
        else { throw .acceptanceSetsNothing("lanyard streams") }
        _ = try await write([.setStream(last)], once: false)
        count = 1
    }

    private func voidPage(of device: DeviceID, after key: CanonicalKey?) throws(StoreError) -> VoidWorkPage {
        try store.voidWork(
            of: device, after: key, limit: PageSize.standard, byteBudget: ControlLimits.pagePayloadBytes, space: .home)
    }

    /// Returns what `pick` takes of the device's void operations, in their order. Throws `notFound` or `objectIncomplete` if
    /// that is nothing.
    private func voidWork<Value: Sendable>(
        of reviewed: (id: DeviceID, name: String), _ what: String, _ pick: (VoidOperation) -> Value?
    ) async throws(ControlError) -> [Value] {
        let (values, isDropped) = try await stored { () throws(StoreError) in
            var (values, isDropped) = ([Value](), false)
            var cursor: CanonicalKey?
            repeat {
                let page = try voidPage(of: reviewed.id, after: cursor)
                values += page.operations.compactMap(pick)
                (cursor, isDropped) = (page.next, page.isDropped)
            } while cursor != nil
            return (values, isDropped)
        }
        if values.isEmpty { throw .nothingToAccept(of: reviewed.name, what, isDropped: isDropped) }
        return values
    }
}

/// Events of a page to emit again in one change.
private struct EventBatch {
    /// Few enough that a change holds them.
    private static let eventLimit = 256
    private static let byteLimit = 256 << 10

    private(set) var events: [SyncModel.Operation.Event] = []
    private var dots: [Dot] = []
    private(set) var isPartlyAccepted = false
    /// The place behind which the rest of the page begins; nil if there is none.
    private(set) var rest: CanonicalKey?

    init(_ operations: [VoidOperation], _ stream: ExactString) {
        var (last, byteCount) = (CanonicalKey?.none, 0)
        for operation in operations {
            guard case .event(let event) = operation.content, ExactString(event.stream) == stream else { continue }
            isPartlyAccepted = isPartlyAccepted || operation.isAccepted
            if operation.isAccepted { continue }
            byteCount += event.payload.count
            if events.count == Self.eventLimit || !events.isEmpty && byteCount > Self.byteLimit {
                rest = last
                return
            }
            events.append(event)
            dots.append(operation.key.dot)
            last = operation.key
        }
    }

    /// - Parameter object: the events that were accepted before, as they are stored.
    func writes(to key: ObjectKey, _ object: StoredObject?) -> [ObjectWrite] {
        let fields = AcceptedEvents.fields(covering: dots)
        let said: ObjectWrite
        if let object, object.state.isShown, let version = object.version {
            let edits = fields.map { FieldEdit(path: [$0.key], action: .set($0.value)) }
            said = .edit(key, edits, .init(ifVersion: version, isBrief: true))
        } else {
            said = .put(key, .init(fields: fields, ifAbsent: true))
        }
        return events.map { .appendEvent($0) } + [said]
    }
}

extension AcceptanceRequest {
    /// The names that are not of objects.
    var others: [OtherWork] {
        let events = (events ?? []).map { OtherWork.events(of: ExactString($0)) }
        let schemas = (schemas ?? []).map { OtherWork.schema(of: ExactString($0)) }
        return events + schemas + (streams ?? []).map { OtherWork.setting(of: ExactString($0)) }
    }
}

extension AcceptanceResponse.Other {
    fileprivate init(_ work: OtherWork) {
        switch work {
        case .events(let stream): self.init(kind: "event", name: stream.string)
        case .schema(let collection): self.init(kind: "schema", name: collection.string)
        case .setting(let stream): self.init(kind: "stream", name: stream.string)
        }
    }
}

extension ControlError {
    fileprivate static func nothingToAccept(of device: String, _ what: String, isDropped: Bool) -> ControlError {
        let hint = "See what it wrote: lanyard devices review \(device)"
        guard isDropped else {
            return ControlError(.notFound, "\(device) wrote nothing about \(what) that does not count.", hint: hint)
        }
        return ControlError(
            .objectIncomplete,
            "The log of this device has nothing of what \(device) wrote about \(what), and no longer all that it wrote.",
            hint: hint)
    }

    fileprivate static func acceptanceSetsNothing(_ command: String) -> ControlError {
        ControlError(.alreadyExists, "It is already as the device set it.", hint: "See it: \(command)")
    }
}
