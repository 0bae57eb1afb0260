// Typing that no peer has seen yet ships as runs: a letter that was a change of its own then costs a byte.
//
// Unlike with other folding, nothing becomes void. Each scalar keeps its dot and its place, so the text is the same to the
// byte. So is the life, which knows the last dot and the last stamp of its author (`LifeRecord.Touch`). An edit of a text
// looks at no stamp, so the run may have the stamp of its last letter.

/// Neighbouring changes that become one, while they are collected: a letter costs what it costs, however long the run is.
struct TypingRun {
    /// The changes as they were written.
    private var changes: [Change]
    private let edit: Operation.ObjectEdit
    /// The edits of the run, except a last insertion that may still grow.
    private var edits: [ObjectFields.Operation] = []
    private var last: Last?
    /// An upper bound of the size of the edits, in canonical bytes.
    private var byteCount: Int

    fileprivate struct Last {
        var edit: ObjectFields.Operation
        let counter: UInt64
        /// The inserted text if the edit is an insertion: later letters are appended to it.
        var text: String.UnicodeScalarView?
        var span: UInt64
    }

    /// Nil for a change that is anything but typing in one life of one object, or of an object to leave as it is.
    init?(_ change: Change, leaving kept: Set<ObjectKey>) {
        guard let edit = change.typing, !kept.contains(edit.object) else { return nil }
        self.edit = edit
        changes = [change]
        byteCount = edit.canonicalBytes.count
        take(edit, from: change.start)
    }

    /// Appends the author's next change. Returns false if it does not belong to the run, or if the run would exceed
    /// `Limits.editBytes`.
    mutating func take(_ next: Change) -> Bool {
        guard next.context.isEmpty, let more = next.typing, more.object == edit.object, more.life == edit.life else {
            return false
        }
        let added = more.canonicalBytes.count
        guard byteCount + added <= Limits.editBytes else { return false }
        byteCount += added
        changes.append(next)
        take(more, from: next.start)
        return true
    }

    private mutating func take(_ more: Operation.ObjectEdit, from counter: UInt64) {
        for (counter, following) in zip(more.editCounters(from: counter), more.edits) {
            if last?.take(following) ?? false { continue }
            if let last { edits.append(last.whole) }
            last = Last(following, from: counter)
        }
    }

    /// The run as one change, or the original changes where they cannot be one.
    var folded: [Change] {
        guard changes.count > 1, let newest = changes.last, let last else { return changes }
        let operations = [
            Operation.editObject(
                Operation.ObjectEdit(object: edit.object, life: edit.life, edits: edits + [last.whole]))
        ]
        guard ChangeAuthor.canAuthor(operations) else { return changes }
        return [
            Change(
                start: changes[0].start, stamp: newest.stamp, wallMilliseconds: newest.wallMilliseconds,
                context: changes[0].context, operations: operations)
        ]
    }
}

extension TypingRun.Last {
    fileprivate init(_ edit: ObjectFields.Operation, from counter: UInt64) {
        self.edit = edit
        self.counter = counter
        span = ObjectFields.span(of: edit)
        if case .insert(_, let inserted)? = edit.typing?.edit { text = inserted.string.unicodeScalars }
    }

    /// Takes what goes on with it; false, and nothing happens, if that does not.
    fileprivate mutating func take(_ next: ObjectFields.Operation) -> Bool {
        guard let here = edit.typing, let there = next.typing, here.path == there.path else { return false }
        switch (here.edit, there.edit) {
        case (.insert, .insert(.after(.own(let previous), .inherited), let more)):
            guard previous + 1 == counter + span else { return false }
            text?.append(contentsOf: more.string.unicodeScalars)
        case (.delete(let ranges), .delete(let more)):
            guard ranges.count == 1, more.count == 1, let joined = ranges[0].joined(with: more[0]) else { return false }
            edit = edit.replacing(.delete([joined]))
        default: return false
        }
        span += ObjectFields.span(of: next)
        return true
    }

    fileprivate var whole: ObjectFields.Operation {
        guard let text, case .insert(let placement, _)? = edit.typing?.edit else { return edit }
        return edit.replacing(.insert(placement, ExactString(String(text))))
    }
}

extension Change {
    /// The one edit that it is, if that holds letters typed or deleted and nothing else.
    fileprivate var typing: Operation.ObjectEdit? {
        guard operations.count == 1, case .editObject(let edit) = operations[0], edit.life != .birth,
            !edit.edits.isEmpty,
            edit.edits.allSatisfy({ $0.typing != nil })
        else { return nil }
        return edit
    }
}

extension DotRange {
    /// Returns both ranges as one; nil unless one begins where the other ends.
    fileprivate func joined(with other: DotRange) -> DotRange? {
        func follows(_ first: DotReference, _ second: DotReference, _ count: UInt64) -> Bool {
            switch (first, second) {
            case (.own(let counter), .own(let next)): counter + count == next
            case (.other(let dot), .other(let next)): dot.replica == next.replica && dot.counter + count == next.counter
            case (.own, .other), (.other, .own): false
            }
        }
        if follows(first, other.first, count) { return DotRange(first: first, count: count + other.count) }
        if follows(other.first, first, other.count) { return DotRange(first: other.first, count: count + other.count) }
        return nil
    }
}
