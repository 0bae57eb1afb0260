import SyncModel

/// The work that this device must do again when a history goes, asked segment by segment, for each replica in the order of
/// counters.
///
/// Of the changes that go, it is everything that counted. Of the changes that wait, it is what counts nowhere behind the
/// history that stays, because the fact that admitted the device is in the other history. The rest counts all along, and
/// would be there twice.
struct WorkToRedo {
    private let cuts: CutTable
    private let firsts: FirstContexts
    /// The membership facts until now and behind the history that stays.
    private let before: MemberFacts
    private let after: MemberFacts
    private var authors: [ReplicaID: SeenBefore] = [:]

    /// - Parameter state: with what goes.
    init(_ taking: TakingBack, on state: LogState) {
        (cuts, firsts, before) = (state.cuts, state.firsts, state.members)
        var after = before.held(at: taking.shared(state.held))
        for segment in taking.instead { after.join(segment.memberFacts) }
        self.after = after
    }

    /// - Parameter objects: as they are with what goes.
    mutating func take(
        _ segment: Segment, _ fate: TakingBack.Fate, _ taking: TakingBack, _ history: some CutHistory,
        _ objects: some ObjectSource
    ) throws(StoreError) -> [TakenBack] {
        switch fate {
        case .stays, .goes(redoneFrom: nil): return []
        case .goes(let start?):
            guard let rest = segment.suffix(from: start) else {
                throw .corrupt(detail: "a history parts within a change")
            }
            let seen = try seen(by: segment, history)
            var bytes: [UInt8] = []
            try rest.forEachChange { change throws(StoreError) in
                bytes += try change.keeping(by: segment.replica, seen) { operation, origin throws(StoreError) in
                    let work = try work(of: operation, at: origin, objects)
                    return work.isEmpty || work.contains { before.admits(origin, onWorkOf: $0) }
                }.encoded
            }
            return [TakenBack(rest, start..<rest.end, bytes, known: taking.known(seen, at: start, of: rest.replica))]
        case .waits:
            guard taking.isRedone(segment.replica) else { return [] }
            let seen = try seen(by: segment, history)
            var void: [TakenBack] = []
            try segment.forEachChange { change throws(StoreError) in
                let kept = try change.keeping(by: segment.replica, seen) { operation, origin throws(StoreError) in
                    // Work that a cut made void is rewritten because of the cut.
                    if cuts.isVoid(origin.dot) { return false }
                    return try work(of: operation, at: origin, objects).contains {
                        before.admits(origin, onWorkOf: $0) && !after.admits(origin, onWorkOf: $0)
                    }
                }
                if kept.operations.allSatisfy(\.isVoid) { return }
                void.append(
                    TakenBack(
                        segment, change.start..<change.start + change.count, kept.encoded,
                        known: taking.known(seen, at: change.start, of: segment.replica)))
            }
            return void
        }
    }

    private mutating func seen(by segment: Segment, _ history: some CutHistory) throws(StoreError) -> VersionVector {
        let replica = segment.replica
        if authors[replica] == nil {
            authors[replica] = SeenBefore(
                try firsts.beginning(of: replica) + history.contextSteps(of: replica))
        }
        return authors[replica]?.seen(at: segment.start) ?? VersionVector()
    }

    /// Returns the devices that began the work that an operation changes.
    private func work(
        of operation: SyncModel.Operation, at origin: Origin, _ objects: some ObjectSource
    ) throws(StoreError) -> [DeviceID] {
        try operation.work(at: origin) { key throws(StoreError) in
            try objects.object(key)?.state.lives ?? ObjectLives()
        }.map(\.replica.device)
    }
}

extension TakenBack {
    fileprivate init(_ segment: Segment, _ counters: Range<UInt64>, _ bytes: [UInt8], known: VersionVector) {
        self.init(
            segment: Segment(
                replica: segment.replica, start: counters.lowerBound, end: counters.upperBound, bytes: bytes,
                signature: []),
            known: known)
    }
}

extension Change {
    /// The same with counters alone in place of all that is not to be done again.
    fileprivate func keeping(
        by replica: ReplicaID, _ seen: VersionVector,
        _ isKept: (SyncModel.Operation, Origin) throws(StoreError) -> Bool
    ) throws(StoreError) -> Change {
        var origin = Origin(dot: Dot(replica: replica, counter: start), stamp: stamp, context: seen)
        var kept: [SyncModel.Operation] = []
        for operation in operations {
            kept.append(try isKept(operation, origin) ? operation : .void(span: operation.span))
            origin = origin.advanced(by: operation.span)
        }
        return Change(
            start: start, stamp: stamp, wallMilliseconds: wallMilliseconds, context: context, operations: kept)
    }
}

extension Segment {
    fileprivate func forEachChange(_ body: (Change) throws(StoreError) -> Void) throws(StoreError) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            guard let view = try? ChangeView(&reader) else {
                throw .corrupt(detail: "a change that is held does not read back")
            }
            try body(Change(view, in: bytes))
        }
    }

    fileprivate var memberFacts: MemberFacts {
        var facts = MemberFacts()
        forEachAddition { fact, dot in facts.add(fact, at: dot) }
        return facts
    }

    /// Calls `body` for each member that its changes admit.
    func forEachAddition(_ body: (MemberFact, Dot) -> Void) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            view.forEachOperation(in: bytes) { counter, operation in
                guard view.mayAdmit(at: counter), case .addMember(let fact) = Operation(operation, in: bytes),
                    fact.isBound
                else { return }
                body(fact, Dot(replica: replica, counter: counter))
            }
        }
    }
}
