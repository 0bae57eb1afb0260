import SyncModel

private let replicas = (1...4).map {
    ReplicaID(device: DeviceID(subjectPublicKeyInfo: [UInt8($0)]), incarnation: 1)
}
private let key = ObjectKey(collection: "c", id: "a")

/// Any bytes as operations on one object, by four replicas that have seen any part of what came before. Of each: a byte
/// for kind and replica, one for what its author had seen, a length, the body.
///
/// Whatever they say, applying them traps nowhere, has one canonical form, and reads alike once written and read back.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzObject(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var reader = ByteReader(bytes)
    var history = History()
    while history.length < 200, let step = try? Step(&reader) { history.take(step, bytes) }
    history.check()
    return 0
}

private struct Step {
    let kind: UInt64
    let replica: Int
    /// Two bits each: nothing, the first operation, all but the last, all.
    let seen: UInt8
    let body: Range<Int>

    init(_ reader: inout ByteReader) throws(CodecError) {
        let head = try reader.varint(upTo: 127, "step")
        kind = Operation.Kind.editObject + head & 7
        replica = Int(head >> 3 & 3)
        seen = UInt8(truncatingIfNeeded: try reader.varint(upTo: 255, "seen"))
        body = try reader.lengthPrefixed(upTo: 4_096, "body")
    }
}

private struct History {
    private var state = ObjectState()
    private var schema = CollectionSchema()
    private var members = MemberFacts()
    private var next: [UInt64] = [1, 1, 1, 0]
    private var edits: [ObjectLives.EarlierEdit] = []
    private(set) var length: UInt64 = 0

    init() {
        // All but the last were let in, each by the next.
        let known = replicas.dropLast()
        for (index, replica) in known.enumerated() {
            members.add(replica.device, role: .writer, at: Dot(replica: known[(index + 1) % known.count], counter: 0))
        }
    }

    mutating func take(_ step: Step, _ bytes: [UInt8]) {
        length += 1
        guard let operation = read(step, bytes) else { return }
        let origin = origin(of: step)
        next[step.replica] += operation.span
        if case .editSchema(let edit) = operation { schema.apply(edit, at: origin) }
        guard let (_, action) = operation.objectAction else { return }
        let before = state
        let outcome = state.apply(
            action, at: origin, wallMilliseconds: Int64(length), members: members, earlier: { edits })
        switch outcome {
        case .applied(let lives):
            if case .delete = action { break }
            edits.append(
                ObjectLives.EarlierEdit(lives: lives, dot: origin.dot, wallMilliseconds: Int64(length)))
        case .droppedWhileDeleted: break
        case .unknownLife, .void: precondition(state == before, "a void operation changed something")
        case .repeated: preconditionFailure("an operation came once")
        }
        let applied = state
        _ = state.apply(action, at: origin, wallMilliseconds: Int64(length), members: members, earlier: { edits })
        precondition(state == applied, "applied twice is not applied once")
    }

    /// Nil for what no node understands. What is understood has one form.
    private func read(_ step: Step, _ bytes: [UInt8]) -> Operation? {
        let body = Array(bytes[step.body])
        var view: OperationView?
        var encoded: [UInt8] = []
        // The span follows from the body; a mutation would hardly ever find it.
        for span in 1...UInt64(64) {
            encoded = []
            Operation.unknown(kind: step.kind, span: span, body: body).append(to: &encoded)
            var reader = ByteReader(encoded)
            view = try? OperationView(&reader)
            guard let view else { continue }
            let operation = Operation(view, in: encoded)
            if case .unknown = operation { continue }
            var again: [UInt8] = []
            operation.append(to: &again)
            precondition(again == encoded, "an operation has two forms")
            precondition(operation.span == span)
            return operation
        }
        return nil
    }

    private func origin(of step: Step) -> Origin {
        var entries: [VersionVector.Entry] = []
        for index in replicas.indices where index != step.replica {
            let known =
                switch step.seen >> (UInt8(index) * 2) & 3 {
                case 0: UInt64(0)
                case 1: min(1, next[index])
                case 2: next[index] - min(1, next[index])
                default: next[index]
                }
            if known > 0 { entries.append(VersionVector.Entry(replica: replicas[index], next: known)) }
        }
        return Origin(
            dot: Dot(replica: replicas[step.replica], counter: next[step.replica]),
            stamp: Stamp(rawValue: length << 16), context: VersionVector(entries))
    }

    func check() {
        let written = state.canonicalBytes
        guard let read = try? ObjectState(canonicalBytes: written) else {
            preconditionFailure("a state does not read back")
        }
        precondition(read == state && read.canonicalBytes == written, "a state has two forms")
        precondition(read.digestTerm(of: key) == state.digestTerm(of: key), "a state shows otherwise once read")
        let reading = ObjectReading(state, schema: schema, isLive: { _ in true })
        precondition(reading == ObjectReading(read, schema: schema, isLive: { _ in true }))
        guard let shown = try? JSONValue(canonicalBytes: reading.json.canonicalBytes) else {
            preconditionFailure("what is shown is no JSON that others could read")
        }
        precondition(shown == reading.json)
        let schemaBytes = schema.canonicalBytes
        precondition((try? CollectionSchema(canonicalBytes: schemaBytes)) == schema, "a schema does not read back")
        _ = schema.json
        var rest = state
        _ = rest.collect { _ in true }
        precondition(rest.digestTerm(of: key) == state.digestTerm(of: key), "forgetting a deletion shows")
        precondition(rest.shownAttachments == state.shownAttachments, "forgetting a deletion takes attachments")
    }
}
