package import LawHistories
package import ReferenceModels
package import SyncModel

// The readings of the set of operations by the reference models.
extension ObjectLedger {
    /// Returns the reading of a life's fields, by the edits that count for it.
    package func reading(of birth: DeletionRules.Entry, _ key: ObjectKey, by rules: DeletionRules) -> Reading {
        Reference.reading(of: .dictionary(.any), entries(on: birth, key, by: rules).flatMap(events))
    }

    /// Returns the attachments of a life, by the operations that count for it: names, the newest first.
    package func attachments(
        of birth: DeletionRules.Entry, _ key: ObjectKey, by rules: DeletionRules
    ) -> Reading {
        let events = entries(on: birth, key, by: rules).compactMap { entry -> PlainEvent? in
            guard case .editAttachments(_, let edit) = entry.action else { return nil }
            let origin = entry.rule.origin
            return event(AttachmentSet.plain(edit, by: origin.dot.replica, in: cast), at: origin)
        }
        return Reference.reading(of: .attachments, events)
    }

    private func entries(on birth: DeletionRules.Entry, _ key: ObjectKey, by rules: DeletionRules) -> [Entry] {
        let counting = Set(rules.operations(on: birth).map(\.dot))
        return (objects[key] ?? []).filter { counting.contains($0.rule.dot) }
    }

    private func events(_ entry: Entry) -> [PlainEvent] {
        guard case .edit(let life, let edits) = entry.action else { return [] }
        // A birth owns the first counter itself.
        var origin = life == .birth ? entry.rule.origin.advanced(by: 1) : entry.rule.origin
        return edits.map { edit in
            defer { origin = origin.advanced(by: ObjectFields.span(of: edit)) }
            return event(ObjectFields.plain(edit, by: origin.dot.replica, in: cast), at: origin, edit.removal)
        }
    }

    /// Returns the reading of a schema's entries.
    package func reading(ofSchema collection: ExactString) -> Reading {
        let events = (schemas[collection] ?? []).flatMap { origin, edit in
            edit.entries.enumerated().map { offset, entry in
                event(
                    .update(PlainText(entry.key.string), .set(entry.value.plain)),
                    at: origin.advanced(by: UInt64(offset)))
            }
        }
        return Reference.reading(of: .dictionary(.register), events)
    }

    private func event(_ operation: PlainOperation, at origin: Origin, _ removal: Removal? = nil) -> PlainEvent {
        PlainEvent(
            dot: cast.plain(origin.dot), stamp: origin.stamp.rawValue, context: cast.plain(origin.context),
            held: origin.contextOfChange.map(cast.plain), operation: operation, seen: removal.map(seen))
    }

    /// Returns the last increment of each replica that a removal names, whichever counter below it is of: what is void of a
    /// replica comes behind all that counts, so one number tells the two apart. Of a replica that nothing ever ended it is all
    /// that the author held.
    private func seen(by removal: Removal) -> [Int: UInt64] {
        var last: [Int: UInt64] = [:]
        for replica in cast.replicas where !mayBeVoid(replica.device) {
            last[cast.plain(Dot(replica: replica, counter: 0)).replica] = .max
        }
        return last.merging(named(by: removal), uniquingKeysWith: max)
    }

    private func named(by removal: Removal) -> [Int: UInt64] {
        var last: [Int: UInt64] = [:]
        for one in removal.seen {
            last[cast.plain(Dot(replica: one.replica, counter: one.last)).replica] = one.last
        }
        for child in removal.children { last.merge(named(by: child.removal), uniquingKeysWith: max) }
        return last
    }
}

extension ObjectFields.Operation {
    /// The removal of a key, here or further below.
    fileprivate var removal: Removal? {
        switch self {
        case .create: nil
        case .remove(_, let removal): removal
        case .update(_, let nested): nested.removal
        }
    }
}

extension ReplicatedValue.Operation {
    fileprivate var removal: Removal? {
        switch self {
        case .dictionary(let nested): nested.removal
        case .list(.edit(_, let nested)): nested.removal
        case .list, .register, .constant, .counter, .set, .addOnlySet, .orderedSet, .text: nil
        }
    }
}
