package import SyncCore
import SyncModel
package import SyncStore

/// A request of a core to its store on behalf of stability.
enum StabilityTask {
    case readHeads(ReadID, [VersionVector.Entry])
    case acknowledge(Acknowledgement)
    case keep([SignedAcknowledgement])
    case collect(upTo: VersionVector, after: Dot?, limit: Int)
    case compact(upTo: VersionVector)
    case dropEvents(stable: VersionVector)
    case readmit(MemberFact)
    case settle(Dot)
    case rewriteVoid(limit: Int)
    case takeBack(OtherHistory)
    case redoTakenBack(limit: Int)
    case takeStatements([PlacedStatement])

    init(_ effect: Effect) {
        switch effect {
        case .readHeads(let id, let entries): self = .readHeads(id, entries)
        case .acknowledge(let acknowledgement): self = .acknowledge(acknowledgement)
        case .keep(let acknowledgements): self = .keep(acknowledgements)
        case .collect(let stable, let after, let limit): self = .collect(upTo: stable, after: after, limit: limit)
        case .compact(let stable): self = .compact(upTo: stable)
        case .dropEvents(let stable): self = .dropEvents(stable: stable)
        case .readmit(let fact): self = .readmit(fact)
        case .settle(let cut): self = .settle(cut)
        case .rewriteVoid(let limit): self = .rewriteVoid(limit: limit)
        case .takeBack(let other): self = .takeBack(other)
        case .redoTakenBack(let limit): self = .redoTakenBack(limit: limit)
        case .takeStatements(let statements): self = .takeStatements(statements)
        case .persist, .read, .state, .leaveOpen, .seal, .closeIncarnation, .wipe, .takeWipeReceipt, .wipeReceiptTaken,
            .dial, .send, .establish, .close, .trust, .remember, .bulkPeerUp, .bulkPeerDown, .bulkWanted, .presence,
            .renewPresence, .report:
            preconditionFailure("no effect of stability")
        }
    }
}

// Signing, keeping and collecting, as the agent's loop has its store do it.
extension World {
    mutating func perform(_ node: Int, _ task: StabilityTask) {
        guard let store = nodes[node].store else { return }
        let answer: Input?
        switch task {
        case .readHeads(let id, let entries):
            answer = .headsRead(id, (try? store.heads(at: entries)) ?? [])
        case .acknowledge(let acknowledgement):
            do { answer = .acknowledged(try store.acknowledge(acknowledgement)) } catch {
                answer = .acknowledgeFailed(code: "\(error)")
            }
        case .keep(let acknowledgements):
            try? store.keep(acknowledgements)
            answer = nil
        case .collect(let stable, let after, let limit):
            do {
                let step = try store.collect(upTo: stable, after: after, limit: limit)
                answer = .collected(next: step.next, hasForgotten: step.objects > 0)
            } catch {
                answer = .collectFailed(code: "\(error)")
            }
        case .compact(let stable): answer = compact(node, upTo: stable)
        case .dropEvents(let stable): answer = dropEvents(node, stable)
        case .readmit(let fact):
            let isDone = commit(node, [.operations([.addMember(stated(fact, by: node))])])
            trace.record(now, node, "lets \(fact.device.shortID) in again\(isDone ? "" : ", in vain")")
            answer = nil
        case .settle(let cut):
            let isDone = commit(node, [.operations([.settleCut(.init(cut))])])
            trace.record(now, node, "settles \(cut)\(isDone ? "" : ", in vain")")
            answer = nil
        case .rewriteVoid(let limit):
            do {
                let rewriting = try store.rewriteVoid(limit: limit, wallMilliseconds: wall(node))
                trace.record(now, node, "writes again what was void")
                recordCommit(node, rewriting.commit)
                queue.plan(
                    .answer(node: node, generation: nodes[node].generation, rewriting.commit), at: answerTime(node))
                answer = .rewritten(hasMore: rewriting.hasMore)
            } catch {
                answer = .rewriteFailed(code: "\(error)")
            }
        case .takeBack(let other): answer = takeBack(node, other)
        case .takeStatements(let statements):
            if let commit = try? store.takeStatements(statements, wallMilliseconds: wall(node)) {
                trace.record(now, node, "takes \(statements.count) statements of the recovery key")
                recordCommit(node, commit)
                queue.plan(.answer(node: node, generation: nodes[node].generation, commit), at: answerTime(node))
            }
            answer = nil
        case .redoTakenBack(let limit):
            do {
                let redone = try store.redoTakenBack(limit: limit, wallMilliseconds: wall(node))
                trace.record(now, node, "does again what it took back")
                recordCommit(node, redone.commit)
                queue.plan(.answer(node: node, generation: nodes[node].generation, redone.commit), at: answerTime(node))
                answer = .redone(hasMore: redone.hasMore, isWaiting: redone.isWaiting)
            } catch {
                answer = .redoFailed(code: "\(error)")
            }
        }
        guard let answer else { return }
        queue.plan(
            .input(node: node, generation: nodes[node].generation, answer),
            at: answerTime(node, after: milliseconds(0...1)))
    }
}

// Taking a history back for another.
extension World {
    private mutating func takeBack(_ node: Int, _ other: OtherHistory) -> Input {
        guard let store = nodes[node].store else { return .takenBack(.nothing) }
        if isForging(node) { return .takenBack(.impossible) }
        do {
            guard try store.takeBack(other, wallMilliseconds: wall(node)) else { return .takenBack(.nothing) }
            let state = try store.state()
            trace.record(now, node, "takes back what others have otherwise of \(other.replica)")
            if options.forkers.contains(other.replica.device) {
                let (device, now) = (nodes[node].device.id, VersionVector(state.tips))
                check { $0.tookBack(node: node, device: device, now: now) }
            }
            return .takenBack(.done(StoredHistory(state)))
        } catch {
            if case .notApplicable = error { return .takenBack(.impossible) }
            return .takenBack(.refused(code: "\(error)"))
        }
    }
}

extension StoredHistory {
    package init(_ state: StoreState) {
        self.init(
            tips: state.tips, additions: state.additions, stateDigest: state.digest,
            acknowledgements: state.acknowledgements, floor: state.floor, firstHeld: state.firstHeld,
            cuts: state.cuts, isIncomplete: state.isIncomplete, settled: state.settled, gaveWay: state.gaveWay,
            awaited: state.awaited, hasTakenBack: state.hasTakenBack)
    }
}

// Dropping events and changes, as the agent's loop and driver have it done.
extension World {
    private mutating func dropEvents(_ node: Int, _ stable: VersionVector) -> Input {
        guard let store = nodes[node].store, let retention = options.retention else {
            return .droppedEvents(hasMore: false)
        }
        let terms = RetentionTerms(
            stable: stable, supersededMilliseconds: retention.supersededMilliseconds, limit: retention.limit)
        guard let step = try? store.dropEvents(terms, of: .home, wallMilliseconds: wall(node)) else {
            return .droppedEvents(hasMore: false)
        }
        if let commit = step.commit {
            trace.record(now, node, "lets \(step.droppedCount) events go")
            recordCommit(node, commit)
            queue.plan(.answer(node: node, generation: nodes[node].generation, commit), at: answerTime(node))
        }
        return .droppedEvents(hasMore: step.hasMore)
    }

    private mutating func compact(_ node: Int, upTo stable: VersionVector) -> Input {
        guard let store = nodes[node].store, let retention = options.states?.retentionMilliseconds else {
            return .compactFailed(code: "no retention")
        }
        do throws(StoreError) {
            let before = Stamp(rawValue: UInt64(max(0, wall(node) - retention)) << 16)
            var pass =
                if let pass = nodes[node].states.pass { pass } else {
                    try store.beginCompaction(stable: stable, before: before)
                }
            let step = try store.compact(&pass)
            nodes[node].states.pass = step.isLast ? nil : pass
            if step.changes > 0 {
                trace.record(now, node, "drops \(step.changes) changes from its log")
                // What a point too high would show is gone once the next pass has dropped the changes beyond it.
                inspect(node, isThorough: true)
            }
            return .compacted(firstHeld: step.firstHeld, isLast: step.isLast)
        } catch {
            nodes[node].states.pass = nil
            return .compactFailed(code: "\(error)")
        }
    }
}
