/// The coalescing of the open changes of one replica into fewer changes.
///
/// It folds neighbours that no foreign change came between and that no peer has seen. Operations whose whole effect a later
/// one undid become void. Counters are never numbered anew; a remaining operation keeps dot, change, stamp and content.
/// Changes without remaining operations melt into the next one that has some, so nine toggles of a checkbox ship as one
/// change. Letters typed one after the other become runs (TypingRun.swift).
package struct Folding: Sendable {
    /// The facts about objects and streams that only the store knows.
    package struct Rules {
        /// True if the store knew nothing of the object before the tail.
        package let isUnknown: (ObjectKey) -> Bool
        /// True if the stream shows only the newest event per type.
        package let isLatestOnly: (String) -> Bool
        /// Objects to leave as they are.
        package let keeps: Set<ObjectKey>
        /// Objects of which nothing may become void; what was typed in them may still ship as runs.
        package let steady: Set<ObjectKey>

        package init(
            isUnknown: @escaping (ObjectKey) -> Bool, isLatestOnly: @escaping (String) -> Bool,
            keeps: Set<ObjectKey> = [], steady: Set<ObjectKey> = []
        ) {
            self.isUnknown = isUnknown
            self.isLatestOnly = isLatestOnly
            self.keeps = keeps
            self.steady = steady
        }
    }

    /// Covers the same counters as what came in.
    package private(set) var changes: [Change] = []
    /// Objects whose edits were replaced: their state is what it was, to the byte.
    package let edited: Set<ObjectKey>
    /// Objects of which something went because of a deletion: what a reader sees of them is what it was.
    package let deleted: Set<ObjectKey>
    /// Counters of events that went, ascending: their arrival numbers stay taken.
    package let events: [UInt64]

    package init(_ changes: [Change], of replica: ReplicaID, _ rules: Rules) {
        let marks = FoldingMarks(changes, of: replica, rules)
        (edited, deleted, events) = (marks.edited, marks.deleted, marks.events)
        var pending: Change?
        var run: TypingRun?
        for change in changes {
            let operations = Self.folded(change, marks.void)
            let whole = pending.map { $0.followed(by: change, operations) } ?? change.having(operations)
            if whole == nil, let pending {
                // Too large together: the void stretch stays a change of its own.
                end(&run)
                self.changes.append(pending)
            }
            let next = whole ?? change.having(operations)
            pending = next.isVoid ? next : nil
            if !next.isVoid { take(next, &run, rules) }
        }
        end(&run)
        if let pending { self.changes.append(pending) }
    }

    private mutating func take(_ change: Change, _ run: inout TypingRun?, _ rules: Rules) {
        if run?.take(change) ?? false { return }
        end(&run)
        run = TypingRun(change, leaving: rules.keeps)
        if run == nil { changes.append(change) }
    }

    private mutating func end(_ run: inout TypingRun?) {
        changes += run?.folded ?? []
        run = nil
    }

    private static func folded(_ change: Change, _ void: Set<UInt64>) -> [Operation] {
        var operations: [Operation] = []
        for (counter, operation) in change.operationsWithCounters {
            if case .editObject(let edit) = operation {
                operations.append(contentsOf: edit.without(void, from: counter))
            } else {
                operations.append(void.contains(counter) ? .void(span: operation.span) : operation)
            }
        }
        return operations.joiningVoids
    }
}

extension Change {
    fileprivate var isVoid: Bool { operations.allSatisfy { if case .void = $0 { true } else { false } } }

    fileprivate func having(_ operations: [Operation]) -> Change {
        Change(
            start: start, stamp: stamp, wallMilliseconds: wallMilliseconds, context: context, operations: operations)
    }

    /// Returns this change, which has no operation left, melted into the next one; nil beyond the limits of a change.
    fileprivate func followed(by next: Change, _ operations: [Operation]) -> Change? {
        var known = VersionVector(context)
        known.join(VersionVector(next.context))
        let whole = Change(
            start: start, stamp: next.stamp, wallMilliseconds: next.wallMilliseconds, context: known.entries,
            operations: (self.operations + operations).joiningVoids)
        guard known.entries.count <= Limits.contextEntries, ChangeAuthor.canAuthor(whole.operations) else {
            return nil
        }
        return whole
    }
}

extension Operation.ObjectEdit {
    /// Stretches of edits that stay, each an operation in the same life, with voids where the others were.
    fileprivate func without(_ void: Set<UInt64>, from counter: UInt64) -> [Operation] {
        let isBirth = life == .birth
        if isBirth, void.contains(counter) { return [.void(span: span ?? 0)] }
        let places = zip(editCounters(from: counter), edits)
        guard places.contains(where: { void.contains($0.0) }) else { return [.editObject(self)] }
        var operations: [Operation] = isBirth ? [.editObject(stretch(life, []))] : []
        for (place, edit) in places {
            if void.contains(place) {
                operations.append(.void(span: ObjectFields.span(of: edit)))
            } else if case .editObject(let last)? = operations.last {
                operations[operations.count - 1] = .editObject(stretch(last.life, last.edits + [edit]))
            } else {
                operations.append(.editObject(stretch(isBirth ? .own(counter: counter) : life, [edit])))
            }
        }
        return operations
    }

    private func stretch(_ life: Operation.LifeReference, _ edits: [ObjectFields.Operation]) -> Self {
        Self(object: object, life: life, edits: edits)
    }
}

extension [Operation] {
    fileprivate var joiningVoids: [Operation] {
        reduce(into: []) { joined, operation in
            if case .void(let more) = operation, case .void(let span)? = joined.last {
                joined[joined.count - 1] = .void(span: span + more)
            } else {
                joined.append(operation)
            }
        }
    }
}
