/// What a value shows, worked out anew from the bare set of its operations: filter what somebody removed, sort the rest.
///
/// It knows nothing of how the shipped types keep, merge or ship anything, and it is slow: quadratic and worse. Slow is
/// what it may be; it must be obvious.
package enum Reference {
    /// `removals`: removals of the value from above (its key, or a key further up). What each of them knew is gone.
    package static func reading(of shape: Shape, _ events: [PlainEvent], removedBy removals: [PlainEvent] = [])
        -> Reading
    {
        guard !events.isEmpty else { return .nothing }
        switch shape {
        case .register: return register(events, removals)
        case .constant: return constant(events, removals)
        case .counter: return counter(events, removals)
        case .set, .addOnlySet: return set(events, removals)
        case .dictionary(let nested): return dictionary(nested, events, removals)
        case .members(let members): return structure(members, events, removals)
        case .list(let nested): return list(nested, events, removals)
        case .orderedSet: return orderedSet(events, removals)
        case .text: return text(events, removals)
        case .attachments: return attachments(events, removals)
        case .any: return typed(events, removals)
        }
    }

    /// Those that no removal knew.
    static func unremoved(_ events: [PlainEvent], _ removals: [PlainEvent]) -> [PlainEvent] {
        events.filter { event in !removals.contains { $0.knows(event.dot) } }
    }

    /// Whether an explicit creation is left.
    static func isCreated(_ events: [PlainEvent], _ removals: [PlainEvent]) -> Bool {
        !unremoved(events.filter { $0.operation == .create }, removals).isEmpty
    }

    // MARK: Scalars

    private static func written(_ event: PlainEvent) -> PlainText? {
        if case .set(let value) = event.operation { value } else { nil }
    }

    /// A write is replaced by every write that knew it.
    private static func register(_ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        let left = unremoved(unremoved(events, events), removals).sorted { $0.exceeds($1) }
        return left.isEmpty ? .nothing : .values(left.compactMap(written))
    }

    /// Nothing is replaced; the first in canonical order counts.
    private static func constant(_ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        let left = unremoved(events, removals).sorted { $1.exceeds($0) }
        return left.isEmpty ? .nothing : .values(left.compactMap(written))
    }

    /// The sum of what was not removed. A replica's own sum, removed or not, stays within 64 bits: what would leave them
    /// is void. What all replicas together leave is clamped.
    private static func counter(_ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        var sums: [Int: Int64] = [:]
        var total = Int128(0)
        var isLive = false
        for event in events.sorted(by: { $0.dot < $1.dot }) {
            guard case .increment(let amount) = event.operation else { continue }
            let (sum, overflow) = sums[event.dot.replica, default: 0].addingReportingOverflow(amount)
            guard !overflow else { continue }
            sums[event.dot.replica] = sum
            guard !removals.contains(where: { $0.takesAway(event.dot) }) else { continue }
            total += Int128(amount)
            isLive = true
        }
        return isLive ? .total(Int64(clamping: total)) : .nothing
    }

    // MARK: Containers

    /// The newest first. Two of one name are two.
    private static func attachments(_ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        let left = unremoved(events, removals).filter { event in
            !events.contains { detaching in
                guard case .delete(let dots) = detaching.operation else { return false }
                return dots.contains(event.dot) && detaching.knows(event.dot)
            }
        }
        let names = left.sorted { $0.exceeds($1) }.compactMap { event -> PlainText? in
            if case .add(let name) = event.operation { name } else { nil }
        }
        return names.isEmpty ? .nothing : .sequence(names)
    }

    /// An addition is gone when a removal of its element, or of the whole, knew it.
    private static func set(_ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        var elements: [PlainText] = []
        for event in unremoved(events, removals) {
            guard case .add(let element) = event.operation, !elements.contains(element) else { continue }
            if events.contains(where: { $0.operation == .remove(element) && $0.knows(event.dot) }) { continue }
            elements.append(element)
        }
        return elements.isEmpty && !isCreated(events, removals) ? .nothing : .elements(elements.sorted())
    }

    /// Edits below `key`, as edits of what is there.
    private static func edits(below key: PlainText, _ events: [PlainEvent]) -> [PlainEvent] {
        events.compactMap { event in
            if case .update(key, let nested) = event.operation { event.nested(nested) } else { nil }
        }
    }

    /// What is under a key is what all edits below it make, less what removals of that key or of the whole knew.
    private static func dictionary(_ nested: Shape, _ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        var keys: [PlainText] = []
        for event in events {
            if case .update(let key, _) = event.operation, !keys.contains(key) { keys.append(key) }
        }
        var entries: [Reading.Entry] = []
        for key in keys.sorted() {
            let removalsHere = removals + events.filter { $0.operation == .removeKey(key) }
            let value = reading(of: nested, edits(below: key, events), removedBy: removalsHere)
            if !value.isNothing { entries.append(Reading.Entry(key: key, value: value)) }
        }
        return entries.isEmpty && !isCreated(events, removals) ? .nothing : .entries(entries)
    }

    private static func structure(
        _ members: [(name: PlainText, shape: Shape)], _ events: [PlainEvent], _ removals: [PlainEvent]
    ) -> Reading {
        var entries: [Reading.Entry] = []
        for member in members.sorted(by: { $0.name < $1.name }) {
            let value = reading(of: member.shape, edits(below: member.name, events), removedBy: removals)
            if !value.isNothing { entries.append(Reading.Entry(key: member.name, value: value)) }
        }
        return entries.isEmpty ? .nothing : .entries(entries)
    }

    /// Each kind lives by itself.
    private static func typed(_ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        var parts: [Reading.Part] = []
        for kind in Kind.allCases {
            let edits = events.compactMap { event in
                if case .typed(kind, let nested) = event.operation { event.nested(nested) } else { nil }
            }
            let value = reading(of: .of(kind), edits, removedBy: removals)
            if !value.isNothing { parts.append(Reading.Part(kind: kind, value: value)) }
        }
        return parts.isEmpty ? .nothing : .typed(parts)
    }
}
