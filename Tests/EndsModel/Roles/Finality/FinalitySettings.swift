extension Roles.FinalityWorld.Setting {
    /// Meshes in which everything is visited, and for each rule that does not stand one that breaks it.
    package static var all: [(name: String, setting: Self)] {
        var all: [(String, Self)] = []
        func add(_ name: String, _ change: (inout Self) -> Void) {
            var setting = Self()
            change(&setting)
            all.append((name, setting))
        }
        add("three members, one may die") { $0.mayDie = true }
        add("two members and an accomplice") {
            $0.honest = 2
            $0.hasAccomplice = true
        }
        add("three members and an accomplice") {
            $0.changes = 1
            $0.hasAccomplice = true
        }
        add("two members and a newcomer") {
            $0.honest = 2
            $0.hasNewcomer = true
        }
        add("two members, an accomplice and a newcomer") {
            $0.changes = 1
            $0.honest = 2
            $0.hasAccomplice = true
            $0.hasNewcomer = true
        }
        add("carrier's first acknowledgement only, one dies") {
            $0.intake = .carriersFirst
            $0.mayDie = true
        }
        add("carrier's newest acknowledgement, an accomplice") {
            $0.intake = .carriersNewest
            $0.honest = 2
            $0.hasAccomplice = true
        }
        add("anything until final, an accomplice") {
            $0.intake = .untilFinal
            $0.honest = 2
            $0.hasAccomplice = true
        }
        add("newcomers not waited for") {
            $0.intake = .forgetsNewcomers
            $0.honest = 2
            $0.hasNewcomer = true
        }
        add("a newcomer that takes at once") {
            $0.intake = .newcomerTakesAtOnce
            $0.honest = 2
            $0.hasNewcomer = true
        }
        return all
    }
}
