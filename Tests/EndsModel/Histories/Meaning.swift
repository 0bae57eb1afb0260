extension Histories {
    /// What a node shows: the state of its objects.
    package struct Shown: Hashable, Sendable {
        /// The changes that write something and count, deleted ones as well.
        package var writings = Bits()
        /// The works of all writings that count, deleted ones as well.
        package var counting = Bits()
        /// The works that are there.
        package var works = Bits()
        /// Works that are there more than once.
        package var twice = Bits()
        /// Works of which all writings that count were deleted.
        package var deleted = Bits()
        /// Edits without effect, since what they hang from is void.
        package var hanging = Bits()
        /// Edits that hang from the work of another branch.
        package var misplaced = Bits()
        /// Works that a deletion ended whose author had not seen them.
        package var unseen = Bits()
    }
}

extension Histories.World {
    package mutating func shown(on device: Device) -> Histories.Shown {
        let held = nodes[device].held
        let verdict = verdict(nodes[device].facts)
        let void = void(verdict, early: answered(device, verdict), on: device)
        let ends = replicas.indices.map { end(of: $0, verdict, void) }
        let effective = held - void
        var shown = Histories.Shown()
        let deletions = effective.filter { changes[$0].operation == .delete }
        for id in effective {
            guard let work = changes[id].work else { continue }
            guard counts(id, effective, ends) else {
                shown.hanging.insert(work)
                continue
            }
            if case .edit(let target) = changes[id].operation, !effective.contains(target) {
                shown.misplaced.insert(work)
            }
            let change = changes[id]
            shown.counting.insert(work)
            shown.writings.insert(id)
            let ending = deletions.filter {
                let end = rules.bug == .noClamp ? Int.max : ends[change.replica]
                return $0 != id && changes[$0].object == change.object
                    && change.counter <= min((changes[$0].seen & histories[change.replica]).count, end)
            }
            if ending.isEmpty {
                if shown.works.contains(work) { shown.twice.insert(work) }
                shown.works.insert(work)
            } else {
                shown.deleted.insert(work)
                if !ending.contains(where: { changes[$0].seen.contains(id) }) { shown.unseen.insert(work) }
            }
        }
        shown.deleted -= shown.works
        shown.hanging -= shown.counting
        if rules.has(.oneWriting), rules.bug != .countsBothWritings { shown.twice = [] }
        return shown
    }

    /// True if the change has an effect: an edit needs what stands at the dot that it hangs from.
    private func counts(_ id: Int, _ effective: Bits, _ ends: [Int]) -> Bool {
        guard case .edit(let target) = changes[id].operation else { return true }
        let dot = changes[target]
        guard dot.counter <= ends[dot.replica] else { return false }
        let found = (effective & histories[dot.replica]).first { changes[$0].counter == dot.counter }
        return found.map { counts($0, effective, ends) } ?? false
    }
}
