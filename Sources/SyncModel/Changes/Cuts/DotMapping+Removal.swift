// What a removal carries of counters is a sum over all that a replica ever added. Of one that was cut only what it had added
// by its end counts, and the rest counts as the new replica's.
extension DotMapping {
    /// - Parameter now: what removing the same would carry where it is said again.
    func callAsFunction(_ removal: Removal, now: Removal) -> Removal {
        Removal(seen: seen(removal.seen, now: now.seen), children: children(removal.children, now: now.children))
    }

    private func seen(_ then: [Removal.Seen], now: [Removal.Seen]) -> [Removal.Seen] {
        now.compactMap { present in
            if known.contains(present.replica) { return present }
            guard let past = then.first(where: { $0.replica == present.replica }) else { return nil }
            // What lay beyond is void. What was added since stays.
            return present.last < past.last ? present : past
        }
    }

    private func children(_ then: [Removal.Child], now: [Removal.Child]) -> [Removal.Child] {
        now.compactMap { present in
            let past = then.first { $0.key == present.key }?.removal ?? Removal()
            let removal = self(past, now: present.removal)
            return removal.isEmpty ? nil : Removal.Child(key: present.key, removal: removal)
        }
    }
}

extension ObjectFields.Operation {
    /// True if the operation removes something under a key. Such a removal depends on the contents at the time.
    package var removesKeys: Bool {
        switch self {
        case .create: false
        case .update(_, let value): value.removesKeys
        case .remove: true
        }
    }

    /// The field of which the operation removes all, or a value or a key, without naming a place; nil for all others.
    package var fieldOfRemoval: ExactString? {
        switch self {
        case .create: nil
        case .update(let key, let value): value.removesValues || value.removesKeys ? key : nil
        case .remove(let key, _): key
        }
    }
}

extension ReplicatedValue.Operation {
    fileprivate var removesValues: Bool {
        switch self {
        case .set(.remove), .orderedSet(.remove): true
        case .list(.edit(_, let value)), .dictionary(.update(_, let value)): value.removesValues
        case .register, .constant, .counter, .set, .addOnlySet, .orderedSet, .text, .list, .dictionary: false
        }
    }

    fileprivate var removesKeys: Bool {
        switch self {
        case .register, .constant, .counter, .set, .addOnlySet, .orderedSet, .text: false
        case .list(.edit(_, let value)): value.removesKeys
        case .list(.create), .list(.insert), .list(.delete), .list(.move): false
        case .dictionary(let dictionary): dictionary.removesKeys
        }
    }
}
