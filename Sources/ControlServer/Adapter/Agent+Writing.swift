import ControlAPI
import SyncAgent
import SyncModel
import SyncStore

// The one road of an application's writes: steps, as one change or as a change each, to the agent's writer and back.
extension Agent {
    /// Makes one change of all steps, or none. Durable on return.
    ///
    /// - Parameters:
    ///   - once: whether it is the write that the request's key stands for.
    ///   - edits: those among the steps that are edits, to say what fits in place of one that does not.
    func write(
        _ steps: [ObjectWrite], isTransaction: Bool = false, once: Bool = true, editing edits: [ObjectEdit?] = []
    ) async throws(ControlError) -> WriteOutcome {
        let planned = LocalWrite.planned(steps)
        switch try await commit([once ? planned.once(at: 0) : planned]).first {
        case .success(let outcome): return outcome
        case .failure(let refusal):
            let edit = edits.indices.contains(refusal.step) ? edits[refusal.step] : nil
            let error = try await reading(if: edit != nil) { () throws(ControlError) in
                edit.map { self.refusal(refusal, of: $0) } ?? ControlError(refusal.reason)
            }
            throw isTransaction && steps.count > 1 ? error.concerning("Operation \(refusal.step + 1)") : error
        case nil: throw Self.missingOutcome
        }
    }

    /// Makes a change of each of `count` steps, in this order, in as few commits as it takes. Stops at the first refused one,
    /// or at a commit that fails; the error counts what was written before.
    ///
    /// - Parameter row: of the steps of one row, none is written behind a refused one; nil: the steps of its commit are.
    func writeEach(
        _ count: Int, row: UInt64? = nil, _ step: (Int) throws(ControlError) -> ObjectWrite
    ) async throws(ControlError) -> EmitResponse {
        var response = EmitResponse(count: 0, first: nil, last: nil)
        for start in stride(from: 0, to: count, by: Limits.changesPerGroup) {
            let end = min(start + Limits.changesPerGroup, count)
            var writes: [LocalWrite] = []
            writes.reserveCapacity(end - start)
            for index in start..<end { writes.append(.planned([try step(index)], row: row).once(at: index)) }
            let outcomes: [Result<WriteOutcome, WriteRefusal>]
            do throws(ControlError) { outcomes = try await commit(writes) } catch {
                throw error.having(response.count)
            }
            try response.count(outcomes)
        }
        return response
    }

    /// Commits one group of writes, and gives the agent's errors their codes. Every write of an application passes here: that
    /// of a reader, and of a device that was revoked, is refused with `read_only`.
    func commit(_ writes: [LocalWrite]) async throws(ControlError) -> [Result<WriteOutcome, WriteRefusal>] {
        let outcomes: [Result<WriteOutcome, WriteRefusal>]
        do { outcomes = try await write(writes) } catch StoreError.retired {
            throw try await mayNotWrite(try await controlled { try await snapshot() })
        } catch {
            throw ControlError(agent: error, directory: configuration.dataDirectory)
        }
        // A role is one of the device: it refuses all of a commit alike.
        guard case .failure(let refusal)? = outcomes.first, refusal.reason == .readOnly else { return outcomes }
        throw try await mayNotWrite(try await controlled { try await snapshot() })
    }

    /// Throws what `commit` would for any write, before bytes are sent that would be of no use.
    func checkMayWrite() async throws(ControlError) {
        let cuts = try await stored { () throws(StoreError) in try store.logState().cuts }
        guard cuts.isBarred(device) || cuts.verdicts?.roles[device] == .reader else { return }
        throw try await mayNotWrite(try await controlled { try await snapshot() })
    }

    /// Returns the reason why this device writes nothing: it was revoked, it is a reader, or it was retired.
    ///
    /// - Parameter rest: ends the sentence of a device that was revoked.
    func mayNotWrite(
        _ now: AgentSnapshot, _ rest: String = "nothing was written"
    ) async throws(ControlError) -> ControlError {
        let word = now.typedWord(for: now.own)
        if now.isRevoked {
            return ControlError(
                .readOnly, "This device was revoked\(try await revocationText(now)); \(rest).",
                hint: "An admin can admit it again: lanyard devices role \(word) writer")
        }
        if now.role(of: now.own) == .reader {
            return ControlError(
                .readOnly, "This device is a reader here; nothing was written.",
                hint: "An admin can change that: lanyard devices role \(word) writer")
        }
        return ControlError(agent: StoreError.retired, directory: configuration.dataDirectory)
    }

    /// Returns ` by NAME, TIME`, as far as that is known.
    func revocationText(_ now: AgentSnapshot) async throws(ControlError) -> String {
        guard let placed = now.revocation else { return "" }
        let author = placed.statement.isRecovery ? "the recovery key" : now.shownName(of: placed.dot.replica.device)
        let clock = TimeText(now: Timestamp(millisecondsSinceEpoch: now.wallMilliseconds))
        return " by \(author)" + (try await statedAt(placed.dot).map { ", \(clock.age($0))" } ?? "")
    }

    /// Returns the remembered outcome of the request's key; nil for a new one.
    func rememberedOutcome() async throws(ControlError) -> WriteOutcome? {
        guard let key = WriteKey.ofRequest(at: 0) else { return nil }
        let known = try await stored { () throws(StoreError) in
            try store.answeredWrite(key.name, wallMilliseconds: WallClock.milliseconds)
        }
        guard let known else { return nil }
        guard known.key == key else { throw .idempotencyMismatch }
        return known.outcome
    }

    static var missingOutcome: ControlError {
        ControlError(.internalFault, "The store did not say what became of a write.", hint: "See `lanyard logs`.")
    }
}

extension ObjectWrite {
    init(_ event: EventDraft, to stream: String) {
        self = .appendEvent(.init(stream: stream, type: event.type, payload: event.payload.bytes))
    }
}

extension LocalWrite {
    /// The same under the key of the request's write at `index`; itself where that has none.
    func once(at index: Int) -> LocalWrite {
        WriteKey.ofRequest(at: index).map { .once($0, self) } ?? self
    }
}

extension WriteKey {
    /// Nil where the request's write at `index` has none.
    fileprivate static func ofRequest(at index: Int) -> WriteKey? {
        let keys = RequestKey.ofWrites
        guard keys.indices.contains(index), let key = keys[index] else { return nil }
        return WriteKey(text: key.text, request: key.content)
    }
}

extension EmitResponse {
    /// Counts the writes of a group. Throws at the first that was refused.
    fileprivate mutating func count(_ outcomes: [Result<WriteOutcome, WriteRefusal>]) throws(ControlError) {
        // A dot as text is 70 characters of base32: written for the last of a group, not for each.
        var last: Dot?
        for outcome in outcomes {
            switch outcome {
            case .failure(let refusal): throw ControlError(refusal.reason).having(count)
            case .success(let written):
                count += 1
                first = first ?? written.dots.map { DotText($0.lowerBound) }
                last = written.dots?.upperBound ?? last
            }
        }
        self.last = last.map { DotText($0) } ?? self.last
    }
}

extension ControlError {
    fileprivate func having(_ written: Int) -> ControlError {
        ControlError(code, message, hint: hint, written: written, version: version)
    }
}
