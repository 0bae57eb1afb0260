package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// The objects of a space as they were at a time, by new changes.
extension Agent {
    private static let window = 128

    /// Returns what would make the objects what they were at `time`, by the clocks of their authors; writes nothing.
    ///
    /// Events, attachments and schemas are not looked at. An object whose history does not reach back so far stays as it is.
    package func restorePoint(
        space: String, _ request: RestorePointRequest
    ) async throws(ControlError) -> RestorePointResponse {
        var response = RestorePointResponse(time: request.time)
        try await forEachStep(space: space, request, &response) { steps, response in
            for step in steps { response.add(step.object) }
        }
        return response
    }

    /// Writes that. An object that another device changes meanwhile, or whose write is refused, stays as it is; writes that were
    /// done stay if a later one fails.
    package func restore(
        space: String, _ request: RestorePointRequest
    ) async throws(ControlError) -> RestorePointResponse {
        var response = RestorePointResponse(time: request.time)
        response.changes = 0
        var done: Set<ObjectName> = []
        let end = try await forEachStep(space: space, request, &response) { steps, response throws(ControlError) in
            do throws(ControlError) {
                let answer = try await perform(try Transaction(space: space, steps.map(\.step)))
                response.changes = (response.changes ?? 0) + 1
                for (step, result) in zip(steps, answer.results) {
                    done.insert(try response.record(step.object.written(result)))
                }
            } catch {
                guard Self.isOfOneObject(error) else { throw error }
                for step in steps { done.insert(try await write(step, space, &response)) }
            }
        }
        try await keepChanged(after: end, request, except: done, space: space, &response)
        return response
    }

    /// Names the objects that were changed while the others were written, and are not what they were: they stay.
    private func keepChanged(
        after end: Int64, _ request: RestorePointRequest, except done: Set<ObjectName>,
        space: String, _ response: inout RestorePointResponse
    ) async throws(ControlError) {
        let newest = Int64(clamping: try await objectPosition(space: space))
        var named = done
        for object in response.kept { named.insert(try ObjectName(collection: object.collection, id: object.id)) }
        var position = end
        while position < newest {
            let start = position
            let (found, kept) = try await reading { () throws(ControlError) in
                try steps(after: start, upTo: newest, request)
            }
            guard let last = found.last else { return }
            let changed = found.steps.map { step in
                RestorePointResponse.Kept(
                    collection: step.object.collection, id: step.object.id, code: ErrorCode.versionMismatch.rawValue,
                    reason: "It was changed meanwhile.")
            }
            for object in kept + changed {
                let name = try ObjectName(collection: object.collection, id: object.id)
                if named.insert(name).inserted { response.keep(object) }
            }
            position = last
        }
    }

    /// Returns the name under which the object was written, or stays.
    private func write(
        _ step: RestoreStep, _ space: String, _ response: inout RestorePointResponse
    ) async throws(ControlError) -> ObjectName {
        do throws(ControlError) {
            let answer = try await perform(try Transaction(space: space, [step.step]))
            response.changes = (response.changes ?? 0) + 1
            return try response.record(answer.results.first.map(step.object.written) ?? step.object)
        } catch {
            guard Self.isOfOneObject(error) else { throw error }
            response.keep(
                .init(
                    collection: step.object.collection, id: step.object.id, code: error.code.rawValue,
                    reason: error.message.replacing("Operation 1: ", with: "")))
            return try ObjectName(collection: step.object.collection, id: step.object.id)
        }
    }

    /// False for what keeps everything from being written: a full disk, an agent that stops.
    static func isOfOneObject(_ error: ControlError) -> Bool {
        switch error.code.exitCode {
        case .refused, .notFound, .usage: error.code != .readOnly && error.code != .catchingUp
        case .ok, .failed, .agentNotRunning, .timedOut:
            [.typeMismatch, .tooLarge, .bodyTooLarge, .numberOutOfRange, .tooDeep].contains(error.code)
        }
    }

    private struct RestoreStep: Sendable {
        let object: RestorePointResponse.Object
        let step: Transaction.Step
    }

    /// Calls `body` with the steps of some objects after the other, all of them by the positions of their newest changes until
    /// now: what is written meanwhile, also by `body`, is not looked at. Returns the last position.
    @discardableResult
    private func forEachStep(
        space: String, _ request: RestorePointRequest, _ response: inout RestorePointResponse,
        _ body: ([RestoreStep], inout RestorePointResponse) async throws(ControlError) -> Void
    ) async throws(ControlError) -> Int64 {
        try checkSpace(space)
        let now = WallClock.milliseconds
        guard request.time.millisecondsSinceEpoch < now else {
            throw ControlError(.invalidArgument, "That time is not over.", hint: "Give a time in the past.")
        }
        let end = Int64(clamping: try await objectPosition(space: space))
        response.deletionsForgotten = try await stored { () throws(StoreError) in
            try !store.state().floor.entries.isEmpty
        }
        var position: Int64 = 0
        while position < end {
            if Task.isCancelled { throw ControlError(.cancelled, "It was stopped.", hint: "What was written stays.") }
            let start = position
            let (found, kept) = try await reading { () throws(ControlError) in
                try steps(after: start, upTo: end, request)
            }
            // The rest was changed since.
            guard let last = found.last else { break }
            response.examined += found.examined
            for object in kept { response.keep(object) }
            if !found.steps.isEmpty { try await body(found.steps, &response) }
            position = last
        }
        return end
    }

    private struct RestoreWindow {
        var steps: [RestoreStep] = []
        var examined = 0
        /// The position of the last object; nil behind the last window.
        var last: Int64?
    }

    private func steps(
        after position: Int64, upTo end: Int64, _ request: RestorePointRequest
    ) throws(ControlError) -> (RestoreWindow, [RestorePointResponse.Kept]) {
        let time = request.time.millisecondsSinceEpoch
        let objects = try read { () throws(StoreError) in
            try store.changedObjects(of: nil, space: .home, after: position, limit: Self.window)
        }.filter { $0.position <= end }
        let (members, pasts) = try read { () throws(StoreError) in
            (try store.members(), try store.pasts(of: objects.map(\.key), writtenAfter: time, space: .home))
        }
        var window = RestoreWindow(examined: objects.count, last: objects.last?.position)
        var kept: [RestorePointResponse.Kept] = []
        // Snapshots belong to streams, which stay; receipts to what happened.
        for object in objects where !object.key.isKeptByAgents {
            let name = object.key.name
            guard let past = pasts[object.key] else { continue }
            guard past.changes.contains(where: { $0.wallMilliseconds > time }) || past.beginning != nil else {
                continue
            }
            if let beginning = past.beginning, beginning.changedMilliseconds > time {
                kept.append(
                    .init(
                        collection: name.collection, id: name.id, code: ErrorCode.notFound.rawValue,
                        reason: "Its history does not reach back so far."))
                continue
            }
            let before = past.state(upTo: time, members: members)
            if before.isShown, object.state.lives.isBarred, request.recreate != true {
                kept.append(
                    .init(
                        collection: name.collection, id: name.id, code: ErrorCode.objectDeleted.rawValue,
                        reason: "It was deleted for good; it could be written under a new id."))
            } else if let step = try step(from: object, to: before) {
                window.steps.append(step)
            }
        }
        return (window, kept)
    }

    /// Returns the write that makes the object what it was; nil if it is that.
    private func step(from object: StoredObject, to before: ObjectState) throws(ControlError) -> RestoreStep? {
        let name = object.key.name
        func named(_ action: RestorePointResponse.Object.Action) -> RestorePointResponse.Object {
            .init(collection: name.collection, id: name.id, action: action)
        }
        let isHere = object.summary.standing == .live
        guard before.isShown else {
            guard isHere, let version = object.version else { return nil }
            return RestoreStep(object: named(.delete), step: .delete(name, ifVersion: DotText(version)))
        }
        var then = object
        then.state = before
        let fields = try entry(of: then).fields
        if isHere, try entry(of: object).fields == fields { return nil }
        // A deletion for good bars the id.
        let id = object.state.lives.isBarred ? nil : name.id
        var put = try ObjectPut(collection: name.collection, id: id, fields: fields)
        put.replace = true
        if isHere, let version = object.version {
            put.condition = .version(DotText(version))
        } else {
            put.condition = .absent
        }
        return RestoreStep(object: named(isHere ? .edit : .create), step: .put(put))
    }
}

extension RestorePointResponse.Object {
    /// The object as it was written.
    fileprivate func written(_ result: TransactionResponse.Result) -> Self {
        guard case .put(let entry?) = result, entry.id != id else { return self }
        var object = self
        object.newID = entry.id
        return object
    }
}

extension RestorePointResponse {
    /// Adds an object that was written; returns the name it has now.
    fileprivate mutating func record(_ written: Object) throws(ControlError) -> ObjectName {
        add(written)
        return try ObjectName(collection: written.collection, id: written.newID ?? written.id)
    }
}
