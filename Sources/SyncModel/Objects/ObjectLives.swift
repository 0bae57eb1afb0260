/// The lives of one object id and the deletions that end them: who is alive is a function of the *set* of operations,
/// in whatever causal order they arrived (Decisions/04).
///
/// - A deletion ends a life whose birth its author knew, and one whose birth did not know the deletion if the author
///   knew the birth's device as a member (or is the same device); of devices that had not let it in, by what it knew, it
///   ends nothing (`MemberFacts.admits`). A birth that knows the deletion is a life of its own.
/// - A `deleteWins` deletion ends finally: the life is dropped at once. Every other one is judged (`verdicts`).
/// - No deletion is ever forgotten because of a later one: a life that one deletion has ended stays dead whatever later
///   deletions, edits or decisions know of it. Only an operation that did not know the deletion can speak against it.
///
/// Causal delivery is the caller's: what an operation's context covers was applied before. Applying again changes nothing.
package struct ObjectLives: Hashable, Sendable {
    /// Sorted by birth.
    package internal(set) var lives: [LifeRecord] = []
    /// Sorted by dot.
    package internal(set) var deletions: [DeletionRecord] = []
    /// The operations that touched the object, per replica, whether or not they still show.
    package internal(set) var touched = VersionVector()
    /// The greatest stamp of everything in `touched`.
    package internal(set) var greatestStamp = Stamp.zero

    package init() {}

    package var isEmpty: Bool { lives.isEmpty && deletions.isEmpty }

    /// The outcome of an operation on a life.
    package enum Admission: Hashable, Sendable {
        /// The operation counts; its edits go to the life of this birth.
        case applied(life: Dot)
        /// A `deleteWins` deletion has ended the life: without effect, counted there if the author did not know of it.
        case droppedWhileDeleted
        /// The life is covered by our vector but not here: it was collected, or there never was one.
        case unknownLife
        /// The author had not been let in when it wrote, or its context contradicts itself: void on every node.
        case void
        /// The operation was applied before.
        case repeated
    }

    /// A birth, edit or decision that came earlier and was not void, from the caller's index of the object's history.
    package struct EarlierEdit: Hashable, Sendable {
        /// The lives it was on; more than one only for a decision.
        package let lives: [Dot]
        package let dot: Dot
        package let wallMilliseconds: Int64

        package init(lives: [Dot], dot: Dot, wallMilliseconds: Int64) {
            self.lives = lives
            self.dot = dot
            self.wallMilliseconds = wallMilliseconds
        }
    }

    /// Begins a life at `origin`.
    package mutating func bear(at origin: Origin, span: UInt64, wallMilliseconds: Int64) -> Admission {
        guard !touched.covers(origin.dot) else { return .repeated }
        record(origin, span: span)
        let birth = origin.dot
        var known = KnownDots(of: deletions.lazy.map(\.dot), at: origin)
        if origin.faults.contains(.birthForgetsDeletions) { known = KnownDots() }
        var isFinallyEnded = false
        for index in deletions.indices
        where deletions[index].policy == .deleteWins && deletions[index].ends(birth, known: known) {
            deletions[index].ended.insertSorted(birth)
            deletions[index].count(birth.replica, wallMilliseconds: wallMilliseconds)
            isFinallyEnded = true
        }
        guard !isFinallyEnded else { return .droppedWhileDeleted }
        var life = LifeRecord(birth: birth, stamp: origin.stamp, known: known)
        life.touch(at: origin, span: span, against: enders(of: life))
        lives.insert(life, at: lives.firstIndex { birth < $0.birth } ?? lives.count)
        return .applied(life: birth)
    }

    /// The deletions that end a life.
    private func enders(of life: LifeRecord) -> some Sequence<DeletionRecord> {
        deletions.lazy.filter { $0.ends(life) }
    }

    /// Counts an edit of the life that `birth` began.
    package mutating func edit(
        _ birth: Dot, at origin: Origin, span: UInt64, wallMilliseconds: Int64, members: MemberFacts
    ) -> Admission {
        guard !touched.covers(origin.dot) else { return .repeated }
        guard origin.knows(birth), members.admits(origin, onWorkOf: birth.replica.device) else { return .void }
        if let index = lives.firstIndex(where: { $0.birth == birth }) {
            record(origin, span: span)
            lives[index].touch(at: origin, span: span, against: enders(of: lives[index]))
            return .applied(life: birth)
        }
        guard drop([birth], at: origin, wallMilliseconds: wallMilliseconds) else { return .unknownLife }
        record(origin, span: span)
        return .droppedWhileDeleted
    }

    /// Counts an operation on finally ended lives at the deletions its author did not know.
    /// - Returns: whether one of the lives ended finally.
    private mutating func drop(_ births: [Dot], at origin: Origin, wallMilliseconds: Int64) -> Bool {
        var isEnded = false
        for index in deletions.indices where births.contains(where: deletions[index].ended.contains) {
            isEnded = true
            guard !origin.knows(deletions[index].dot), !origin.faults.contains(.droppedEditsUnlisted) else { continue }
            deletions[index].count(origin.dot.replica, wallMilliseconds: wallMilliseconds)
        }
        return isEnded
    }

    /// Takes a DeletedObject.
    ///
    /// - Parameter earlier: edits of this object applied before, but for those that came as state; asked for only by
    ///   `deleteWins`, which lists those that its author did not know.
    /// - Returns: the births of lives that ended finally, whose data is to be dropped; nil if it was applied before.
    package mutating func delete(
        _ policy: DeletePolicy, at origin: Origin, wallMilliseconds: Int64, members: MemberFacts,
        earlier: () -> [EarlierEdit]
    ) -> [Dot]? {
        guard !touched.covers(origin.dot) else { return nil }
        record(origin, span: 1)
        var births = lives.map(\.birth)
        for birth in deletions.lazy.flatMap(\.ended) { births.insertSorted(birth) }
        let forgets = origin.faults.contains(.deletionForgetsBirths)
        let admitting = forgets ? [] : members.admitting(origin)
        var record = DeletionRecord(
            dot: origin.dot, stamp: origin.stamp, policy: policy, wallMilliseconds: wallMilliseconds,
            known: KnownDots(of: deletions.lazy.map(\.dot), at: origin),
            births: KnownDots(of: births.filter { admitting.contains($0.replica.device) }, at: origin),
            members: members.devices(knownAt: origin).filter {
                $0 != origin.dot.replica.device && admitting.contains($0)
            })
        // No birth that is here can have known it.
        let ended = births.filter { record.ends($0, known: KnownDots()) }
        if policy == .deleteWins {
            record.ended = ended
            var counted: Set<ReplicaID> = []
            for edit in earlier() where !origin.knows(edit.dot) && edit.lives.contains(where: ended.contains) {
                record.count(edit.dot.replica, wallMilliseconds: edit.wallMilliseconds)
                counted.insert(edit.dot.replica)
            }
            // Of edits that came as state the last of each replica is all that is known.
            for touch in lives.lazy.filter({ ended.contains($0.birth) }).flatMap(\.touches) {
                guard !origin.knows(touch.dot), counted.insert(touch.replica).inserted else { continue }
                record.count(touch.replica, wallMilliseconds: touch.stamp.milliseconds)
            }
        }
        let gone = lives.map(\.birth).filter { policy == .deleteWins && ended.contains($0) }
        lives.removeAll { gone.contains($0.birth) }
        for index in lives.indices where ended.contains(lives[index].birth) { lives[index].end(by: origin) }
        deletions.insert(record, at: deletions.firstIndex { origin.dot < $0.dot } ?? deletions.count)
        return gone
    }

    /// Takes a decision to keep: an operation on every life its author knew, and an answer to the deletions it knew.
    /// - Returns: the births of the lives it speaks for, also of those that ended finally; nil if it was applied before.
    package mutating func keep(at origin: Origin, wallMilliseconds: Int64, members: MemberFacts) -> [Dot]? {
        guard !touched.covers(origin.dot) else { return nil }
        func speaks(for birth: Dot) -> Bool {
            origin.knows(birth) && members.admits(origin, onWorkOf: birth.replica.device)
        }
        var kept: [Dot] = []
        for index in lives.indices where speaks(for: lives[index].birth) {
            lives[index].touch(at: origin, span: 1, against: enders(of: lives[index]))
            kept.append(lives[index].birth)
        }
        var isAnswer = false
        for index in deletions.indices where origin.knows(deletions[index].dot) {
            guard members.admits(origin, onWorkOf: deletions[index].dot.replica.device) else { continue }
            deletions[index].keeps.insertSorted(origin.dot)
            isAnswer = true
        }
        let gone = deletions.flatMap(\.ended).filter(speaks)
        let isDropped = drop(gone, at: origin, wallMilliseconds: wallMilliseconds)
        if isDropped || isAnswer || !kept.isEmpty { record(origin, span: 1) }
        return kept + gone
    }

    private mutating func record(_ origin: Origin, span: UInt64) {
        touched.advance(origin.dot.replica, to: origin.dot.counter + span)
        greatestStamp = max(greatestStamp, origin.stamp)
    }
}
