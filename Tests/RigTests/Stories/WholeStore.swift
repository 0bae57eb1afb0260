import Testing

extension RigSuites.Stories {
    /// Whatever the other stories left behind takes two more roads: from the disk of an agent that was killed, and to a
    /// machine that was not there when it happened.
    @Test func `agents that are killed and a machine that joins late hold the same and list the same conflicts`() throws
    {
        try StoryRig.tell { rig in
            try leaveSomething(rig)
            let (digest, conflicts) = (try rig.node(1).digest(), try wanted(rig.node(1)))
            for number in 1...3 { try rig("kill", "\(number)") }
            for number in 1...3 { try rig("start", "\(number)") }
            for number in 1...3 { #expect(try rig.node(number).digest() == digest, "node \(number) after the crash") }

            let late = try rig.add()
            try late.join(through: rig.node(2))
            try rig.inStep([1, 2, 3, late.number], within: .seconds(10))
            for number in [1, 2, 3, late.number] {
                #expect(try wanted(rig.node(number)) == conflicts, "node \(number)")
                try rig.expectAbsent("shelf/gone", on: [number])
            }
            // What it did not see being made it can still not bring back, nor lose.
            try late.expectRefusal(["put", "shelf/gone", "{}"], code: "object_deleted", exit: 4)
            try late.edit("shelf/a", "books.insert@0=new")
            try rig.expectEnding(
                in: "shelf", of: [1, 2, 3, late.number], conflicts: ["shelf/a owner: concurrentValues"])
            #expect(try rig.node(3).fields("shelf/a")["books"] == ["new", "old"])
        }
    }

    private func leaveSomething(_ rig: Rig) throws {
        try rig.node(1).put("shelf/a", ["books": ["old"], "owner": "nobody"])
        try rig.node(1).put("shelf/gone", ["books": []])
        try rig.inStep()
        try rig.apart(3) {
            try rig.node(1).put("shelf/a", ["owner": "Ada"])
            try rig.node(3).put("shelf/a", ["owner": "Eve"])
            #expect(try rig.node(1).delete("shelf/gone"))
        }
        try rig.inStep()
    }

    /// What is dropped once and dismissed is a matter of each node.
    private func wanted(_ node: Node) throws -> [String] {
        try node.conflicts().filter { $0.kind != "editedWhileDeleted" }.map { "\($0.sentence) \($0.values)" }.sorted()
    }
}
