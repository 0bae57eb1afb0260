extension ObjectLives {
    /// Forgets the deletions of this object once all of them are stable and none asks, with the lives that they ended.
    ///
    /// All at once, because they judge each other: while one may still meet an operation that did not know it, the
    /// others are needed to judge it as every node does. When all are stable, every operation that did not know one of
    /// them is here, so no verdict changes any more; lives that stay are free of them.
    ///
    /// - Parameter isStable: whether every member has acknowledged the operation of this dot (Decisions/05).
    /// - Returns: whether anything was forgotten.
    package mutating func collect(where isStable: (Dot) -> Bool) -> Bool {
        guard !deletions.isEmpty, deletions.allSatisfy({ isStable($0.dot) && $0.keeps.allSatisfy(isStable) }),
            deletions.allSatisfy({ $0.edited.allSatisfy { isHeard(of: $0.replica, isStable) } })
        else { return false }
        let verdicts = verdicts
        guard !verdicts.contains(.undecided) else { return false }
        lives = zip(lives, verdicts).filter { $0.1 == .stays }.map(\.0.withoutDeletions)
        deletions = []
        return true
    }

    /// True if every member has acknowledged the replica's operations on the object. A member that lacks a dropped edit could
    /// not list it any more.
    private func isHeard(of replica: ReplicaID, _ isStable: (Dot) -> Bool) -> Bool {
        let next = touched.next(of: replica)
        return next == 0 || isStable(Dot(replica: replica, counter: next - 1))
    }
}
