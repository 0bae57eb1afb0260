import Foundation
import Testing

extension RigSuites.ClockStories {
    @Test func `a node a year ahead writes, and once its clock is right everyone can change the value at once`() throws
    {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.put("sign/door", ["text": "open"])
            try rig.inStep()
            try rig("clock", "3", "+1y")
            defer { _ = try? rig("clock", "3", "0") }
            try three.put("sign/door", ["text": "closed until next year"])
            try rig.inStep(within: .seconds(10))
            #expect(try rig.show([1, 2, 3], "sign/door", ["text": "closed until next year"]))
            try rig("clock", "3", "0")
            // The year stays in the stamps, and somebody should know why the order of edits made apart is not that of time.
            #expect(try one.status().warnings.map(\.code).contains("changes_ahead"))
            #expect(try one.run(["lanyard", "doctor"]).output.contains("days ahead"))
            for (number, text) in [(1, "open again"), (3, "open late"), (2, "closed")] {
                try rig.node(number).put("sign/door", ["text": .text(text)])
                try eventually(within: .seconds(1), "all see what node \(number) wrote after the year ahead") {
                    try rig.show([1, 2, 3], "sign/door", ["text": .text(text)])
                }
            }
            try rig.expectEnding(in: "sign")
        }
    }

    @Test
    func `tasks made offline a week ago and shipped today keep the place in the list that their author gave them`()
        throws
    {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.put("week/plan", ["tasks": ["first", "second", "last"]])
            try rig.inStep()
            try rig.apart(3) {
                try rig("clock", "3", "-7d")
                defer { _ = try? rig("clock", "3", "0") }
                try three.edit("week/plan", "tasks.insert@1=after first", "tasks.insert@2=before second")
                try three.put("week/note", ["made": "a week ago"])
                // Today, elsewhere, the list grows at both ends.
                try one.edit("week/plan", "tasks.insert@0=today, at the top", "tasks.insert@4=today, at the end")
            }
            try rig.inStep(within: .seconds(10))
            let plan: JSONValue = [
                "today, at the top", "first", "after first", "before second", "second", "last", "today, at the end",
            ]
            #expect(try rig.show([1, 2, 3], "week/plan", ["tasks": plan]))
            let made = try #require(try one.history("week/note").first).time
            #expect(made < (Date.now - 6 * 86_400).formatted(.iso8601), "history says when it was written: \(made)")
            try rig.expectEnding(in: "week")
        }
    }

    /// Written in node 3's time of a year ago, and heard of today.
    @Test
    func `a diary: a peer that was away for a year brings nothing back from the dead and loses no note of its own`()
        throws
    {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            try one.setSchema(
                "entry", ["fields": ["text": "text", "tags": ["type": "set", "refers": "mark"]]])
            for mark in ["travel", "food"] { try one.put("mark/\(mark)", ["name": .text(mark)]) }
            for day in ["monday", "tuesday", "friday"] {
                try one.put("entry/\(day)", ["text": .text("It is \(day)."), "tags": ["travel", "food"]])
                try one.put("picture/\(day)", ["owner": .text("entry/\(day)"), "width": 640, "hash": "7b1f"])
            }
            try rig.inStep()
            try rig.apart(3) {
                try rig("clock", "3", "-1y")
                try three.put("entry/away", ["text": "Written far away.", "tags": ["travel"]])
                try three.edit("entry/tuesday", "text.insert@0=Once more: ")
                try three.edit("entry/friday", "tags.add=mountains")
                try rig("stop", "3")
                try tidyUp(at: one)
                try rig("clock", "3", "0")
                try rig("start", "3")
            }
            try rig.inStep(within: .seconds(10))
            try expectDiary(rig)
        }
    }

    private static let deleted = [
        "entry/monday", "entry/tuesday", "picture/monday", "picture/tuesday", "mark/food",
    ]

    private func tidyUp(at node: Node) throws {
        try node.lanyard("delete $object --yes", for: Self.deleted)
        // The id is the folded name: only how it is written changes.
        try node.put("mark/travel", ["name": "Travel"])
    }

    private func expectDiary(_ rig: Rig) throws {
        for object in Self.deleted { try rig.expectAbsent(object) }
        #expect(try rig.show([1, 2, 3], "mark/travel", ["name": "Travel"]))
        #expect(try rig.show([1, 2, 3], "entry/away", ["text": "Written far away.", "tags": ["travel"]]))
        #expect(try rig.show([1, 2, 3], "entry/friday", ["text": "It is friday.", "tags": ["travel"]]))
        for number in 1...3 {
            let node = rig.node(number)
            #expect(try node.deleted("entry").map(\.id).sorted() == ["monday", "tuesday"])
            #expect(try node.deleted("picture").map(\.id).sorted() == ["monday", "tuesday"])
            #expect(try node.list("entry").map(\.id).sorted() == ["away", "friday"])
        }
        // Of all that, only the words that were written into a deleted entry are worth a look.
        try rig.expectEnding(
            in: "entry", "picture", "mark", conflicts: ["entry/tuesday: editedWhileDeleted"])
    }
}
