import Foundation
import Testing

extension RigSuites {
    /// Work that counts no more on devices that have it without its single changes, as state: none can undo it for the others.
    @Suite struct IncompleteStories {
        @Test func `where no device can undo what a thief wrote, all say so, and a new space is the way out`() throws {
            try Rig.with(4) { rig in
                let (one, two, three, thief) = (rig.node(1), rig.node(2), rig.node(3), rig.node(4))
                let key = try one.makeRecoveryKey()
                try one.setRole("admin", of: "node4")
                try two.put("note/ours", ["title": "before"])
                try rig.waitUntilRole("admin", of: "node4", on: [1, 2, 3, 4])
                try eventually(within: .seconds(20), "all know that there is a key") {
                    try rig.ask([2, 3, 4]) { try $0.hasRecoveryKey() }.allSatisfy { $0 }
                }
                try rig.inStep(within: .seconds(20))
                // The founder could undo it all, and does not meet the others again before all begin anew. Those drop the single changes.
                try rig("isolate", "1")
                try one.put("note/founder", ["title": "written away"])
                _ = try thief.revoke("node1")
                try rig.waitUntilRevoked("node1", on: [2, 3])
                try thief.edit("note/ours", "title=planted")
                try thief.put("note/planted", ["title": "by the thief"])
                try two.put("note/two", ["title": "of two"])
                try three.emit(3, to: "diary")
                try rig.inStep([2, 3, 4], within: .seconds(20))
                try rig.dropHistory(on: [2, 3, 4])
                try rig("stop", "4")
                try two.lanyard("recovery", "use", "revoke", "node4", "-", "--yes", input: key + "\n")
                try eventually(within: .seconds(30), "both say that they could not undo it all") {
                    try rig.ask([2, 3]) { try $0.warning("incomplete") != nil }.allSatisfy { $0 }
                }
                let hint = try #require(try three.status().warnings.first { $0.code == "incomplete" }?.hint)
                for step in ["lanyard export", "data folders", "lanyard import", "pair"] {
                    #expect(hint.contains(step), "\(hint)")
                }
                let newcomer = try rig.add()
                try newcomer.join(through: two)
                try eventually(within: .seconds(20), "a newcomer is told that it would wait for ever, and where to ask")
                {
                    try newcomer.why("node2").firstBroken?.detail?.contains("asked for its state, it gave none")
                        ?? false
                }
                try rig("stop", "\(newcomer.number)")
                try beginAnew(rig)
            }
        }

        /// What the hint says, on three devices.
        private func beginAnew(_ rig: Rig) throws {
            let nodes = [1, 2, 3].map(rig.node)
            let folder = try Shell.temporaryFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            func file(_ node: Node) -> String { folder.appending(path: "\(node.name).tar").path }
            for node in nodes {
                try node.lanyard("export", file(node), "-q")
                try rig("stop", "\(node.number)")
                try node.removeData()
            }
            try rig("heal")
            for node in nodes { try rig("start", "\(node.number)") }
            let first = rig.node(2)
            try first.lanyard("import", file(first), "-q")
            for node in nodes where node.number != first.number {
                try node.join(through: first)
                try node.lanyard("wait", "--connected", "--peers", "1")
                try node.lanyard("import", file(node), "-q")
            }
            try rig.inStep([1, 2, 3], within: .seconds(30))
            #expect(try rig.show([1, 2, 3], "note/ours", ["title": "before"]))
            #expect(try rig.show([1, 2, 3], "note/two", ["title": "of two"]))
            #expect(try rig.show([1, 2, 3], "note/founder", ["title": "written away"]), "only one device had it")
            try rig.expectAbsent("note/planted", on: [1, 2, 3])
            for node in nodes {
                #expect(try node.events("diary").count == 3, "each once, though two devices had them")
                #expect(try node.warning("incomplete") == nil)
            }
            try first.put("note/after", ["title": "in step"])
            try rig.inStep([1, 2, 3], within: .seconds(10))
            #expect(try rig.show([1, 2, 3], "note/after", ["title": "in step"]))
        }
    }
}
