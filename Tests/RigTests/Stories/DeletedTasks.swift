import Testing

extension RigSuites.Stories {
    @Test func `an update of a task that another node deleted does what the policy says, for all four`() throws {
        try StoryRig.tell { rig in
            let (one, three) = (rig.node(1), rig.node(3))
            for policy in ["deleteWins", "updateWins", "lastWriterWins", "ask"] {
                try one.setSchema(
                    "\(policy)Task", ["fields": ["title": "register"], "deletePolicy": .text(policy)])
            }
            let checked = ["deleteWinsTask/late", "updateWinsTask/late", "lastWriterWinsTask/late", "askTask/late"]
            // Checked on node 3 before node 1 deletes them: only the clock tells, since neither knows of the other.
            let early = ["updateWinsTask/early", "lastWriterWinsTask/early", "askTask/early"]
            let untouched = ["updateWinsTask/untouched", "askTask/untouched"]
            try one.lanyard(#"put $object '{"title":"water","done":false}'"#, for: checked + early + untouched)
            try rig.inStep()
            try rig.apart(3) {
                try three.lanyard("edit $object done=true", for: early)
                try one.lanyard("delete $object --yes", for: checked + early + untouched)
                try three.lanyard("edit $object done=true", for: checked)
            }
            try rig.inStep()

            for object in ["deleteWinsTask/late", "lastWriterWinsTask/early"] + untouched {
                try rig.expectAbsent(object)
            }
            for object in ["updateWinsTask/late", "updateWinsTask/early", "lastWriterWinsTask/late"] {
                #expect(try rig.show([1, 2, 3], object, ["title": "water", "done": true]), "\(object) stays whole")
            }
            try rig.expectEnding(
                in: "deleteWinsTask", "updateWinsTask", "lastWriterWinsTask", "askTask",
                conflicts: [
                    "deleteWinsTask/late: editedWhileDeleted", "askTask/late: undecided", "askTask/early: undecided",
                ])
            try expectAuthors(rig)
            try writeToTheDeleted(rig)
            try decide(rig)
        }
    }

    /// All nodes say the same of each conflict: node 3 edited, node 1 deleted.
    private func expectAuthors(_ rig: Rig) throws {
        let (deleter, editor) = (try rig.node(1).status().device.id, try rig.node(3).status().device.id)
        for node in [rig.node(1), rig.node(2), rig.node(3)] {
            let conflicts = try node.conflicts()
            #expect(conflicts.allSatisfy { $0.authors.map(\.device) == [editor] }, "\(node.name)")
            #expect(conflicts.allSatisfy { $0.deletions.map(\.device) == [deleter] }, "\(node.name)")
            #expect(try node.status().spaces.first?.conflicts == conflicts.count, "\(node.name)")
        }
    }

    private func writeToTheDeleted(_ rig: Rig) throws {
        for node in [rig.node(1), rig.node(3)] {
            try node.expectRefusal(
                ["put", "deleteWinsTask/late", #"{"done":true}"#], code: "object_deleted", exit: 4)
            try node.expectRefusal(["edit", "askTask/late", "done=true"], code: "undecided", exit: 4)
        }
        try rig.node(2).put("updateWinsTask/untouched", ["title": "water again"])
        try rig.inStep()
        #expect(
            try rig.show([1, 2, 3], "updateWinsTask/untouched", ["title": "water again"]),
            "a new life, with nothing of the old one")
    }

    /// Two people answer what they were asked, and one has read what was dropped.
    private func decide(_ rig: Rig) throws {
        try rig.node(2).resolve("askTask/late", "keep")
        try rig.node(3).resolve("askTask/early", "delete")
        try rig.inStep()
        #expect(try rig.show([1, 2, 3], "askTask/late", ["title": "water", "done": true]))
        try rig.expectAbsent("askTask/early")
        _ = try rig.ask([1, 2, 3]) { try $0.resolve("deleteWinsTask/late", "dismiss") }
        try rig.expectEnding(in: "deleteWinsTask", "askTask")
    }
}
