package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// Taking over what a device wrote beyond the end of its histories, by new changes of this device.
extension Agent {
    /// Brings back what a device did to objects although it counts nowhere: each object becomes what it would be if that work
    /// counted, by one change of this device. Events are emitted again, schemas and streams set as the device set them. Work that
    /// an admin accepted before is not taken twice.
    ///
    /// An object whose work cannot be taken, or whose write is refused, stays as it is, with the reason; writes that were
    /// done stay if a later one fails. Throws `forbidden` unless this device is an admin, and the errors of `voidWork`.
    package func accept(
        space: String, device word: String, _ names: [ObjectName], others: [OtherWork] = []
    ) async throws(ControlError) -> AcceptanceResponse {
        try checkSpace(space)
        try await checkAdmin()
        let reviewed = try await reviewedDevice(word, space: space)
        var response = AcceptanceResponse(device: "\(reviewed.id)", objects: [], others: [])
        var seen: Set<ObjectName> = []
        for name in names where seen.insert(name).inserted {
            try Self.checkIsWanted()
            response.objects.append(try await accept(name, of: reviewed))
        }
        var taken: Set<OtherWork> = []
        for work in others where taken.insert(work).inserted {
            try Self.checkIsWanted()
            response.others.append(try await accept(work, of: reviewed))
        }
        return response
    }

    /// Throws if the client is gone.
    static func checkIsWanted() throws(ControlError) {
        if Task.isCancelled { throw ControlError(.cancelled, "It was stopped.", hint: "What was written stays.") }
    }

    private func checkAdmin() async throws(ControlError) {
        let now = try await controlled { try await snapshot() }
        guard now.role(of: now.own) != .admin else { return }
        let names = now.admins.map { now.shownName(of: $0) }.joined(separator: ", ")
        throw ControlError(
            .forbidden,
            "Only admins accept work that does not count. " + (names.isEmpty ? "There is none." : "Admins: \(names)."),
            hint: "Do it on one of them, or make this device one there: lanyard devices role \(device.shortID) admin")
    }

    /// The number of tries for an object that changes between reading and writing.
    static let acceptanceAttempts = 5

    private func accept(
        _ name: ObjectName, of reviewed: (id: DeviceID, name: String)
    ) async throws(ControlError) -> AcceptanceResponse.Object {
        var attempt = 1
        while true {
            var (object, steps) = try await reading { () throws(ControlError) in
                try acceptance(of: name, reviewed)
            }
            guard !steps.isEmpty else { return object }
            do throws(ControlError) {
                let outcome = try await write(steps, once: false)
                object.version = outcome.dots.map { DotText($0.upperBound) }
                return object
            } catch {
                let isStale = error.code == .versionMismatch || error.code == .alreadyExists
                if isStale, attempt < Self.acceptanceAttempts {
                    attempt += 1
                    continue
                }
                guard Self.isOfOneObject(error) else { throw error }
                return .refused(name, error)
            }
        }
    }

    /// Returns what accepting the work comes to, and its writes; without writes, the reason why there are none.
    private func acceptance(
        of name: ObjectName, _ reviewed: (id: DeviceID, name: String)
    ) throws(ControlError) -> (AcceptanceResponse.Object, [ObjectWrite]) {
        let key = ObjectKey(name)
        // The object first: where it changes before its work is read, the writes are refused.
        let now = try read { () throws(StoreError) in try store.object(key, space: .home) }
        let (found, schema) = try read { () throws(StoreError) in
            (
                try store.workToAccept(of: reviewed.id, on: key, space: .home),
                try store.schema(of: key.collection, space: .home)
            )
        }
        let work: WorkToAccept
        switch found {
        case .none: return (.refused(name, .noVoidWork(of: reviewed.name, on: name)), [])
        case .accepted: return (.refused(name, .acceptedBefore(name)), [])
        case .dropped: return (.refused(name, .voidWorkDropped(of: reviewed.name, on: name)), [])
        case .unsettled: return (.refused(name, .retirementNotSettled(of: reviewed.name)), [])
        case .found(let known): work = known
        }
        let isShown = now?.state.isShown ?? false
        var object = AcceptanceResponse.Object(collection: name.collection, id: name.id)
        switch work.change {
        case .nothing: return (.refused(name, .acceptanceChangesNothing(name)), [])
        case .gone: return (.refused(name, .objectGone), [])
        case .create: object.action = isShown ? "edited" : "created"
        case .edit: object.action = "edited"
        case .delete: object.action = "deleted"
        }
        let steps = work.writes(to: key, at: isShown ? now?.version : nil, schema)
        guard !steps.isEmpty else {
            return (.refused(name, isShown ? .acceptanceChangesNothing(name) : .objectGone), [])
        }
        if work.change != .delete {
            object.fields = work.fields(schema).prefix(VoidOperation.fieldLimit).map(\.string)
            object.attachments = steps.count(where: \.isOfAttachments)
        }
        return (object, steps)
    }
}

extension AcceptanceResponse.Object {
    /// An object to which nothing is done.
    fileprivate static func refused(_ name: ObjectName, _ error: ControlError) -> Self {
        var object = Self(collection: name.collection, id: name.id)
        object.code = error.code.rawValue
        object.reason = error.message
        return object
    }
}

extension ObjectWrite {
    fileprivate var isOfAttachments: Bool {
        switch self {
        case .attach, .detach: true
        case .put, .edit, .delete, .resolve, .convert, .setSchema, .appendEvent, .setStream, .accept: false
        }
    }
}

extension ControlError {
    fileprivate static func noVoidWork(of device: String, on name: ObjectName) -> ControlError {
        ControlError(
            .notFound, "\(device) wrote nothing to \(name) that does not count.",
            hint: "See what it wrote: lanyard devices review \(device)")
    }

    fileprivate static func acceptedBefore(_ name: ObjectName) -> ControlError {
        ControlError(
            .alreadyExists, "All of it was accepted before.", hint: "See by whom: lanyard history \(name)")
    }

    fileprivate static func acceptanceChangesNothing(_ name: ObjectName) -> ControlError {
        ControlError(
            .alreadyExists, "It is already as it would be with that work.", hint: "See it: lanyard get \(name)")
    }

    fileprivate static func retirementNotSettled(of device: String) -> ControlError {
        ControlError(
            .undecided,
            "Not all devices have heard yet that \(device) was retired. One that had built on this work would make it count again, "
                + "and it would be there twice.",
            hint:
                "Try it when `lanyard status` warns no more (not_settled). A device that does not come back holds it up: lanyard "
                + "devices retire")
    }

    fileprivate static func voidWorkDropped(of device: String, on name: ObjectName) -> ControlError {
        ControlError(
            .objectIncomplete,
            "The log of this device no longer has what \(device) wrote to \(name), or not all of it: it was compacted, or never "
                + "came.",
            hint: "Try it on another admin's device, or write it by hand: lanyard edit \(name)")
    }
}
