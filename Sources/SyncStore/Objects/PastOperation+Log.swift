import SyncModel

extension PastOperation {
    /// Appends the operations on `key` that a stored segment holds.
    ///
    /// - Parameter context: what the segment's author had seen.
    /// - Returns: false when the bytes are not what a store keeps.
    static func read(
        _ touches: inout [PastOperation], of key: ObjectKey, in bytes: [UInt8], by replica: ReplicaID,
        context: VersionVector
    ) -> Bool {
        forEach(in: bytes, by: replica, context: context) { if $0 == key { touches.append($1) } }
    }

    /// Calls `body` with each operation on an object that a stored segment holds.
    ///
    /// - Parameter context: what the segment's author had seen.
    /// - Returns: false when the bytes are not what a store keeps.
    @discardableResult
    static func forEach(
        in bytes: [UInt8], by replica: ReplicaID, context: VersionVector, _ body: (ObjectKey, PastOperation) -> Void
    ) -> Bool {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            guard let view = try? ChangeView(&reader) else { return false }
            view.forEachOperation(in: bytes) { counter, operation in
                guard Operation.Kind.concernsObjects(operation.kind) else { return }
                let operation = Operation(operation, in: bytes)
                guard let (object, action) = operation.objectAction else { return }
                let origin = operation.judged(
                    at: Origin(dot: Dot(replica: replica, counter: counter), stamp: view.stamp, context: context))
                body(object, PastOperation(origin: origin, action: action, wallMilliseconds: view.wallMilliseconds))
            }
        }
        return true
    }

    /// Returns the state after all of them, and the last operation with an effect.
    static func state(
        behind touches: [PastOperation], from beginning: ObjectBeginning, _ members: MemberFacts, _ faults: ModelFaults
    ) -> (ObjectState, last: PastOperation?) {
        var state = beginning.state
        var last: PastOperation?
        for (index, touch) in touches.enumerated() {
            let outcome = state.apply(
                touch.action, at: touch.origin.planting(faults), wallMilliseconds: touch.wallMilliseconds,
                members: members, earlier: { earlierEdits(Array(touches[..<index]), members) })
            switch outcome {
            case .applied, .droppedWhileDeleted: last = touch
            case .unknownLife, .void, .repeated: break
            }
        }
        return (state, last)
    }

    /// The edits and decisions among them that were not void, with the lives they were on.
    ///
    /// - Parameter members: every fact that was known when the newest of them was applied; later ones do not matter.
    static func earlierEdits(_ touches: [PastOperation], _ members: MemberFacts) -> [ObjectLives.EarlierEdit] {
        var births: [Dot] = []
        var edits: [ObjectLives.EarlierEdit] = []
        for touch in touches {
            func speaks(for birth: Dot) -> Bool {
                touch.origin.knows(birth) && members.admits(touch.origin, onWorkOf: birth.replica.device)
            }
            let lives: [Dot]
            switch touch.action {
            case .edit(.birth, _):
                lives = [touch.origin.dot]
                births += lives
            case .edit(let life, _), .editAttachments(let life, _):
                lives = [life.birth(at: touch.origin)].filter(speaks)
            case .keep: lives = births.filter(speaks)
            case .delete: continue
            }
            guard !lives.isEmpty else { continue }
            edits.append(
                ObjectLives.EarlierEdit(
                    lives: lives, dot: touch.origin.dot, wallMilliseconds: touch.wallMilliseconds))
        }
        return edits
    }
}

extension ObjectState.Action {
    var isDeletion: Bool {
        switch self {
        case .delete: true
        case .edit, .editAttachments, .keep: false
        }
    }

    /// The birth of the one life that it is on; nil for what is on several.
    func life(at origin: Origin) -> Dot? { life?.birth(at: origin) }
}

extension Operation.Kind {
    /// True if an operation of this kind changes objects, schemas or the members that may write to the work of others.
    static func concernsObjects(_ kind: UInt64) -> Bool {
        (addMember...decide).contains(kind) || kind == attach || kind == detach || kind == editAgain
            || kind == acceptWork
    }
}
