import Foundation
import Testing

extension RigSuites {
    /// What is dropped from the log, and what is not. A rig of its own, of agents that keep no history.
    @Suite struct CompactionStories {
        private struct Entry: Decodable {
            let kind: String
            let version: String
        }

        private func space(_ node: Node) throws -> Status.Space { try #require(node.status().spaces.first) }

        @Test func `what everybody has is dropped from the log, what one lacks stays, and a newcomer takes state`()
            throws
        {
            try Rig.with(3) { rig in
                let nodes = (1...3).map { rig.node($0) }
                for node in nodes {
                    try rig("stop", "\(node.number)")
                    try rig("start", "\(node.number)", "--", "--keep-history", "0s")
                }
                let home = nodes[0]
                let lines = (0..<300).map { "{\"id\":\"\($0)\",\"n\":\($0)}\n" }
                try home.lanyard("put", "thing", "-", "-q", input: lines.joined())
                try home.lanyard("schema", "set", "note", "-", input: #"{"fields":{"body":"text"}}"#)
                try home.lanyard("put", "note/1", #"{"body":"one"}"#)
                try home.emit(40, to: "history")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(20))

                // One is away: of what it has not acknowledged nothing is forgotten.
                try rig("kill", "3")
                for number in 0..<100 { try home.lanyard("delete", "thing/\(number)", "-q", "--yes") }
                try home.lanyard("edit", "note/1", "body.insert@3= two")
                try rig.waitUntilAgree([1, 2], within: .seconds(20))
                silence(seconds: 35)
                try home.lanyard("compact")
                #expect(try space(home).deletedObjects == 100)

                try rig("start", "3")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(20))
                try eventually(within: .seconds(180), "deletions are forgotten everywhere") {
                    try nodes.allSatisfy { try space($0).deletedObjects == 0 }
                }
                let digest = try home.digest()
                for node in nodes {
                    let before = try space(node)
                    let answer = try node.lanyard("compact").output
                    let after = try space(node)
                    #expect(after.droppedChanges > 100, "\(before) \(after) \(answer)")
                    #expect(try node.digest() == digest)
                    #expect(try node.fields("note/1")["body"] == "one two")
                    #expect(try node.events("history").count == 40)
                }
                let told = try home.lanyard("history", "note/1", "--json").output
                let entries = try home.decode([Entry].self, told)
                #expect(entries.first?.kind == "begins", "\(told)")
                let then = try home.lanyard("history", "note/1", "--at", try #require(entries.first?.version)).output
                #expect(then.contains("one two"))

                // Power goes in the middle of what comes next; nothing is lost by it.
                try nodes[1].lanyard("edit", "note/1", "body.insert@7= three")
                try rig("kill", "2")
                try rig("start", "2")
                let newcomer = try rig.add()
                try newcomer.join(through: home)
                try rig.waitUntilAgree([1, 2, 3, newcomer.number], within: .seconds(30))
                #expect(try newcomer.fields("thing/299")["n"] == 299)
                #expect(try newcomer.run(["lanyard", "get", "thing/5"]).status != 0)
                #expect(try newcomer.events("history").count == 40)
                #expect(try newcomer.fields("note/1")["body"] == "one two three")
                #expect(try newcomer.run(["lanyard", "logs"]).output.contains("State came in place of changes."))
            }
        }
    }
}
