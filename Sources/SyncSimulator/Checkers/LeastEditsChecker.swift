import SyncModel
import SyncStore

/// Checks that a write of values that are already there writes nothing: an upsert records differences, so it cannot conflict
/// with the changes of others.
struct LeastEditsChecker: Checker {
    static let name = "least edits"

    mutating func written(node: Int, _ writes: [LocalWrite], _ result: AppendResult, again: () -> SQLiteStore?)
        -> String?
    {
        // Of the last write only: what came behind another one may have changed what it put.
        guard case .planned(let steps, row: _)? = writes.last, case .success? = result.outcomes.last,
            case .put(let key, let put)? = steps.last, let store = again()
        else { return nil }
        let repeated = ObjectWrite.put(key, ObjectWrite.Put(fields: put.fields, replacing: put.replacing))
        do {
            let answer = try store.append([.planned([repeated])], wallMilliseconds: 0)
            switch answer.outcomes.first {
            case .success(let outcome):
                guard outcome.dots != nil else { return nil }
                let edits = answer.commit.segments.flatMap { Self.edits(in: $0.segment) }
                return "node \(node) put \(JSONValue.object(put.fields).text) to \(key), which reads "
                    + "\(Self.shown(result.outcomes.last)); the same again writes \(edits)"
            case .failure(let refusal): return "node \(node) put \(key); the same again is refused: \(refusal.reason)"
            case nil: return "node \(node) got no answer"
            }
        } catch { return "node \(node) put \(key), and cannot again: \(error)" }
    }

    private static func edits(in segment: Segment) -> [SyncModel.Operation] {
        var reader = ByteReader(segment.bytes)
        guard let view = try? ChangeView(&reader) else { return [] }
        return Change(view, in: segment.bytes).operations
    }

    /// Life by life.
    private static func shown(_ outcome: Result<WriteOutcome, WriteRefusal>?) -> String {
        guard case .success(let outcome)? = outcome, let state = outcome.steps.last?.object?.state else { return "" }
        return state.lives.lives.map { life in
            state.fields(of: life.birth).map { "\(life.birth) \($0)" } ?? ""
        }.joined(separator: ", ")
    }
}
