// Typing that nobody has seen yet ships as runs: a letter that was a change of its own costs a byte.
//
// Unlike what is folded otherwise, nothing becomes void. Each scalar keeps its dot and its place, so the text is the same to
// the byte; so is the life, which knows the last dot and the last stamp of its author (`LifeRecord.Touch`). An edit of a text
// looks at no stamp, which is why the run may have that of its last letter.

extension Change {
    /// This change and what its author typed on in the next one, as one change; nil where they do not belong together, or
    /// are too much together.
    ///
    /// - Parameter isLeft: objects to leave as they are.
    func typedOn(by next: Change, leaving isLeft: (ObjectKey) -> Bool) -> Change? {
        guard next.context.isEmpty, operations.count == 1, next.operations.count == 1,
            case .editObject(let edit) = operations[0], case .editObject(let more) = next.operations[0],
            edit.object == more.object, edit.life == more.life, edit.life != .birth, !isLeft(edit.object),
            edit.edits.allSatisfy({ $0.typing != nil }), more.edits.allSatisfy({ $0.typing != nil })
        else { return nil }
        var counters = edit.editCounters(from: start)
        var edits = edit.edits
        for (counter, following) in zip(more.editCounters(from: next.start), more.edits) {
            if let last = edits.last, let joined = last.typedOn(by: following, from: counters[counters.count - 1]) {
                edits[edits.count - 1] = joined
            } else {
                edits.append(following)
                counters.append(counter)
            }
        }
        let operations = [
            Operation.editObject(Operation.ObjectEdit(object: edit.object, life: edit.life, edits: edits))
        ]
        guard ChangeAuthor.canAuthor(operations) else { return nil }
        return Change(
            start: start, stamp: next.stamp, wallMilliseconds: next.wallMilliseconds, context: context,
            operations: operations)
    }
}

extension ReplicatedDictionary where Key == ExactString, Value == ReplicatedValue {
    /// What somebody typed in a text, and where in the object that is.
    fileprivate struct Typing {
        let path: [ExactString]
        let edit: ReplicatedText.Operation
    }
}

extension ObjectFields.Operation {
    /// Nil for anything but letters typed or deleted.
    fileprivate var typing: ObjectFields.Typing? {
        var path: [ExactString] = []
        var operation = self
        while case .update(let key, let nested) = operation {
            path.append(key)
            switch nested {
            case .dictionary(let inner): operation = inner
            case .text(.insert(let placement, let text)):
                return ObjectFields.Typing(path: path, edit: .insert(placement, text))
            case .text(.delete(let ranges)): return ObjectFields.Typing(path: path, edit: .delete(ranges))
            // An edit of an element keeps the element: that is told by its dot.
            case .text(.create), .text(.revise), .list, .register, .constant, .counter, .set, .addOnlySet, .orderedSet:
                return nil
            }
        }
        return nil
    }

    /// This edit, which begins at `counter`, and one directly behind it, as one.
    fileprivate func typedOn(by next: ObjectFields.Operation, from counter: UInt64) -> ObjectFields.Operation? {
        guard let here = typing, let there = next.typing, here.path == there.path else { return nil }
        switch (here.edit, there.edit) {
        case (.insert(let placement, let text), .insert(.after(.own(let previous), .inherited), let more)):
            guard previous + 1 == counter + ReplicatedText.span(of: here.edit) else { return nil }
            var scalars = text.string.unicodeScalars
            scalars.append(contentsOf: more.string.unicodeScalars)
            return replacing(.insert(placement, ExactString(String(scalars))))
        case (.delete(let ranges), .delete(let more)):
            guard ranges.count == 1, more.count == 1, let joined = ranges[0].joined(with: more[0]) else { return nil }
            return replacing(.delete([joined]))
        default: return nil
        }
    }

    /// The same place, another edit of the text there.
    private func replacing(_ edit: ReplicatedText.Operation) -> ObjectFields.Operation {
        guard case .update(let key, let nested) = self else { return self }
        if case .dictionary(let inner) = nested { return .update(key, .dictionary(inner.replacing(edit))) }
        return .update(key, .text(edit))
    }
}

extension DotRange {
    /// Both as one, if one begins where the other ends.
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
