import EndsModel

/// A history written out fact by fact. Devices: F founded the space, A and B are honest, T is a thief, X and Y accomplices.
struct Story {
    static let founder = Roles.Device(0)
    static let owner = Roles.Device(1)
    static let thief = Roles.Device(2)
    static let accomplice = Roles.Device(3)
    static let other = Roles.Device(4)
    static let second = Roles.Device(5)

    private(set) var history = Roles.History()

    /// F admits A and T as admins; all that follows knows it.
    static func begun() -> Story {
        var story = Story()
        story.says(founder, .add, owner, .admin)
        story.says(founder, .add, thief, .admin)
        return story
    }

    /// Adds a fact that knows `facts` and all that they know; everything by default. Facts of the same replica are known.
    @discardableResult mutating func says(
        _ author: Roles.Device, replica number: Int = 1, _ kind: Roles.Fact.Kind, _ target: Roles.Device? = nil,
        _ role: Roles.Role = .none, knowing facts: [Int]? = nil, naming: Roles.Draft.Naming = .held, byKey: Bool = false
    ) -> Int {
        let replica = Roles.Replica(author, number)
        let own = history.ids { $0.replica == replica }
        let known = facts.map { history.closed(Roles.FactSet($0) | own) } ?? .first(history.drafts.count)
        history.drafts.append(
            Roles.Draft(replica, kind, target, role, past: known, naming: naming, isRecovery: byKey))
        return history.drafts.count - 1
    }

    func role(_ device: Roles.Device, _ rules: Roles.Rules = .standing) -> Roles.Role {
        let law = history.law(rules)
        return law.role(of: device, law.state)
    }

    /// True if the fact has no effect.
    func isVoid(_ fact: Int, _ rules: Roles.Rules = .standing) -> Bool {
        let law = history.law(rules)
        return law.isVoid(law.facts[fact], law.state)
    }

    /// Names of the checks that find something.
    func broken(_ rules: Roles.Rules = .standing) -> Set<String> {
        let test = Roles.Case(history, rules, seed: 1)
        return Set(Roles.Check.all.filter { $0.find(test) != nil }.map(\.name))
    }
}
