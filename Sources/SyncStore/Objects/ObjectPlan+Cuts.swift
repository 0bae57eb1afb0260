import SyncModel

// Void operations, which may count one day.
extension ObjectPlan {
    /// Puts a schema that was made anew in place of what is here.
    mutating func replace(
        _ schema: CollectionSchema, of name: ExactString, _ reading: some ObjectSource
    ) throws(StoreError) {
        guard try loaded(schema: name, reading).schema != schema else { return }
        schemas[name]?.schema = schema
        schemas[name]?.isChanged = true
    }

    /// Records a void operation on an object: it has no effect, but is found again should it count one day.
    mutating func recordVoid(_ key: ObjectKey, _ dot: Dot, _ reading: some ObjectSource) throws(StoreError) {
        let place = try load(key, reading)
        if entries[place].object.position == 0 { entries[place].object.position = nextPosition() }
        entries[place].dots.append(dot)
        entries[place].isChanged = true
    }

    /// Records that void work on an object was accepted, so that it is found with the object. Nothing of the object changes.
    mutating func recordAcceptance(
        of key: ObjectKey, _ dot: Dot, _ reading: some ObjectSource
    ) throws(StoreError) {
        guard !steady.contains(key) else {
            steadyDots[key, default: []].append(dot)
            return
        }
        try recordVoid(key, dot, reading)
    }

    /// Lists an edit that came when the object was gone, on this node.
    mutating func recordDroppedEdit(
        of key: ObjectKey, by replica: ReplicaID, at wallMilliseconds: Int64, _ reading: some ObjectSource
    ) throws(StoreError) {
        let place = try load(key, reading)
        entries[place].object.collectedEdits.count(replica, wallMilliseconds: wallMilliseconds)
        entries[place].object.position = nextPosition()
        entries[place].isChanged = true
    }

    /// Lists a deletion that is not done again, on this node: others had changed the object, and it stays.
    mutating func recordDroppedDeletion(
        of key: ObjectKey, by replica: ReplicaID, at wallMilliseconds: Int64, _ reading: some ObjectSource
    ) throws(StoreError) {
        let place = try load(key, reading)
        let isListed = entries[place].object.collectedEdits.contains { $0.isDeletion && $0.replica == replica }
        if !isListed {
            entries[place].object.collectedEdits.append(
                DeletionRecord.Edited(
                    replica: replica, count: DeletionRecord.Edited.deletionCount, lastWallMilliseconds: wallMilliseconds
                ))
        }
        entries[place].object.position = nextPosition()
        entries[place].isChanged = true
    }

    /// Does again what was done to an object, with what counts now, from where its held history begins.
    ///
    /// What was listed stays so: it was not written again, or a deletion dropped it that is forgotten. Where such a deletion is done
    /// again it lists the edits itself.
    ///
    /// - Returns: false when what it began with has something that does not count now, or lacks what was done to something that
    ///   does; the object is as it was.
    mutating func rebuild(_ key: ObjectKey, _ reading: some ObjectSource) throws(StoreError) -> Bool {
        let place = try load(key, reading)
        let beginning = try reading.beginning(of: key) ?? ObjectBeginning()
        let known = beginning.state.lives.touched
        guard !cuts.isVoid(anyOf: known) else { return false }
        let counting = try reading.touches(of: key).filter { !cuts.isVoid($0.origin.dot) }
        let touches = counting.filter { !known.covers($0.origin.dot) }
        // It began with a state that was made while some of this was void: what others did to that left nothing there.
        let isMadeWithout = counting.contains { touch in
            known.covers(touch.origin.dot) && touches.contains { touch.origin.knows($0.origin.dot) }
        }
        if isMadeWithout { return false }
        let (state, last) = PastOperation.state(behind: touches, from: beginning, members, faults)
        let position = nextPosition()
        let again = state.lives.deletions.flatMap(\.edited)
        let listed = entries[place].object.collectedEdits.compactMap { edited -> DeletionRecord.Edited? in
            if edited.isDeletion { return edited }
            var rest = edited
            rest.count -= min(rest.count, again.reduce(0) { $0 + ($1.replica == edited.replica ? $1.count : 0) })
            return rest.count > 0 ? rest : nil
        }
        entries[place].replace(state, last, from: beginning, listing: listed, position: position)
        return true
    }

    /// Replaces an object that may be wrong here with the state of another node, and applies the changes that the node has
    /// not seen.
    ///
    /// - Parameter object: nil if nothing is left of it at the other node.
    mutating func replace(
        _ key: ObjectKey, with object: StateObject?, theirs: VersionVector, _ reading: some ObjectSource
    ) throws(StoreError) {
        let place = try load(key, reading)
        let touches = try reading.touches(of: key).filter { !cuts.isVoid($0.origin.dot) }
        var state = ObjectState()
        if let object {
            state.join(object.delta, held: VersionVector(), theirs: theirs) { [] }
            guard state.isWhole else { throw .refused(.brokenObject) }
            entries[place].object.changedMilliseconds = object.wallMilliseconds
        } else {
            // What of it lies in the log counted there, and came to nothing: when it is rebuilt it is not done again.
            var touched = VersionVector()
            var greatestStamp = Stamp.zero
            for touch in touches where theirs.covers(touch.origin.dot) {
                touched.advance(touch.origin.dot.replica, to: touch.origin.dot.counter + max(touch.action.span, 1))
                greatestStamp = max(greatestStamp, touch.origin.stamp)
            }
            state = ObjectState(touched: touched, greatestStamp: greatestStamp)
        }
        entries[place].object.state = state
        entries[place].object.version = object?.version
        entries[place].object.position = nextPosition()
        entries[place].isChanged = true
        let dots = entries[place].dots
        let beyond = touches.filter { !theirs.covers($0.origin.dot) }
        entries[place].appliedAgain.formUnion(beyond.map(\.origin.dot))
        for touch in beyond {
            let change = Change(origin: touch.origin, wallMilliseconds: touch.wallMilliseconds)
            try apply(touch.action, to: key, span: touch.action.span, change, isAgain: false, reading)
        }
        // Of those the log knows already where they are.
        entries[place].dots = dots
        entries[place].journal = nil
    }
}

extension CutTable {
    /// True if some of these changes do not count. Void changes are the end of a history, so the last change of each replica
    /// tells.
    func isVoid(anyOf touched: VersionVector) -> Bool {
        touched.entries.contains { isVoid(Dot(replica: $0.replica, counter: $0.next - 1)) }
    }
}
