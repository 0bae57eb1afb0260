import Testing

extension RigSuites.Stories {
    @Test
    func `a to-do list is edited from two nodes apart: create, check, relabel, reorder and remove all come together`()
        throws
    {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.put("todo/home", ["name": "Home", "tasks": [task("milk"), task("bread"), task("eggs")]])
            try rig.inStep()
            try rig.apart(3) {
                // Both check the milk: they agree, so nobody has to decide anything.
                try one.edit("todo/home", "tasks/0/done=true")
                try one.edit("todo/home", "tasks.insert@3=" + task("jam").line, "tasks.delete@1:1")
                try three.edit("todo/home", "tasks/0/done=true", "tasks/2/title=six eggs")
                try three.edit("todo/home", "tasks.move@2:0", "tasks.insert@3=" + task("tea").line)
            }
            try rig.inStep()
            let tasks = try #require(try rig.node(2).fields("todo/home")["tasks"]).elements
            #expect(Array(tasks.prefix(2)) == [task("six eggs"), task("milk", done: true)], "\(tasks)")
            #expect(Set(tasks.dropFirst(2)) == [task("jam"), task("tea")], "\(tasks)")
            #expect(tasks.count == 4)
            for node in [one, three] { #expect(try node.fields("todo/home")["tasks"] == .array(tasks)) }
            try rig.expectEnding(in: "todo")
        }
    }

    @Test func `a task that one node removes and another relabels meanwhile stays, with its new label`() throws {
        try StoryRig.tell { rig in
            try rig.node(1).put("errand/today", ["tasks": [task("post"), task("bank")]])
            try rig.inStep()
            try rig.apart(3) {
                try rig.node(1).edit("errand/today", "tasks.delete@0:2")
                try rig.node(3).edit("errand/today", "tasks/1/title=bank, room 2")
            }
            try rig.inStep()
            #expect(try rig.show([1, 2, 3], "errand/today", ["tasks": [task("bank, room 2")]]))
            try rig.expectEnding(in: "errand")
        }
    }

    private func task(_ title: String, done: Bool = false) -> JSONValue {
        ["title": .text(title), "done": .boolean(done)]
    }
}
