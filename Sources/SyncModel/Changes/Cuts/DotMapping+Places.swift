// Places in sequences. What an element was put beside may count nowhere, or not yet: another retired device wrote it, and has not written
// it again. Then the element goes to the beginning: elsewhere is better than nowhere. Or it stands again under a replica that the author
// of the edit had never seen: then the edit knows it there, too.
extension DotMapping {
    /// Edits as they are written again.
    package struct Written {
        package fileprivate(set) var edits: [ObjectFields.Operation] = []
        /// The vector by which they are judged.
        package fileprivate(set) var known: VersionVector
        /// True if one edits, moves or removes an element that is not here. It does nothing while that is so.
        package fileprivate(set) var isLost = false
    }

    /// Returns the edits with present dots, each with a place that is here. The contents of a removal depend on the fields it meets: those
    /// are edited here as they will be.
    ///
    /// - Parameters:
    ///   - fields: what is edited, as it is when the edits are written again.
    ///   - origin: where they are written again, with all that may be named there.
    ///   - known: what they are judged by, as far as their author had seen it. Present places that they name are added. So an edit may also
    ///     replace what that replica wrote to the object before, and its author never saw. That takes a device that wrote to the object
    ///     before it got back work of its own that it had lost: else its writes to the object wait for that.
    package func written(
        _ edits: [ObjectFields.Operation], on fields: ObjectFields, at origin: Origin, knowing known: VersionVector
    ) -> Written {
        var placing = Placing(origin, Written(known: known), isVoid: isVoid) {
            isPlace(.init(replica: $0.replica, next: $0.counter + 1))
        }
        var (fields, now) = (fields, origin)
        let isApplied = edits.count > 1 && edits.contains(where: \.removesKeys)
        for edit in edits {
            let again = placing.place(self(edit, on: fields), in: fields)
            guard isApplied else { continue }
            fields.apply(again, at: now)
            now = now.advanced(by: ObjectFields.span(of: again))
        }
        return placing.written
    }
}

private struct Placing {
    private let origin: Origin
    private(set) var written: DotMapping.Written
    /// The first counter of the edit.
    private var next: UInt64
    /// Counters that own no position, since their edit does nothing.
    private var void: Set<UInt64> = []
    private let isVoid: (Dot) -> Bool
    /// True for what was written again.
    private let isPlace: (Dot) -> Bool

    init(
        _ origin: Origin, _ written: DotMapping.Written, isVoid: @escaping (Dot) -> Bool,
        isPlace: @escaping (Dot) -> Bool
    ) {
        self.origin = origin
        self.written = written
        self.isVoid = isVoid
        self.isPlace = isPlace
        next = origin.dot.counter
    }

    mutating func place(_ edit: ObjectFields.Operation, in fields: ObjectFields) -> ObjectFields.Operation {
        var placed = edit
        if case .update(let key, let value) = edit, value.namesPlaces {
            if let value = place(value, in: fields.state(of: key)) {
                placed = .update(key, value)
            } else {
                written.isLost = true
                void.insert(next)
            }
        }
        written.edits.append(placed)
        next += ObjectFields.span(of: edit)
        return placed
    }

    private mutating func place(
        _ operation: ReplicatedValue.Operation, in value: ReplicatedValue
    ) -> ReplicatedValue.Operation? {
        switch operation {
        case .register, .constant, .counter, .set, .addOnlySet: return operation
        case .dictionary(.update(let key, let nested)):
            return place(nested, in: value.dictionary.state(of: key)).map { .dictionary(.update(key, $0)) }
        case .dictionary(.create), .dictionary(.remove): return operation
        case .list(let list): return place(list, in: value.list).map { .list($0) }
        case .orderedSet(let set):
            let state = value.orderedSet
            switch set {
            case .create, .remove: return operation
            case .insert(let placement, let values):
                return .orderedSet(.insert(place(placement) { state.hasPosition(at: $0) }, values))
            case .move(let value, let placement):
                return .orderedSet(.move(value, place(placement) { state.hasPosition(at: $0) }))
            }
        case .text(let text):
            let state = value.text
            switch text {
            case .create: return operation
            case .insert(let placement, let string):
                return .text(.insert(place(placement) { state.hasPosition(at: $0) }, string))
            case .delete(let ranges):
                remove(ranges)
                return operation
            case .revise(let revision):
                remove(revision.deleted)
                return .text(.revise(revision.placing { place($0) { state.hasPosition(at: $0) } }))
            }
        }
    }

    private mutating func place(
        _ operation: ReplicatedList<ReplicatedValue>.Operation, in list: ReplicatedList<ReplicatedValue>
    ) -> ReplicatedList<ReplicatedValue>.Operation? {
        switch operation {
        case .create: return operation
        case .insert(let placement, let values):
            return .insert(place(placement) { list.hasPosition(at: $0) }, values)
        case .edit(let element, let edit):
            guard has(element, { list.hasPosition(at: $0) }) else { return nil }
            return place(edit, in: list.state(ofElement: element.dot(by: origin.dot.replica))).map {
                .edit(element, $0)
            }
        case .delete(let ranges):
            remove(ranges)
            return operation
        case .move(let element, let placement):
            guard has(element, { list.hasPosition(at: $0) }) else { return nil }
            return .move(element, place(placement) { list.hasPosition(at: $0) })
        }
    }

    private mutating func place(_ placement: Placement, _ isHere: (Dot) -> Bool) -> Placement {
        switch placement {
        case .before(let next): return has(next, isHere) ? placement : .after(nil, .end)
        case .after(let previous, let rightOrigin):
            let next: DotReference? = if case .node(let next) = rightOrigin { next } else { nil }
            let hasPrevious = previous.map { has($0, isHere) } ?? true
            let hasNext = next.map { has($0, isHere) } ?? true
            if hasPrevious { return hasNext ? placement : .after(previous, .inherited) }
            if let next, hasNext { return .before(next) }
            return .after(nil, .end)
        }
    }

    private mutating func has(_ reference: DotReference, _ isHere: (Dot) -> Bool) -> Bool {
        let dot = reference.dot(by: origin.dot.replica)
        if dot.replica == origin.dot.replica, dot.counter >= origin.dot.counter { return !void.contains(dot.counter) }
        guard isHere(dot), origin.knows(dot) else { return false }
        if dot.replica == origin.dot.replica || written.known.covers(dot) { return true }
        // Under the same number another history may have something else.
        guard isPlace(dot) else { return false }
        written.known.advance(dot.replica, to: dot.counter + 1)
        return true
    }

    /// An element that counts and is missing is forgotten: all have removed it.
    private mutating func remove(_ ranges: [DotRange]) {
        for range in ranges {
            let first = range.first.dot(by: origin.dot.replica)
            guard first.replica != origin.dot.replica else { continue }
            let (end, overflow) = first.counter.addingReportingOverflow(range.count)
            guard !overflow, origin.context.next(of: first.replica) >= end else {
                written.isLost = true
                continue
            }
            if isPlace(first) { written.known.advance(first.replica, to: end) }
            if isVoid(Dot(replica: first.replica, counter: end - 1)) || written.known.next(of: first.replica) < end {
                written.isLost = true
            }
        }
    }
}

extension ReplicatedValue.Operation {
    fileprivate var namesPlaces: Bool {
        switch self {
        case .register, .constant, .counter, .set, .addOnlySet: false
        case .list, .orderedSet, .text: true
        case .dictionary(.update(_, let nested)): nested.namesPlaces
        case .dictionary(.create), .dictionary(.remove): false
        }
    }
}
