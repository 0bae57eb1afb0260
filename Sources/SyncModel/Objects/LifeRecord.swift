/// One creation of an object, and what its deletions have to know of it. Its fields lie beside it, in `ObjectState`.
package struct LifeRecord: Hashable, Sendable {
    /// The last operation of one replica on this life.
    package struct Touch: Hashable, Sendable {
        package let replica: ReplicaID
        /// Of the operation's first dot.
        package var counter: UInt64
        package var stamp: Stamp

        package var dot: Dot { Dot(replica: replica, counter: counter) }

        init(replica: ReplicaID, counter: UInt64, stamp: Stamp) {
            self.replica = replica
            self.counter = counter
            self.stamp = stamp
        }
    }

    /// A deletion that ends this life, and which operations on it were concurrent with that deletion.
    package struct Ending: Hashable, Sendable {
        package let deletion: Dot
        /// Per replica the last such operation: the others were before it, so whoever knows it knows them all. Sorted.
        package var concurrent: [Touch]
    }

    package let birth: Dot
    package let stamp: Stamp
    /// Sorted by replica.
    package var touches: [Touch]
    /// Sorted by deletion. Never one that `deleteWins`: such a life is not kept.
    package var endings: [Ending]

    package init(birth: Dot, stamp: Stamp, touches: [Touch] = [], endings: [Ending] = []) {
        self.birth = birth
        self.stamp = stamp
        self.touches = touches
        self.endings = endings
    }

    /// The order in which merged lives are shown.
    package var key: CanonicalKey { CanonicalKey(stamp: stamp, dot: birth) }

    func ending(by deletion: Dot) -> Ending? { endings.first { $0.deletion == deletion } }

    /// Counts an operation for this life, against every deletion that its author did not know.
    mutating func touch(at origin: Origin) {
        let touch = Touch(replica: origin.dot.replica, counter: origin.dot.counter, stamp: origin.stamp)
        touches.replace(touch)
        for index in endings.indices where !origin.knows(endings[index].deletion) {
            endings[index].concurrent.replace(touch)
        }
    }

    /// Takes a deletion. Nothing counted so far knows it; what its author knew is not concurrent with it.
    mutating func end(by origin: Origin) {
        let ending = Ending(deletion: origin.dot, concurrent: touches.filter { !origin.knows($0.dot) })
        endings.insert(ending, at: endings.firstIndex { origin.dot < $0.deletion } ?? endings.count)
    }
}

extension [LifeRecord.Touch] {
    /// A later operation of a replica takes the place of its earlier one.
    fileprivate mutating func replace(_ touch: LifeRecord.Touch) {
        let index = firstIndex { !($0.replica < touch.replica) } ?? count
        if index < count, self[index].replica == touch.replica {
            self[index] = touch
        } else {
            insert(touch, at: index)
        }
    }
}

extension [Dot] {
    /// Keeps the array sorted, each dot once.
    mutating func insertSorted(_ dot: Dot) {
        let index = firstIndex { !($0 < dot) } ?? count
        if index == count || self[index] != dot { insert(dot, at: index) }
    }
}
