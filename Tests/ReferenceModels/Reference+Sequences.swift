extension Reference {
    /// In an order in which everything stands behind what its author held.
    private static func causal(_ events: [PlainEvent]) -> [PlainEvent] {
        func weight(_ event: PlainEvent) -> UInt64 {
            event.held.indices.reduce(0) { sum, replica in
                sum + (replica == event.dot.replica ? event.dot.counter : event.held[replica])
            }
        }
        return events.map { (weight($0), $0) }.sorted { ($0.0, $0.1.dot) < ($1.0, $1.1.dot) }.map(\.1)
    }

    /// An element of a sequence and everything that was ever done to it.
    private struct Item {
        /// What inserted it, and what edited it: while one of them is left, it is there.
        var presence: [PlainEvent]
        var positions: [PlainEvent]
        var deletions: [PlainEvent] = []
        /// Edits of the value; of its insertion the first.
        var edits: [PlainEvent] = []

        func isLive(removedBy removals: [PlainEvent]) -> Bool {
            !unremoved(unremoved(presence, deletions), removals).isEmpty
        }

        /// The greatest position that no other one knew.
        var position: PlainDot? { unremoved(positions, positions).max { $1.exceeds($0) }?.dot }
    }

    static func list(_ nested: Shape, _ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        var tree = PlainTree()
        var items: [PlainDot: Item] = [:]
        for event in causal(events) {
            switch event.operation {
            case .insert(let place, let values): insert(values, at: place, by: event, &tree, &items)
            case .edit(let dot, let edit) where event.knows(dot):
                items[dot]?.presence.append(event)
                items[dot]?.edits.append(event.nested(edit))
            case .delete(let dots):
                for dot in dots where event.knows(dot) { items[dot]?.deletions.append(event) }
            case .move(let dot, let place) where event.knows(dot) && items[dot] != nil:
                if tree.insert(event.dot, at: place, knows: event.knows) { items[dot]?.positions.append(event) }
            case _: break
            }
        }
        var occupants: [PlainDot: Item] = [:]
        for item in items.values where item.isLive(removedBy: removals) {
            if let position = item.position { occupants[position] = item }
        }
        if occupants.isEmpty && !isCreated(events, removals) { return .nothing }
        return .items(tree.order.compactMap { occupants[$0] }.map { reading(of: nested, $0.edits) })
    }

    private static func insert(
        _ values: [PlainOperation], at place: PlainPlace, by event: PlainEvent, _ tree: inout PlainTree,
        _ items: inout [PlainDot: Item]
    ) {
        var place = place
        var offset: UInt64 = 0
        for value in values {
            let edit = event.nested(value, advancedBy: offset)
            // The first names what the author saw; each other the one before it.
            guard tree.insert(edit.dot, at: place, knows: { edit.knows($0) && (offset > 0 || event.knows($0)) }) else {
                return
            }
            items[edit.dot] = Item(presence: [edit], positions: [edit], edits: [edit])
            place = PlainPlace(after: edit.dot, follower: .inherited)
            offset += value.span
        }
    }

    /// A value has a position whether it is there or not; only insertions make it be there.
    static func orderedSet(_ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        var tree = PlainTree()
        var items: [PlainText: Item] = [:]
        for event in causal(events) {
            switch event.operation {
            case .place(let values, var place):
                for (offset, value) in values.enumerated() {
                    let placed = event.nested(event.operation, advancedBy: UInt64(offset))
                    guard tree.insert(placed.dot, at: place, knows: placed.knows) else { break }
                    items[value, default: Item(presence: [], positions: [])].presence.append(placed)
                    items[value]?.positions.append(placed)
                    place = PlainPlace(after: placed.dot, follower: .inherited)
                }
            case .takeOut(let values): for value in values { items[value]?.deletions.append(event) }
            case .replace(let value, let place):
                guard tree.insert(event.dot, at: place, knows: event.knows) else { break }
                items[value, default: Item(presence: [], positions: [])].positions.append(event)
            case _: break
            }
        }
        var values: [PlainDot: PlainText] = [:]
        for (value, item) in items where item.isLive(removedBy: removals) {
            if let position = item.position { values[position] = value }
        }
        if values.isEmpty && !isCreated(events, removals) { return .nothing }
        return .sequence(tree.order.compactMap { values[$0] })
    }

    static func text(_ events: [PlainEvent], _ removals: [PlainEvent]) -> Reading {
        var tree = PlainTree()
        var scalars: [PlainDot: (scalar: Unicode.Scalar, typed: PlainEvent)] = [:]
        var erased: Set<PlainDot> = []
        for event in causal(events) {
            switch event.operation {
            case .type(var place, let run):
                for (offset, scalar) in run.enumerated() {
                    let typed = event.nested(event.operation, advancedBy: UInt64(offset))
                    guard tree.insert(typed.dot, at: place, knows: typed.knows) else { break }
                    scalars[typed.dot] = (scalar, typed)
                    place = PlainPlace(after: typed.dot, follower: .inherited)
                }
            case .erase(let dots): erased.formUnion(dots.filter(event.knows))
            case .revise(let runs, let dots):
                erased.formUnion(dots.filter(event.knows))
                var start: UInt64 = 0
                for run in runs {
                    var place = run.place
                    for (offset, scalar) in run.scalars.enumerated() {
                        let typed = event.nested(event.operation, advancedBy: start + UInt64(offset))
                        guard tree.insert(typed.dot, at: place, knows: typed.knows) else { break }
                        if let scalar { scalars[typed.dot] = (scalar, typed) }
                        place = PlainPlace(after: typed.dot, follower: .inherited)
                    }
                    start += UInt64(run.scalars.count)
                }
            case _: break
            }
        }
        var text = ""
        for dot in tree.order where !erased.contains(dot) {
            guard let scalar = scalars[dot], !removals.contains(where: { $0.knows(dot) }) else { continue }
            text.unicodeScalars.append(scalar.scalar)
        }
        return text.isEmpty && !isCreated(events, removals) ? .nothing : .text(PlainText(text))
    }
}
