import SyncModel

extension SyncModel.Operation {
    /// Returns the births of the lives that the operation works on; their authors must have admitted its author
    /// (`MemberFacts.admits`). Empty if the operation counts anyway.
    ///
    /// - Parameter lives: returns the current lives of an object.
    func work(
        at origin: Origin, _ lives: (ObjectKey) throws(StoreError) -> ObjectLives
    ) throws(StoreError) -> [Dot] {
        guard let (key, action) = objectAction else { return [] }
        switch action {
        case .edit(let life, _), .editAttachments(let life, _): return [life.birth(at: origin)]
        case .delete:
            let lives = try lives(key)
            // The lives that it ended are no longer among the object's lives.
            let ended = lives.deletions.filter { $0.dot == origin.dot }.flatMap(\.ended)
            return lives.lives.map(\.birth) + ended
        case .keep:
            let lives = try lives(key)
            return lives.lives.map(\.birth) + lives.deletions.map(\.dot)
        }
    }

    /// True if the operation is only counters without effect.
    var isVoid: Bool { if case .void = self { true } else { false } }
}
