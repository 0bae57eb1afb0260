package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// The newest change of this device, undone by a new change.
extension Agent {
    /// Returns the newest change of this device to objects, and what undoing it would do.
    ///
    /// - Throws: `not_found` without one, `version_mismatch` where another device has written to one of its objects since,
    ///   `forbidden` for a deletion, a decision, and attachments.
    package func undoable(space: String) async throws(ControlError) -> UndoResponse {
        try checkSpace(space)
        return try await reading { () throws(ControlError) in try ownLastChange().response }
    }

    /// Undoes that change, if it is the one that is meant, by a new change; all of it or nothing. Throws the errors of `undoable`
    /// and of a transaction.
    package func undo(space: String, _ version: DotText) async throws(ControlError) -> UndoResponse {
        try checkSpace(space)
        let change = try await reading { () throws(ControlError) in try ownLastChange() }
        guard change.response.version == version else {
            throw ControlError(
                .versionMismatch, "The newest change of this device is another one by now; nothing was undone.",
                hint: "Look again: lanyard undo --dry-run", version: change.response.version)
        }
        let answer = try await perform(try Transaction(space: space, change.steps))
        var response = change.response
        for (index, result) in answer.results.enumerated() {
            guard case .put(let entry?) = result, case .put(let put) = change.steps[index] else { continue }
            response.objects[index].complete = entry.fields == put.fields
        }
        return response
    }

    private struct OwnChange {
        var response: UndoResponse
        var steps: [Transaction.Step]
    }

    private func ownLastChange() throws(ControlError) -> OwnChange {
        let found = try ownLastObjects()
        guard let first = found.first, let newest = found.map(\.change.version).max(by: { $0.counter < $1.counter })
        else { throw .nothingToUndo }
        let time = Timestamp(millisecondsSinceEpoch: first.change.wallMilliseconds)
        var own = OwnChange(response: UndoResponse(version: DotText(newest), time: time, objects: []), steps: [])
        for touched in found {
            let (object, step) = try undoing(touched)
            own.response.objects.append(object)
            own.steps.append(step)
        }
        return own
    }

    private struct Touched {
        let object: StoredObject
        let past: ObjectPast
        /// The newest change of this device, and its place among the changes of the object.
        let change: ObjectPast.Change
        let index: Int
    }

    private enum Search {
        /// Objects are read by the positions of their newest changes, downwards, so many positions at once.
        static let window: Int64 = 256
        /// A search reads at most so many positions; behind them a change is not the newest thing a person did.
        static let positions: Int64 = 16_384
        /// Histories of objects that another device changed last.
        static let histories = 1_024
    }

    /// Returns the objects of the newest change of this device to any object, the newest position first.
    private func ownLastObjects() throws(ControlError) -> [Touched] {
        var found: [Touched] = []
        /// True once an object was seen whose newest change is the one that is looked for: what lies below and has another newest
        /// change was not touched by it.
        var isBounded = false
        var histories = 0
        var upper = try read { () throws(StoreError) in try store.objectPosition() }
        let end = max(0, upper - Search.positions)
        while upper > end {
            let lower = max(end, upper - Search.window)
            let limit = Int(upper - lower)
            let objects = try read { () throws(StoreError) in
                try store.changedObjects(of: nil, space: .home, after: lower, limit: limit)
            }
            for object in objects.reversed() where object.position <= upper {
                // Applications and agents save these, not people.
                if object.key.isKeptByAgents { continue }
                let isOwn = object.version?.replica.device == device
                if isBounded, !isOwn { return found }
                histories += 1
                // Below there could be a newer one.
                guard histories <= Search.histories else { return isBounded ? found : [] }
                guard let touched = try ownLast(of: object) else {
                    // Its history was dropped: what this device did last cannot be told.
                    if isOwn, found.isEmpty { throw .versionNotKept }
                    continue
                }
                if let best = found.first {
                    let (new, old) = (touched.change.stamp, best.change.stamp)
                    if new < old {
                        if isOwn { return found }
                        continue
                    }
                    if new > old { found = [] }
                }
                found.append(touched)
                isBounded = isBounded || isOwn
            }
            upper = lower
        }
        return isBounded || end == 0 ? found : []
    }

    private func ownLast(of object: StoredObject) throws(ControlError) -> Touched? {
        let past = try keptPast(of: object.key.name)
        guard let index = past.changes.lastIndex(where: { $0.version.replica.device == device }) else { return nil }
        return Touched(object: object, past: past, change: past.changes[index], index: index)
    }

    /// Returns what undoes the change in one object.
    private func undoing(
        _ touched: Touched
    ) throws(ControlError) -> (UndoResponse.Object, Transaction.Step) {
        let name = touched.object.key.name
        let text = "\(name.collection)/\(name.id)"
        if let later = touched.past.changes.dropFirst(touched.index + 1).last {
            let other = later.version.replica.device
            let members = try read { () throws(StoreError) in try store.state().additions }
            let label = members.last { $0.fact.device == other }?.fact.name ?? other.shortID
            let age = TimeText(now: Timestamp(millisecondsSinceEpoch: WallClock.milliseconds))
            throw .editedSince(text, by: label, at: age.age(Timestamp(millisecondsSinceEpoch: later.wallMilliseconds)))
        }
        switch touched.change.kind {
        case .created:
            guard let version = touched.object.version else { throw .nothingToUndo }
            return (
                UndoResponse.Object(collection: name.collection, id: name.id, action: .delete, differences: []),
                .delete(name, ifVersion: DotText(version))
            )
        case .edited: return try restoring(touched, name, text)
        case .deleted:
            throw .notUndone(
                text, "deleted", hint: "What it held: lanyard history \(text). Create a new object: lanyard put")
        case .kept: throw .notUndone(text, "decided to keep", hint: "To delete it: lanyard delete \(text)")
        case .attached, .detached, .begins: throw .nothingToUndo
        }
    }

    private func restoring(
        _ touched: Touched, _ name: ObjectName, _ text: String
    ) throws(ControlError) -> (UndoResponse.Object, Transaction.Step) {
        guard !touched.change.isOnlyOfAttachments else {
            throw .notUndone(
                text, "attached a file to, or took one from,",
                hint: "See them: lanyard attachments \(text). To take one away: lanyard detach ATTACHMENT")
        }
        guard touched.object.state.isShown, let version = touched.object.version else { throw .objectGone }
        let members = try read { () throws(StoreError) in try store.members() }
        var before = touched.object
        before.state = touched.past.state(before: touched.change, members: members)
        guard before.state.isShown else { throw .notThen }
        let schema = try read { () throws(StoreError) in
            try store.schema(of: touched.object.key.collection, space: .home)
        }
        var put = try ObjectPut(collection: name.collection, id: name.id, fields: try entry(of: before).fields)
        put.replace = true
        put.condition = .version(DotText(version))
        return (
            UndoResponse.Object(
                collection: name.collection, id: name.id, action: .edit,
                differences: differences(from: touched.object.state, to: before.state, schema)),
            .put(put)
        )
    }
}
