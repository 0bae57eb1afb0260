/// A mapping that rewrites an operation of one replica as one of another. If it names operations that were themselves
/// rewritten meanwhile, it names them by their present dots.
package struct DotMapping {
    let old: ReplicaID
    let new: ReplicaID
    let places: [Rewriting]
    /// The replicas that wrote again: of what they hold of a sum, the operation's author had known all. (A removal does nothing
    /// to a sum of which its origin does not know the last part.)
    let known: Set<ReplicaID>
    let isVoid: (Dot) -> Bool

    /// Creates a mapping.
    ///
    /// - Parameters:
    ///   - old: The author of the operation.
    ///   - new: The replica that writes it again.
    ///   - others: Further replicas of the author's device that wrote again.
    ///   - isVoid: True for an operation that counts nowhere.
    package init(
        from old: ReplicaID, to new: ReplicaID, _ places: [Rewriting], behind others: [ReplicaID] = [],
        isVoid: @escaping (Dot) -> Bool = { _ in false }
    ) {
        self.old = old
        self.new = new
        self.places = places
        known = Set(others + [new])
        self.isVoid = isVoid
    }

    /// True for another device's operation that an author who had seen `known` had seen, and that is not there for it now: it counts
    /// nowhere, and does not stand again where that author had seen it.
    package func isMissing(_ dot: Dot, from known: VersionVector) -> Bool {
        dot.replica.device != new.device && known.covers(dot) && isVoid(dot)
            && !(place(of: dot).map { known.covers($0) } ?? false)
    }

    /// The replica that writes the operation again.
    package var author: ReplicaID { new }

    /// True if the newest operation of an entry is a rewritten one.
    package func isPlace(_ entry: VersionVector.Entry) -> Bool {
        places.contains {
            $0.new.replica == entry.replica && entry.next > $0.new.counter && entry.next - $0.new.counter <= $0.count
        }
    }

    /// Returns the places at which the author's device wrote again what `vector` covers.
    package func places(ofAllIn vector: VersionVector) -> VersionVector {
        places.filter { $0.new.replica.device == new.device }.places(ofAllIn: vector)
    }

    /// Returns where one replica wrote again what `vector` covers of another, all up to the last of it.
    package func place(in new: ReplicaID, of old: ReplicaID, in vector: VersionVector) -> VersionVector {
        places.filter { $0.old.replica == old && $0.new.replica == new }.places(ofAllIn: vector)
    }

    /// The present dot of a rewritten operation; nil for one that was not rewritten.
    package func place(of dot: Dot) -> Dot? { move(dot).place }

    package func callAsFunction(_ reference: DotReference) -> DotReference {
        let dot = reference.dot(by: old)
        return DotReference(place(of: dot) ?? dot, by: new)
    }

    /// Returns the present dots of the ranges. Of dots with consecutive counters, only some may have moved.
    func callAsFunction(_ ranges: [DotRange]) -> [DotRange] {
        var moved: [DotRange] = []
        for range in ranges {
            var dot = range.first.dot(by: old)
            var left = range.count
            while left > 0 {
                let (place, stretch) = move(dot)
                let count = min(left, stretch)
                moved.append(DotRange(first: DotReference(place ?? dot, by: new), count: count))
                dot = Dot(replica: dot.replica, counter: dot.counter + count)
                left -= count
            }
        }
        return moved
    }

    /// Returns the present dot of an operation, also of one that was rewritten more than once. `stretch` is the number of
    /// dots from this one on that moved together, or did not move.
    private func move(_ dot: Dot) -> (place: Dot?, stretch: UInt64) {
        var (place, stretch): (Dot?, UInt64) = (nil, .max)
        var now = dot
        // A device's marks about its own dots may form a circle.
        for _ in 0...places.count {
            stretch = min(stretch, self.stretch(from: now))
            guard let next = places.lazy.compactMap({ $0.place(of: now) }).first else { break }
            (place, now) = (next, next)
        }
        return (place, stretch)
    }

    /// Returns the number of dots from this one on that the same row moves, or that no row moves.
    private func stretch(from dot: Dot) -> UInt64 {
        var count = UInt64.max
        for place in places where place.old.replica == dot.replica {
            let end = place.old.counter + place.count
            if dot.counter < place.old.counter {
                count = min(count, place.old.counter - dot.counter)
            } else if dot.counter < end {
                count = min(count, end - dot.counter)
            }
        }
        return count
    }

    func callAsFunction(_ placement: Placement) -> Placement {
        switch placement {
        case .before(let next): return .before(self(next))
        case .after(let previous, let rightOrigin):
            let right: Placement.RightOrigin =
                switch rightOrigin {
                case .inherited: .inherited
                case .end: .end
                case .node(let node): .node(self(node))
                }
            return .after(previous.map { self($0) }, right)
        }
    }

    /// - Parameter fields: what is edited, as it is when the edit is said again.
    package func callAsFunction(_ edit: ObjectFields.Operation, on fields: ObjectFields) -> ObjectFields.Operation {
        switch edit {
        case .create: .create
        case .update(let key, let value): .update(key, self(value, on: fields.state(of: key)))
        case .remove(let key, let removal): .remove(key, self(removal, now: fields.state(of: key).removal))
        }
    }

    func callAsFunction(
        _ operation: ReplicatedValue.Operation, on value: ReplicatedValue
    ) -> ReplicatedValue.Operation {
        switch operation {
        case .register, .constant, .counter, .set, .addOnlySet: operation
        case .list(let list): .list(self(list, on: value.list))
        case .orderedSet(let set): .orderedSet(self(set))
        case .text(let text): .text(self(text))
        case .dictionary(let dictionary): .dictionary(self(dictionary, on: value.dictionary))
        }
    }

    private func callAsFunction(
        _ operation: ReplicatedList<ReplicatedValue>.Operation, on list: ReplicatedList<ReplicatedValue>
    ) -> ReplicatedList<ReplicatedValue>.Operation {
        switch operation {
        case .create: return .create
        case .insert(let placement, let values):
            return .insert(self(placement), values.map { self($0, on: ReplicatedValue()) })
        case .edit(let element, let value):
            let element = self(element)
            return .edit(element, self(value, on: list.state(ofElement: element.dot(by: new))))
        case .delete(let ranges): return .delete(self(ranges))
        case .move(let element, let placement): return .move(self(element), self(placement))
        }
    }

    private func callAsFunction(
        _ set: ReplicatedOrderedSet<JSONValue>.Operation
    ) -> ReplicatedOrderedSet<JSONValue>.Operation {
        switch set {
        case .create, .remove: set
        case .insert(let placement, let values): .insert(self(placement), values)
        case .move(let value, let placement): .move(value, self(placement))
        }
    }

    private func callAsFunction(_ text: ReplicatedText.Operation) -> ReplicatedText.Operation {
        switch text {
        case .create: return .create
        case .insert(let placement, let string): return .insert(self(placement), string)
        case .delete(let ranges): return .delete(self(ranges))
        case .revise(let revision):
            return .revise(revision.placing({ self($0) }, deleting: self(revision.deleted)))
        }
    }
}
