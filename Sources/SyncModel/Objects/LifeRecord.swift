/// A creation of an object, and what its deletions have to know of it. The fields of the life are stored beside it, in
/// `ObjectState`.
package struct LifeRecord: Hashable, Sendable {
    /// The last operation of one replica on this life: the others were before it.
    package struct Touch: Hashable, Sendable {
        package let replica: ReplicaID
        /// The counter of the operation's last dot. Operations that are shipped as one end where the last of them ended.
        package var counter: UInt64
        package var stamp: Stamp

        package var dot: Dot { Dot(replica: replica, counter: counter) }

        init(replica: ReplicaID, counter: UInt64, stamp: Stamp) {
            self.replica = replica
            self.counter = counter
            self.stamp = stamp
        }
    }

    /// The operations on this life that were concurrent with a deletion that ends it.
    package struct Dissent: Hashable, Sendable {
        package let deletion: Dot
        /// The last touch per replica; sorted by replica. Not empty.
        package var touches: [Touch]
    }

    package let birth: Dot
    package let stamp: Stamp
    /// The deletions of this object that its author knew: they do not end it.
    package let known: KnownDots
    /// Sorted by replica.
    package private(set) var touches: [Touch] = []
    /// Sorted by deletion; none where nothing was concurrent.
    package private(set) var dissents: [Dissent] = []

    init(birth: Dot, stamp: Stamp, known: KnownDots, touches: [Touch] = [], dissents: [Dissent] = []) {
        self.birth = birth
        self.stamp = stamp
        self.known = known
        self.touches = touches
        self.dissents = dissents
    }

    /// The order in which merged lives are shown.
    package var key: CanonicalKey { CanonicalKey(stamp: stamp, dot: birth) }

    /// Empty when no operation spoke against the deletion.
    func dissent(from deletion: Dot) -> [Touch] {
        let index = position(of: deletion)
        return index < dissents.count && dissents[index].deletion == deletion ? dissents[index].touches : []
    }

    /// Records an operation on this life. It is dissent from each deletion that ends the life and that its author did not know.
    mutating func touch(at origin: Origin, span: UInt64, against enders: some Sequence<DeletionRecord>) {
        let touch = Touch(
            replica: origin.dot.replica, counter: origin.dot.counter + max(span, 1) - 1, stamp: origin.stamp)
        touches.replace(touch)
        for ender in enders where !origin.knows(ender.dot) { dissent(from: ender.dot) { $0.replace(touch) } }
    }

    /// Records a deletion that ends this life. No recorded operation knows the deletion: those that its author did not know are
    /// concurrent with it.
    mutating func end(by origin: Origin) {
        let concurrent = touches.filter { !origin.knows($0.dot) }
        if !concurrent.isEmpty { dissent(from: origin.dot) { $0 = concurrent } }
    }

    /// The life without what it holds of deletions.
    var withoutDeletions: LifeRecord { LifeRecord(birth: birth, stamp: stamp, known: KnownDots(), touches: touches) }

    private mutating func dissent(from deletion: Dot, _ change: (inout [Touch]) -> Void) {
        let index = position(of: deletion)
        if index == dissents.count || dissents[index].deletion != deletion {
            dissents.insert(Dissent(deletion: deletion, touches: []), at: index)
        }
        change(&dissents[index].touches)
    }

    private func position(of deletion: Dot) -> Int {
        var low = 0
        var high = dissents.count
        while low < high {
            let middle = (low + high) / 2
            if dissents[middle].deletion < deletion { low = middle + 1 } else { high = middle }
        }
        return low
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
