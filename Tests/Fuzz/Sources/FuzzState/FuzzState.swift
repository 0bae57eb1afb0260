import SyncModel

private let replica = ReplicaID(device: DeviceID(subjectPublicKeyInfo: [1]), incarnation: 1)
private let key = ObjectKey(collection: "c", id: "a")

/// Any bytes as the state of an object, or of a schema, as a database or a peer may hold it. What is taken has one form,
/// is shown without a trap, and takes further operations.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzState(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let schema = try? CollectionSchema(canonicalBytes: bytes) {
        precondition(schema.canonicalBytes == bytes, "a schema has two forms")
        _ = (schema.json, schema.conflicts, schema.digestTerm(collection: "c"))
    }
    guard let state = try? ObjectState(canonicalBytes: bytes) else { return 0 }
    precondition(state.canonicalBytes == bytes, "a state has two forms")
    check(state)
    goOn(state)
    return 0
}

private func check(_ state: ObjectState) {
    let reading = ObjectReading(state, schema: nil, isLive: { _ in false })
    _ = (reading.json.canonicalBytes, reading.conflicts, state.digestTerm(of: key))
    for deletion in state.lives.deletions { _ = deletion.edited.reduce(0) { $0 + $1.count } }
    precondition((try? ObjectState(canonicalBytes: state.canonicalBytes)) == state, "a state does not read back")
}

/// Somebody who has seen all of it deletes, edits, keeps and forgets.
private func goOn(_ state: ObjectState) {
    var held = state.lives.touched
    for life in state.lives.lives { held.advance(life.birth.replica, to: life.birth.counter + 1) }
    let origin = Origin(
        dot: Dot(replica: replica, counter: held.next(of: replica)), stamp: state.lives.greatestStamp, context: held)
    let edits: [ObjectFields.Operation] = [.remove("f", Removal()), .update("g", .register(.set(1)))]
    let actions: [ObjectState.Action] =
        DeletePolicy.allCases.map { .delete($0) } + [.keep, .edit(.birth, edits)]
        + state.lives.lives.prefix(3).map { .edit(.init(to: $0.birth, by: replica), edits) }
    for action in actions {
        var next = state
        _ = next.apply(action, at: origin, wallMilliseconds: 1, members: MemberFacts(), earlier: { [] })
        check(next)
        _ = next.collect { _ in true }
        check(next)
    }
}
