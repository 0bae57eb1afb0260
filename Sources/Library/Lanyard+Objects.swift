public import ControlAPI
import LanyardClient

extension Lanyard {
    // MARK: Writing

    /// Saves an object, and returns it as it is then on this machine; it is durable.
    ///
    /// Of a value that was read, only what the application changed is sent: counters by the difference, sets by element, texts
    /// and lists by insertions and deletions. What others changed meanwhile stays, also in the same text. A value that the
    /// application made is created; if an object has its id already, what differs from the defaults is changed in it.
    ///
    /// Save the returned value the next time, or use ``save(_:)->()``: an older copy would send its changes again.
    ///
    /// Throws `object_deleted` where the object was deleted, `not_found` where it is gone, `type_mismatch`, and others.
    @discardableResult
    public func save<Object: LanyardObject>(_ object: Object) async throws(ControlError) -> Object {
        try FieldCoding.value(of: try await write(object), in: space)
    }

    /// Saves an object, and returns when `devices` devices, this one included, have it on their disks.
    ///
    /// Throws `timed_out` after `bound`. The object is saved then, too, and goes on to the other devices.
    @discardableResult
    public func save<Object: LanyardObject>(
        _ object: Object, durableOn devices: Int, within bound: Duration = .seconds(10)
    ) async throws(ControlError) -> Object {
        let entry = try await write(object)
        try await untilDurable(entry.version, on: devices, within: bound)
        return try FieldCoding.value(of: entry, in: space)
    }

    /// Returns the object as the write left it, or as it is where nothing differed.
    private func write(_ object: some LanyardObject) async throws(ControlError) -> ObjectEntry {
        var transaction = LanyardTransaction(space: space)
        try transaction.save(object)
        if let entry = try await perform(transaction).results.first?.object { return entry }
        return try await client.object(try LanyardTransaction.name(object), space: space)
    }

    func untilDurable(
        _ version: DotText, on devices: Int, within bound: Duration
    ) async throws(ControlError) {
        let milliseconds = Int(clamping: bound / .milliseconds(1) < 0 ? 0 : Int64(bound / .milliseconds(1)))
        let answer = try await client.untilDurable(version, on: devices, timeoutMilliseconds: milliseconds)
        guard !answer.reached else { return }
        throw ControlError(
            .timedOut, "The write is on \(answer.devices.count) of \(devices) devices after \(bound).",
            hint: "It stays, and goes on to the others. See which are away with: lanyard status", version: version)
    }

    /// Saves an object, and brings it up to date.
    public func save<Object: LanyardObject>(_ object: inout Object) async throws(ControlError) {
        object = try await save(object)
    }

    /// Deletes an object everywhere. Edits that other devices make without knowing of it are dropped or kept by the policy of
    /// the collection. Returns false when there was nothing to delete.
    @discardableResult
    public func delete<Object: LanyardObject>(_ object: Object) async throws(ControlError) -> Bool {
        try await check(Object.self)
        return try await client.delete(try LanyardTransaction.name(object), space: space)
    }

    /// Does several writes as one change: all are done, or none.
    ///
    /// - Parameter body: collects the writes; it is called once, before anything is sent.
    public func transaction(_ body: (inout LanyardTransaction) throws -> Void) async throws {
        var transaction = LanyardTransaction(space: space)
        try body(&transaction)
        try await perform(transaction)
    }

    /// The times that writes are sent with what the objects are now before the save gives up. Each failure means that another
    /// write came first, so only a machine that writes without end can cause it.
    private static let maximumTries = 16

    /// Sends the writes, and again while their objects have changed since they were read: with merged texts and lists.
    ///
    /// - Parameter isPinned: true to read each object first, and to write only if it is still that one.
    /// - Returns: the results of the writes, and the objects that were read before.
    @discardableResult
    func perform(
        _ transaction: LanyardTransaction, isPinned: Bool = false
    ) async throws(ControlError) -> (results: [TransactionResponse.Result], before: [ObjectName: ObjectEntry]) {
        for type in transaction.objects.values { try await check(type) }
        let writes = transaction.writes
        if writes.isEmpty { return ([], [:]) }
        var current = try await read(writes) { isPinned || $0.needsReading }
        for _ in 0..<Self.maximumTries {
            var steps: [Transaction.Step] = []
            for write in writes {
                steps.append(try write.step(current: write.name.flatMap { current[$0] }, isPinned: isPinned))
            }
            let refusal: ControlError
            do throws(ControlError) {
                let response = try await client.perform(try Transaction(space: space, steps))
                recordSent(writes, response.results)
                return (response.results, current)
            } catch {
                guard [.versionMismatch, .alreadyExists].contains(error.code),
                    isPinned || writes.contains(where: \.isConditional)
                else { throw error }
                refusal = error
            }
            current = try await read(writes) { isPinned || $0.isConditional }
            // Gone meanwhile: there is nothing to merge with.
            if writes.contains(where: { $0.isEditOfAbsent(in: current) }) { throw refusal }
        }
        throw ControlError(
            .versionMismatch, "The object was changed \(Self.maximumTries) times while it was saved.",
            hint: "Save it again; if it goes on, see with lanyard history which device writes without end.")
    }

    /// Reads the objects of some of the writes; those that are not there are left out.
    private func read(
        _ writes: [PendingWrite], _ isWanted: (PendingWrite) -> Bool
    ) async throws(ControlError) -> [ObjectName: ObjectEntry] {
        var entries: [ObjectName: ObjectEntry] = [:]
        for write in writes where isWanted(write) {
            if let name = write.name { entries[name] = try await entry(of: name) }
        }
        return entries
    }

    /// Returns an object as it is now; nil where there is none.
    func entry(of name: ObjectName) async throws(ControlError) -> ObjectEntry? {
        do throws(ControlError) { return try await client.object(name, space: space) } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    private func recordSent(_ writes: [PendingWrite], _ results: [TransactionResponse.Result]) {
        for (write, result) in zip(writes, results) {
            guard let entry = result.object, let sent = write.sent, let name = write.name else { continue }
            write.origin?.recordSent(
                Origin.Reading(
                    space: space, name: name, fields: sent, version: entry.fields.means(sent) ? entry.version : nil))
        }
    }

    // MARK: Reading

    /// Returns the object with this id; nil where there is none.
    public func object<Object: LanyardObject>(
        _ type: Object.Type = Object.self, id: ObjectID
    ) async throws(ControlError) -> Object? {
        try await check(type)
        let name = try ObjectName(collection: Object.collection, id: id.text)
        guard let entry = try await entry(of: name) else { return nil }
        return try FieldCoding.value(of: entry, in: space)
    }

    /// Returns the object as it is now; nil where it was deleted.
    public func reload<Object: LanyardObject>(_ object: Object) async throws(ControlError) -> Object? {
        try await self.object(Object.self, id: object.id)
    }

    // MARK: Conflicts

    /// The conflicts in the collection of `type`: values that several devices set apart, and edits that a deletion dropped.
    public func conflicts<Object: LanyardObject>(of type: Object.Type) async throws(ControlError) -> [ConflictEntry] {
        try await client.conflicts(in: Object.collection, space: space)
    }

    /// The conflicts in the collection of `type` now, and again after every change of them.
    public func liveConflicts<Object: LanyardObject>(of type: Object.Type) -> PulledSequence<[ConflictEntry]> {
        PulledSequence { give in
            try await connection.keepTrying { isAlive in
                try await client.watchConflicts(in: Object.collection, space: space) { conflicts in
                    isAlive()
                    try await give(conflicts)
                }
                throw ControlError.agentStopped
            }
        }
    }

    /// Decides a conflict. Returns false when there is none any more.
    @discardableResult
    public func resolve(_ conflict: ConflictEntry, _ resolution: Resolution) async throws(ControlError) -> Bool {
        try await client.resolve(
            try ObjectName(collection: conflict.collection, id: conflict.id), resolution, space: space)
    }
}

extension TransactionResponse.Result {
    /// The object that a put or an edit left.
    var object: ObjectEntry? {
        switch self {
        case .put(let entry), .edit(let entry): entry
        case .delete, .emit: nil
        }
    }
}
