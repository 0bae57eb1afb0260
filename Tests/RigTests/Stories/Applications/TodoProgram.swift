import Testing

extension RigSuites.Stories {
    @Test func `a to-do list is changed on a machine without a network, and both programs show what both did`() throws {
        try StoryRig.tell { rig in
            let (home, phone) = (rig.node(1), rig.node(3))
            for title in Self.shopping.prefix(3) { try home.program("todo", "add", title) }
            try rig.inStep()
            try home.following(["todo", "watch"]) { lines in
                func shows(_ todos: [String]) throws {
                    try eventually(within: .seconds(10), "node 1 shows \(todos)") {
                        try Self.titled(Self.shopping, lastTable(lines())) == todos
                    }
                }
                try shows(["[ ] Milk", "[ ] Bread", "[ ] Eggs"])
                try tickOffline(rig, home, phone)
                try shows(["[x] Milk", "[ ] Bread", "[ ] Eggs"])
                try rig.apart(3) {
                    try phone.program("todo", "add", "Tea")
                    try phone.program("todo", "move", "Eggs", "first")
                    try phone.program("todo", "done", "Bread")
                    #expect(try list(phone, Self.shopping) == ["[ ] Eggs", "[x] Milk", "[x] Bread", "[ ] Tea"])
                    try home.program("todo", "add", "Jam")
                    try home.program("todo", "done", "Bread")
                    try shows(["[x] Milk", "[x] Bread", "[ ] Eggs", "[ ] Jam"])
                }
                try rig.inStep()
                let all = try list(home, Self.shopping)
                #expect(Array(all.prefix(3)) == ["[ ] Eggs", "[x] Milk", "[x] Bread"])
                #expect(Set(all.dropFirst(3)) == ["[ ] Tea", "[ ] Jam"] && all.count == 5)
                try shows(all)
                #expect(try rig.ask([2, 3]) { try list($0, Self.shopping) } == [all, all])
            }
            try rig.expectEnding(in: "todos", "todos.order")
        }
    }

    /// Ticks and unticks on a machine that is alone since it was started: what it writes stays open until a session begins.
    private func tickOffline(_ rig: Rig, _ home: Node, _ phone: Node) throws {
        let before = try home.homeChanges()
        try rig("stop", "3")
        try rig.apart(3) {
            try rig("start", "3")
            try phone.shell(
                """
                for time in $(seq 4); do todo done Milk && todo open Milk || exit 1; done
                todo done Milk
                """)
            #expect(try list(phone, Self.shopping) == ["[x] Milk", "[ ] Bread", "[ ] Eggs"])
        }
        try rig.inStep(within: .seconds(10))
        #expect(try home.homeChanges() - before == 1, "nine ticks come as one change")
    }

    @Test func `a to-do that two machines move apart has one place, the same on all`() throws {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            for title in Self.laundry { try one.program("todo", "add", title) }
            try rig.inStep()
            try rig.apart(3) {
                try one.program("todo", "move", "Wash", "after", "Iron")
                try three.program("todo", "move", "Wash", "after", "Fold")
            }
            try rig.inStep()
            let lists = try rig.ask([1, 2, 3]) { try list($0, Self.laundry) }
            let first = try #require(lists.first)
            #expect(lists == [first, first, first])
            #expect([["[ ] Iron", "[ ] Wash", "[ ] Fold"], ["[ ] Iron", "[ ] Fold", "[ ] Wash"]].contains(first))
            try one.expectProgramFails(
                "todo", "done", "Cook", exit: 1, saying: "There is no to-do called Cook. See all with: todo list")
            try one.expectProgramFails("todo", "move", "Wash", "last", exit: 2, saying: "Usage: todo add TITLE")
            try rig.expectEnding(in: "todos", "todos.order")
        }
    }

    /// The stories share a list: each looks at its own to-dos.
    private static let shopping = ["Milk", "Bread", "Eggs", "Tea", "Jam"]
    private static let laundry = ["Wash", "Iron", "Fold"]

    private static func titled(_ titles: [String], _ lines: [String]) -> [String] {
        lines.filter { titles.contains(String($0.dropFirst(4))) }
    }

    private func list(_ node: Node, _ titles: [String]) throws -> [String] {
        Self.titled(titles, try node.program("todo", "list").lines)
    }
}
