package import SyncModel

// What a device wrote beyond the end of its histories, for a person to look at and to take.
extension SQLiteStore {
    /// Returns void operations of a device in the order of their stamps, behind `key`: at most `limit`, and about `byteBudget`
    /// bytes, but at least one. Reads the void ends of its histories alone, a segment of each at a time.
    package func voidWork(
        of device: DeviceID, after key: CanonicalKey?, limit: Int, byteBudget: Int, space: SpaceID
    ) throws(StoreError) -> VoidWorkPage {
        let state = try logState()
        return try readLog(space) { rows throws(StoreError) in
            var page = VoidWorkPage()
            page.isDropped = try rows.hasDroppedVoidWork(of: device, in: state)
            var histories = try rows.voidHistories(of: device, after: key, in: state)
            var byteCount = 0
            while page.operations.count < limit, byteCount < byteBudget || page.operations.isEmpty {
                for index in histories.indices { try histories[index].fill(rows.access) }
                histories.removeAll { $0.first == nil }
                let least = histories.indices.min { one, other in
                    guard let one = histories[one].first, let other = histories[other].first else { return false }
                    return one.key < other.key
                }
                guard let least, let operation = histories[least].first else { break }
                histories[least].removeFirst()
                page.operations.append(operation)
                byteCount += operation.byteCount
            }
            for index in histories.indices { try histories[index].fill(rows.access) }
            if histories.contains(where: { $0.first != nil }) { page.next = page.operations.last?.key }
            try ObjectRows(rows).markAccepted(&page.operations, of: device, in: state)
            return page
        } ?? VoidWorkPage()
    }

    /// Returns the devices whose work on an object is void and was not written again, as far as the log has it, sorted.
    package func authorsOfVoidWork(on key: ObjectKey, space: SpaceID) throws(StoreError) -> [DeviceID] {
        let state = try logState()
        guard !state.cuts.isEmpty else { return [] }
        let touches = try readLog(space) { rows throws(StoreError) in try ObjectRows(rows).touches(of: key) } ?? []
        let dots = touches.map(\.origin.dot).filter { state.cuts.isVoid($0) }
        return Set(dots.map(\.replica.device)).filter { device in
            let histories = state.reviewedHistories(of: device)
            return dots.contains { dot in
                histories.contains { $0.replica == dot.replica && $0.contains(dot.counter) }
            }
        }.sorted()
    }

    /// Returns the void work of a device on an object, as far as the log has it and no admin has accepted it.
    package func workToAccept(
        of device: DeviceID, on key: ObjectKey, space: SpaceID
    ) throws(StoreError) -> WorkOnObject {
        let state = try logState()
        return try readLog(space) { rows throws(StoreError) in
            let objects = ObjectRows(rows)
            let touches = try objects.touches(of: key)
            let acceptances = try objects.acceptances(of: key, workOf: device, in: state)
            let beginning = try BeginningRows(objects).beginning(of: key)
            let isDropped = try rows.hasDroppedVoidWork(of: device, in: state)
            let histories = state.reviewedHistories(of: device)
            func isOffered(_ dot: Dot) -> Bool {
                histories.contains { $0.replica == dot.replica && $0.contains(dot.counter) }
            }
            let work = WorkToAccept(
                on: key, of: device, touches, from: beginning, acceptances: acceptances,
                rewritten: state.cuts.rewritten, members: state.members, isVoid: state.cuts.isVoid, isOffered: isOffered
            )
            guard let work else { return isDropped ? .dropped : acceptances.isEmpty ? .none : .accepted }
            if !state.mayAcceptRetired(device),
                touches.contains(where: { isOffered($0.origin.dot) && !state.cuts.isStrictlyVoid($0.origin.dot) })
            {
                return .unsettled
            }
            return isDropped && !work.isWhole ? .dropped : .found(work)
        } ?? .none
    }
}

extension LogState {
    fileprivate func reviewedHistories(of device: DeviceID) -> [ReviewedHistory] {
        tips.filter { $0.replica.device == device }.compactMap { ReviewedHistory($0, in: self) }
    }

    /// True once no device can make work count again that retirements of the device made void: all have heard of them. Before, what
    /// is accepted could be there twice.
    fileprivate func mayAcceptRetired(_ device: DeviceID) -> Bool {
        cuts.cuts(of: device).allSatisfy { cuts.isSettled($0.dot) }
    }
}

extension LogRows {
    /// Returns the void ends of the device's histories.
    fileprivate func voidHistories(
        of device: DeviceID, after key: CanonicalKey?, in state: LogState
    ) throws(StoreError) -> [VoidHistory] {
        var histories: [VoidHistory] = []
        for history in state.reviewedHistories(of: device) {
            if let row = try findReplica(history.replica) {
                histories.append(VoidHistory(history, row: row, after: key))
            }
        }
        return histories
    }

    /// True if some of the device's void changes were compacted, or never came.
    fileprivate func hasDroppedVoidWork(of device: DeviceID, in state: LogState) throws(StoreError) -> Bool {
        for history in state.reviewedHistories(of: device) {
            guard let row = try findReplica(history.replica) else { continue }
            let held = try access.first(
                "SELECT max(compacted, first_held) FROM replica WHERE id = ?", .integer(row)
            ) { row throws(StoreError) in row.integer(0) }
            if UInt64(clamping: held ?? 0) > history.start { return true }
        }
        return false
    }
}

extension ObjectRows {
    /// Returns the statements that work of the device on an object was accepted, of admins, in the order in which they arrived.
    ///
    /// - Parameter segment: only those behind this row.
    func acceptances(
        of key: ObjectKey, workOf device: DeviceID, behind segment: Int64 = 0, in state: LogState
    ) throws(StoreError) -> [WorkToAccept.Acceptance] {
        var acceptances: [WorkToAccept.Acceptance] = []
        guard let collection = try collectionRow(key.collection) else { return acceptances }
        let admins = state.cuts.admins(in: state.members)
        try access.forEach(
            """
            SELECT replica.replica, segment.bytes
            FROM object JOIN touch ON touch.object = object.id JOIN segment ON segment.id = touch.segment
                JOIN replica ON replica.id = segment.replica
            WHERE object.collection = ? AND object.key = ? AND touch.segment >= ? ORDER BY touch.segment
            """, .integer(collection), .text(key.id.string), .integer(segment)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(0)) else { throw .corrupt(detail: "a replica is none") }
            // Others write as they like; what they say of acceptance does not count.
            guard replica.device != device, admins.contains(replica.device) else { return true }
            let bytes = row.blob(1)
            var reader = ByteReader(bytes)
            while !reader.isAtEnd, let view = try? ChangeView(&reader) {
                view.forEachOperation(in: bytes) { counter, operation in
                    let dot = Dot(replica: replica, counter: counter)
                    guard operation.kind == Operation.Kind.acceptWork, !state.cuts.isStrictlyVoid(dot),
                        case .acceptWork(let work) = Operation(operation, in: bytes),
                        work.object == key, work.device == device
                    else { return }
                    acceptances.append(.init(dot: dot, stamp: view.stamp, work: work))
                }
            }
            return true
        }
        return acceptances
    }

    /// Marks the operations that were accepted.
    fileprivate func markAccepted(
        _ operations: inout [VoidOperation], of device: DeviceID, in state: LogState
    ) throws(StoreError) {
        var places: [ObjectKey: [Int]] = [:]
        for (index, operation) in operations.enumerated() {
            if case .object(let key, _) = operation.content { places[key, default: []].append(index) }
        }
        for (key, places) in places {
            // What was written again was accepted in its old place, perhaps before it came.
            let first = state.cuts.rewritten.isEmpty ? places.map { operations[$0].segment }.min() ?? 0 : 0
            let acceptances = try acceptances(of: key, workOf: device, behind: first, in: state)
            for place in places
            where acceptances.covers(operations[place].key.dot, written: state.cuts.rewritten) {
                operations[place].isAccepted = true
            }
        }
        var streams: [ExactString: AcceptedEvents] = [:]
        for (index, operation) in operations.enumerated() {
            guard case .event(let event) = operation.content else { continue }
            let stream = ExactString(event.stream)
            if streams[stream] == nil { streams[stream] = try acceptedEvents(of: device, stream, state.cuts) }
            operations[index].isAccepted = streams[stream]?.covers(operation.key.dot) ?? false
        }
    }

    /// A retirement of the admin makes what it wrote to the object void, and the events stay: so that counts here, too.
    private func acceptedEvents(
        of device: DeviceID, _ stream: ExactString, _ cuts: CutTable
    ) throws(StoreError) -> AcceptedEvents {
        let key = AcceptedEvents.key(of: device, stream: stream)
        var fields = try object(key)?.reading(nil) { _ in true }.fields ?? []
        if !cuts.cuts.isEmpty {
            for touch in try touches(of: key)
            where cuts.isVoid(touch.origin.dot) && !cuts.isStrictlyVoid(touch.origin.dot) {
                fields += AcceptedEvents.fields(of: touch.action)
            }
        }
        return AcceptedEvents(of: device, fields)
    }
}
