import Foundation
import Testing

extension RigSuites {
    /// A machine that was given up, and is found again.
    @Suite struct RetiredMemberTests {
        private struct Device: Decodable {
            let name: String
            let state: String
        }

        private struct Status: Decodable {
            struct Space: Decodable {
                let deletedObjects: Int
            }
            struct Warning: Decodable {
                let code: String
            }
            let spaces: [Space]
            let warnings: [Warning]
        }

        private func state(of name: String, at node: Node) throws -> String? {
            try node.decode([Device].self, try node.lanyard("devices", "--json").output).first { $0.name == name }?
                .state
        }

        private func status(_ node: Node) throws -> Status {
            try node.decode(Status.self, try node.lanyard("status", "--json").output)
        }

        private func deletedObjects(_ node: Node) throws -> Int? { try status(node).spaces.first?.deletedObjects }

        /// One transaction: an event, and two objects.
        private func book(_ number: Int, at node: Node) throws {
            let body = """
                {"operations":[{"op":"emit","stream":"booked","payload":{"number":\(number)}},
                {"op":"put","collection":"order","id":"a\(number)","fields":{"number":\(number)}},
                {"op":"put","collection":"order","id":"b\(number)","fields":{"number":\(number)}}]}
                """
            try node.shell(
                "curl --silent --fail --unix-socket \"$LANYARD_SOCKET\" -H 'Content-Type: application/json' "
                    + "--data-binary '\(body)' http://localhost/v1/transactions >/dev/null")
        }

        @Test func `a retired member's work is back within three seconds, each transaction whole, the rest listed`()
            throws
        {
            try Rig.with(3) { rig in
                let (one, two, three) = (rig.node(1), rig.node(2), rig.node(3))
                try book(1, at: three)
                for name in ["edited", "left"] { try one.put("chore/\(name)", ["title": "old"]) }
                try rig.inStep([1, 2, 3], within: .seconds(30))
                try rig("isolate", "3")
                for number in 2...20 { try book(number, at: three) }
                // Of its deletions one meets an edit.
                for name in ["edited", "left"] { #expect(try three.delete("chore/\(name)")) }
                try one.edit("chore/edited", "title=new")
                try one.lanyard("devices", "retire", "node3", "--yes")
                try eventually(within: .seconds(10), "the other hears of it") {
                    try state(of: "node3", at: two) == "retired"
                }
                try rig("heal")
                try eventually(within: .seconds(30), "the members have met again") {
                    #expect(try three.list("order").count == 40, "it is never absent from its own screen")
                    return try one.connected().contains("node3") && two.connected().contains("node3")
                }
                try eventually(within: .seconds(3), "the work of the retired member is back on all devices") {
                    #expect(try three.list("order").count == 40, "it is never absent from its own screen")
                    for node in [one, two] {
                        // Orders are read behind events: what a transaction did is there with its event.
                        let booked = try node.events("booked").count
                        #expect(try node.list("order").count >= 2 * booked, "a part of a transaction on \(node.name)")
                    }
                    return try rig.ask([1, 2, 3]) { try $0.list("order").count }.allSatisfy { $0 == 40 }
                }
                try three.lanyard("wait", "--timeout", "5s")
                #expect(try status(three).warnings.isEmpty)
                for node in [one, two, three] { #expect(try node.events("booked").count == 20) }
                try rig.inStep()
                try rig.expectAbsent("chore/left")
                #expect(try rig.show([1, 2, 3], "chore/edited", ["title": "new"]))
                let listed = try three.conflicts()
                #expect(listed.map(\.sentence) == ["chore/edited: deletedWhileEdited"], "what is not done again")
            }
        }

        @Test func `while a member sleeps the returned one shows its work alone, and says what that waits for`() throws
        {
            try Rig.with(4) { rig in
                let (one, three) = (rig.node(1), rig.node(3))
                for name in ["gone", "shared"] { try one.put("note/\(name)", ["title": "old"]) }
                try rig.inStep(within: .seconds(30))
                try rig("stop", "2")
                try rig("isolate", "3")
                try three.put("note/mine", ["title": "written away"])
                try three.shell("printf picture | lanyard attach note/mine - --name picture")
                try three.edit("note/shared", "title=edited away")
                try three.edit("note/gone", "title=edited")
                try one.delete("note/gone")
                try one.lanyard("devices", "retire", "node3", "--yes")
                func isShown() throws -> Bool {
                    try rig.show([3], "note/mine", ["title": "written away"])
                        && rig.show([3], "note/shared", ["title": "edited away"])
                        && three.list("note").count >= 2
                }
                try rig("heal")
                try eventually(within: .seconds(30), "it says that its work is to be written again") {
                    #expect(try isShown(), "it is never absent from its own screen")
                    return try three.warning("writing_again") != nil
                }
                #expect(try isShown() && rig.show([1], "note/shared", ["title": "old"]))
                // Until then all writes are refused.
                try eventually(within: .seconds(20), "it is admitted again, and may write") {
                    try three.warning("retired") == nil
                }
                let refusal = try three.expectRefusal(
                    ["edit", "note/mine", "title=x"], code: "writing_again", exit: 4)?
                    .error
                #expect(refusal?.hint.contains("lanyard status") == true, "\(refusal as Any)")
                let reason = try three.lanyard("why", "note/mine").output
                #expect(reason.contains("written again") && reason.contains("lanyard devices retire"), "\(reason)")
                let fetched = "lanyard fetch $(lanyard attachments note/mine --json | jq -r .[0].id) -o -"
                #expect(try three.run(["sh", "-c", fetched]).output == "picture")
                let deleted = try three.expectRefusal(["get", "note/gone"], code: "not_found", exit: 3)?.error
                #expect(deleted?.message.contains("deleted") == true, "\(deleted as Any)")
                try three.put("note/new", ["title": "written since"])
                #expect(try rig.show([3], "note/new", ["title": "written since"]), "what is written now shows")
                try rig("kill", "3")
                try rig("start", "3")
                #expect(try isShown(), "also after a new start")
                try rig("start", "2")
                try eventually(within: .seconds(30), "it is written again, and shows on all") {
                    #expect(try isShown(), "it is never absent from its own screen")
                    return try rig.show([1, 2, 3, 4], "note/mine", ["title": "written away"])
                        && rig.show([1, 2, 3, 4], "note/shared", ["title": "edited away"])
                }
                try rig.inStep(within: .seconds(10))
                #expect(try three.warning("writing_again") == nil)
            }
        }

        @Test func `what one member alone holds of a retired one is shown for review, and counts once it is accepted`()
            throws
        {
            try Rig.with(3) { rig in
                let (one, two, three) = (rig.node(1), rig.node(2), rig.node(3))
                try one.put("note/a", ["title": "old"])
                try rig.inStep([1, 2, 3], within: .seconds(30))
                // A retirement is settled by members that the retired one had acknowledged.
                try one.delete("note/a")
                try eventually(within: .seconds(200), "all have acknowledged what was done so far") {
                    try deletedObjects(one) == 0
                }
                try one.put("note/a", ["title": "old"])
                try rig.inStep([1, 2, 3], within: .seconds(30))
                try rig("isolate", "1")
                try three.edit("note/a", "title=new")
                try three.put("note/b", ["title": "only at two"])
                try rig.inStep([2, 3], within: .seconds(10))
                try rig("kill", "3")
                // It holds nothing of that.
                #expect(try one.lanyard("devices", "retire", "node3", "--yes").output.contains("devices review"))
                try rig("heal")
                try rig.inStep([1, 2], within: .seconds(30))
                try eventually(within: .seconds(10), "the other hears of it, and shows its work no more") {
                    try two.run(["lanyard", "get", "note/b"]).status == 3
                }
                let refusal = try two.expectRefusal(["get", "note/b"], code: "not_found", exit: 3)?.error
                #expect(refusal?.message.contains("node3") == true, "\(refusal as Any)")
                #expect(refusal?.hint.contains("lanyard devices review node3") == true, "\(refusal as Any)")
                #expect(try rig.show([1, 2], "note/a", ["title": "old"]))
                for node in [one, two] {
                    try eventually(within: .seconds(10), "its work is shown for review") {
                        let review = try node.lanyard("devices", "review", "node3").output
                        return review.contains("note/a") && review.contains("note/b")
                    }
                }
                try two.expectRefusal(["devices", "accept", "node3", "note/b"], code: "forbidden", exit: 4)
                // Before, a device that has not heard could make it count, too.
                try eventually(within: .seconds(200), "all have heard, and the work is accepted") {
                    let answer = try one.run(["lanyard", "devices", "accept", "node3", "note/a", "note/b"])
                    #expect(answer.status == 0 || answer.output.contains("Not all devices have heard"), "\(answer)")
                    return answer.status == 0
                }
                try rig.inStep([1, 2])
                #expect(try rig.show([1, 2], "note/a", ["title": "new"]))
                #expect(try rig.show([1, 2], "note/b", ["title": "only at two"]))
                // It comes back after all, and writes the same again.
                try rig("start", "3")
                try eventually(within: .seconds(30), "it is let in again") {
                    try [one, two].allSatisfy { try state(of: "node3", at: $0) == "connected" }
                }
                try three.lanyard("wait", "--timeout", "10s")
                try rig.inStep()
                #expect(try rig.show([1, 2, 3], "note/a", ["title": "new"]))
                #expect(try rig.show([1, 2, 3], "note/b", ["title": "only at two"]))
                #expect(try three.conflicts().isEmpty)
                #expect(try !one.lanyard("devices", "review", "node3").output.contains("note/"))
            }
        }

        @Test func `a member that was let go comes back, raises nothing, and has all that it wrote`() throws {
            try Rig.with(3) { rig in
                let (one, two, three) = (rig.node(1), rig.node(2), rig.node(3))
                try one.lanyard("put $object '{\"title\":\"old\"}'", for: (1...1_000).map { "task/old\($0)" })
                try rig.inStep([1, 2, 3], within: .seconds(30))
                // What the third has acknowledged says whom it knows: a cut of it is settled by those, and members say it once a
                // minute.
                try one.put("task/passing", ["title": "soon gone"])
                try one.delete("task/passing")
                try eventually(within: .seconds(200), "all have acknowledged what was done so far") {
                    try deletedObjects(one) == 0
                }
                let name = try three.run(["hostname"]).output.trimmingCharacters(in: .whitespacesAndNewlines)
                #expect(try one.run(["lanyard", "devices", "retire", "nobody", "--yes"]).status == 3)
                try rig("isolate", "3")
                try one.lanyard("delete $object --yes", for: (1...1_000).map { "task/old\($0)" })
                try three.lanyard("edit $object title=vain", for: (1...50).map { "task/old\($0)" })
                try three.lanyard("put $object '{\"title\":\"mine\"}'", for: (1...100).map { "task/own\($0)" })
                try eventually(within: .seconds(30), "1 and 2 are in step") {
                    try two.list("task").isEmpty
                }
                #expect(try deletedObjects(one) == 1_000, "nothing goes while somebody is waited for")
                try one.lanyard("devices", "retire", name, "--yes")
                #expect(try state(of: name, at: one) == "retired")
                try eventually(within: .seconds(10), "the other hears of it") {
                    try state(of: name, at: two) == "retired"
                }
                try eventually(within: .seconds(300), "what waited for it is forgotten") {
                    try [one, two].allSatisfy { try deletedObjects($0) == 0 }
                }
                try rig("heal")
                try eventually(within: .seconds(30), "it is let in again") {
                    try [one, two].allSatisfy { try state(of: name, at: $0) == "connected" }
                }
                try three.put("task/after", ["title": "written at once"])
                try eventually(within: .seconds(5), "what it had written is there again") {
                    try rig.ask([1, 2, 3]) { try $0.list("task").count }.allSatisfy { $0 == 101 }
                }
                try rig.inStep()
                for number in [1, 50, 51, 1_000] { try rig.expectAbsent("task/old\(number)") }
                #expect(try rig.show([1, 2, 3], "task/own7", ["title": "mine"]))
                #expect(try three.conflicts("task").count == 50, "what was edited in vain")
                #expect(try status(three).warnings.isEmpty)
            }
        }
    }
}
