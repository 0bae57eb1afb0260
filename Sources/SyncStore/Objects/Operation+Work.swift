import SyncModel

extension SyncModel.Operation {
    /// What it is on that somebody began, who has to have let its author in (`MemberFacts.admits`); nothing where it counts anyway.
    ///
    /// - Parameter lives: of the object, as it is.
    func work(
        at origin: Origin, _ lives: (ObjectKey) throws(StoreError) -> ObjectLives
    ) throws(StoreError) -> [Dot] {
        guard let (key, action) = objectAction else { return [] }
        switch action {
        case .edit(let life, _), .editAttachments(let life, _): return [life.birth(at: origin)]
        case .delete:
            let lives = try lives(key)
            // Those that it ended finally are there no more.
            let ended = lives.deletions.filter { $0.dot == origin.dot }.flatMap(\.ended)
            return lives.lives.map(\.birth) + ended
        case .keep:
            let lives = try lives(key)
            return lives.lives.map(\.birth) + lives.deletions.map(\.dot)
        }
    }

    /// Whether it is counters without effect.
    var isVoid: Bool { if case .void = self { true } else { false } }
}
