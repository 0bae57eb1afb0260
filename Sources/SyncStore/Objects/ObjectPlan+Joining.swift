package import SyncModel

// State of another node.
extension ObjectPlan {
    /// - Parameters:
    ///   - held: before anything of it is joined.
    ///   - theirs: the vector that it leads to.
    package mutating func join(
        _ object: StateObject, to key: ObjectKey, held: VersionVector, theirs: VersionVector, removes: Bool,
        _ reading: some ObjectSource
    ) throws(StoreError) {
        let place = try load(key, reading)
        let touched = entries[place].object.state.lives.touched
        let isJudged = object.delta.lives.deletions.contains { $0.policy == .deleteWins && !held.covers($0.dot) }
        let edits =
            isJudged && !theirs.covers(touched)
            ? PastOperation.earlierEdits(try reading.touches(of: key).filter { !cuts.isVoid($0.origin.dot) }, members)
            : []
        entries[place].object.state.join(object.delta, held: held, theirs: theirs, removes: removes) { edits }
        guard entries[place].object.state.isWhole else { throw .refused(.brokenObject) }
        entries[place].object.recordJoined(object, onto: touched)
        recordJoined(place)
    }

    /// Removes a life that the sender of a state no longer has.
    package mutating func dropLife(_ birth: Dot, of key: ObjectKey, _ reading: some ObjectSource) throws(StoreError) {
        let place = try load(key, reading)
        if entries[place].object.state.dropLives(where: { $0 == birth }) { recordJoined(place) }
    }

    private mutating func recordJoined(_ place: Int) {
        entries[place].object.position = nextPosition()
        entries[place].journal = nil
        entries[place].isChanged = true
    }

    package mutating func join(
        _ schema: StateSchema, held: VersionVector, theirs: VersionVector, _ reading: some ObjectSource
    ) throws(StoreError) {
        let before = try loaded(schema: schema.collection, reading)
        schemas[schema.collection]?.schema.join(schema.entries, held: held, theirs: theirs)
        if schemas[schema.collection]?.schema != before.schema { schemas[schema.collection]?.isChanged = true }
    }
}

extension ObjectState {
    /// True if the object reads back from its own bytes. A sender omits parts that the receiver is said to have (the place of
    /// a list that others hang from). The check covers the joined result only: without it, the join could yield an object
    /// that cannot be read.
    var isWhole: Bool { (try? ObjectState(canonicalBytes: canonicalBytes)) != nil }
}
