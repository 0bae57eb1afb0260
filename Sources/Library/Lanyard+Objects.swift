public import ControlAPI
import LanyardClient

extension Lanyard {
    // MARK: Writing

    /// Saves an object, and returns it as it is then on this machine; it is durable.
    ///
    /// Of a value that was read, only what the application changed is sent: counters by the difference, sets by element, texts
    /// and lists by insertions and deletions. What others changed meanwhile stays, also in the same text. A value that the
    /// application made is created; if an object has its id already, its fields are set.
    ///
    /// Save the returned value the next time, or use ``save(_:)->()``: an older copy would send its changes again.
    ///
    /// Throws `object_deleted` where the object was deleted, `not_found` where it is gone, `type_mismatch`, and others.
    @discardableResult
    public func save<Object: LanyardObject>(_ object: Object) async throws(ControlError) -> Object {
        guard let entry = try await write(object) else { return object }
        return try FieldCoding.value(of: entry, in: space)
    }

    /// Saves an object, and returns when `devices` devices, this one included, have it on their disks.
    ///
    /// Throws `timed_out` after `bound`. The object is saved then, too, and goes on to the other devices.
    @discardableResult
    public func save<Object: LanyardObject>(
        _ object: Object, durableOn devices: Int, within bound: Duration = .seconds(10)
    ) async throws(ControlError) -> Object {
        let entry = try await write(object)
        if let version = entry?.version ?? object.id.origin?.reading(in: space)?.version {
            try await untilDurable(version, on: devices, within: bound)
        }
        guard let entry else { return object }
        return try FieldCoding.value(of: entry, in: space)
    }

    /// Returns the object as the write left it; nil where nothing differed.
    private func write(_ object: some LanyardObject) async throws(ControlError) -> ObjectEntry? {
        var transaction = LanyardTransaction(space: space)
        try transaction.save(object)
        return try await perform(transaction).first?.object
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
        _ = try await perform(transaction)
    }

    /// The times that a text or list is merged with a newer version before the save gives up. Each failure means that another
    /// write came first, so only a machine that writes without end can cause it.
    private static let maximumMerges = 16

    /// Sends the writes, and again with merged texts and lists while their objects have changed since they were read.
    @discardableResult
    func perform(_ transaction: LanyardTransaction) async throws(ControlError) -> [TransactionResponse.Result] {
        for type in transaction.objects.values { try await check(type) }
        let writes = transaction.writes
        if writes.isEmpty { return [] }
        var current = transaction.current
        for _ in 0..<Self.maximumMerges {
            var steps: [Transaction.Step] = []
            for write in writes { steps.append(try write.step(current: write.name.flatMap { current[$0] })) }
            do throws(ControlError) {
                let response = try await client.perform(try Transaction(space: space, steps))
                recordSaved(writes, response.results)
                return response.results
            } catch {
                guard error.code == .versionMismatch, writes.contains(where: \.isBoundToVersion) else { throw error }
            }
            for write in writes where write.isBoundToVersion {
                guard let name = write.name else { continue }
                current[name] = try await client.object(name, space: space)
            }
        }
        throw ControlError(
            .versionMismatch, "The object was changed \(Self.maximumMerges) times while it was saved.",
            hint: "Save it again; if it goes on, see with lanyard history which device writes without end.")
    }

    private func recordSaved(_ writes: [PendingWrite], _ results: [TransactionResponse.Result]) {
        for (write, result) in zip(writes, results) {
            guard let entry = result.object, let origin = write.origin else { continue }
            origin.recordSaved(Origin.Reading(space: space, fields: entry.fields, version: entry.version))
        }
    }

    // MARK: Reading

    /// Returns the object with this id; nil where there is none.
    public func object<Object: LanyardObject>(
        _ type: Object.Type = Object.self, id: ObjectID
    ) async throws(ControlError) -> Object? {
        try await check(type)
        let name = try ObjectName(collection: Object.collection, id: id.text)
        do throws(ControlError) {
            return try FieldCoding.value(of: try await client.object(name, space: space), in: space)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
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

extension PendingWrite {
    var name: ObjectName? {
        switch self {
        case .create(let name, _, _), .edit(let name, _, _, _), .delete(let name): name
        case .emit: nil
        }
    }

    fileprivate var origin: Origin? {
        switch self {
        case .create(_, _, let origin), .edit(_, _, _, let origin): origin
        case .delete, .emit: nil
        }
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
