import Foundation
import Testing

extension RigSuites {
    /// The roles of devices: a reader, and mistakes with roles and keys.
    @Suite struct RoleStories {
        private struct Joined: Decodable {
            let role: String
        }

        @Test func `a reader gets all, passes it on, writes nothing, and made a writer writes`() throws {
            try Rig.with(2) { rig in
                let (one, two) = (rig.node(1), rig.node(2))
                try one.put("note/first", ["title": "for all"])
                try one.emit(20, to: "news")
                let three = try rig.add()
                let ticket = try one.decode(
                    Ticket.self, try one.lanyard("invite", "--role", "reader", "--json").output)
                let joined = try three.decode(
                    Joined.self, try three.lanyard("join", "-", "--json", input: ticket.ticket + "\n").output)
                #expect(joined.role == "reader")
                try rig.inStep(within: .seconds(20))
                try rig.waitUntilRole("reader", of: three.name, on: [1, 2, 3])
                #expect(try three.fields("note/first") == ["title": "for all"])
                #expect(try three.events("news").count == 20)
                #expect(try three.ownRole() == "reader" && three.lanyard("status").output.contains("reader"))
                try expectReadOnly(three, rig)
                try eventually(within: .seconds(20), "the reader is connected with both") {
                    try three.connected() == ["node1", "node2"]
                }
                try rig("cut", "1", "2")
                try one.put("note/there", ["title": "from node1"])
                try two.put("note/back", ["title": "from node2"])
                try two.emit(30, to: "news")
                try rig.inStep(within: .seconds(20))
                for node in [one, two, three] {
                    #expect(try node.list("note").count == 3 && node.events("news").count == 50, "\(node.name)")
                }
                try one.setRole("writer", of: three.name)
                try eventually(within: .seconds(20), "it knows that it is a writer") { try three.ownRole() == "writer" }
                try three.put("note/own", ["title": "written at last"])
                try three.edit("note/first", "title=edited")
                try three.emit(5, to: "news")
                try rig.inStep(within: .seconds(20))
                #expect(try rig.show([1, 2, 3], "note/own", ["title": "written at last"]))
                #expect(try rig.show([1, 2, 3], "note/first", ["title": "edited"]))
                #expect(try rig.ask([1, 2, 3]) { try $0.events("news").count } == [55, 55, 55])
                // And back: what it wrote as a writer stays.
                try one.setRole("reader", of: three.name)
                try eventually(within: .seconds(20), "it is a reader again") { try three.ownRole() == "reader" }
                try three.expectRefusal(["put", "note/late", "{}"], code: "read_only", exit: 4)
                try rig.inStep(within: .seconds(20))
                #expect(try rig.show([1, 2, 3], "note/own", ["title": "written at last"]))
            }
        }

        @Test func `what a device wrote before it heard that it is a reader is shown nowhere, and can be accepted`()
            throws
        {
            try Rig.with(3) { rig in
                let (one, three) = (rig.node(1), rig.node(3))
                try one.put("note/first", ["title": "for all"])
                try rig.inStep(within: .seconds(20))
                try rig("isolate", "3")
                try one.setRole("reader", of: three.name)
                try three.put("note/late", ["title": "written in good faith"])
                try three.emit(5, to: "news")
                #expect(try three.ownRole() == "writer" && three.events("news").count == 5)
                try rig("heal")
                try eventually(within: .seconds(20), "it knows that it is a reader") { try three.ownRole() == "reader" }
                try rig.inStep(within: .seconds(20))
                try rig.expectAbsent("note/late")
                #expect(try rig.ask([1, 2, 3]) { try $0.events("news").count } == [0, 0, 0])
                #expect(try one.review(three.name).entries.contains { $0.id == "late" })
                try one.lanyard("devices", "accept", three.name, "note/late")
                try rig.inStep(within: .seconds(20))
                #expect(try rig.show([1, 2, 3], "note/late", ["title": "written in good faith"]))
            }
        }

        /// Every way to write is refused, with the command that helps, and nothing changes anywhere.
        private func expectReadOnly(_ reader: Node, _ rig: Rig) throws {
            let before = try rig.ask([1, 2, 3]) { try $0.homeChanges() }
            let file = try reader.makeFile("a.bin", bytes: 1_000)
            for command in [
                ["put", "note/mine", #"{"title":"x"}"#], ["edit", "note/first", "title=x"],
                ["delete", "note/first", "--yes"], ["emit", "news", "{}"], ["attach", "note/first", file.path],
                ["streams", "set", "news", "--latest-only"], ["devices", "retire", "node2", "--yes"], ["invite"],
            ] {
                let refusal = try reader.expectRefusal(command, code: "read_only", exit: 4)
                print("    \(command[0]): \(refusal?.error.message ?? "-") \(refusal?.error.hint ?? "-")")
            }
            try reader.expectRefusal(
                ["schema", "set", "note", "-"], input: #"{"fields":{"n":"counter"}}"#, code: "read_only", exit: 4)
            let refusal = try reader.expectRefusal(["put", "note/mine", "{}"], code: "read_only", exit: 4)
            #expect(refusal?.error.hint.contains("lanyard devices role \(reader.name) writer") == true)
            try reader.expectRefusal(["devices", "role", reader.name, "admin"], code: "forbidden", exit: 4)
            try rig.inStep(within: .seconds(10))
            #expect(try rig.ask([1, 2, 3]) { try $0.homeChanges() } == before, "no change was written")
            try rig.expectAbsent("note/mine")
        }

        // MARK: Mistakes

        private struct Mistake {
            let node: Int
            let arguments: [String]
            let input: String?
            let code: String
            let exit: Int32

            init(_ node: Int, _ arguments: String..., input: String? = nil, code: String, exit: Int32) {
                self.init(node, arguments, input: input, code: code, exit: exit)
            }

            init(_ node: Int, _ arguments: [String], input: String? = nil, code: String, exit: Int32) {
                self.node = node
                self.arguments = arguments
                self.input = input
                self.code = code
                self.exit = exit
            }
        }

        /// Node 1 is the only admin, node 2 is a writer.
        private static let roles = [
            Mistake(2, "invite", "--role", "admin", code: "forbidden", exit: 4),
            Mistake(2, "pair", "--role", "admin", code: "forbidden", exit: 4),
            Mistake(2, "devices", "role", "node2", "admin", code: "forbidden", exit: 4),
            Mistake(2, "devices", "role", "node1", "reader", code: "forbidden", exit: 4),
            Mistake(2, "devices", "revoke", "node1", "--yes", code: "forbidden", exit: 4),
            Mistake(2, "devices", "accept", "node1", "note/a", code: "forbidden", exit: 4),
            Mistake(2, "recovery", "create", code: "forbidden", exit: 4),
            Mistake(1, "devices", "revoke", "node1", "--yes", code: "forbidden", exit: 4),
            Mistake(1, "devices", "role", "node1", "writer", code: "forbidden", exit: 4),
            Mistake(1, "devices", "role", "node1", "reader", code: "forbidden", exit: 4),
            Mistake(1, "devices", "role", "node2", "king", code: "invalid_argument", exit: 2),
            Mistake(1, "devices", "revoke", "node2", code: "invalid_argument", exit: 2),
            Mistake(1, "devices", "role", "nobody", "reader", code: "unknown_device", exit: 3),
            Mistake(1, "devices", "revoke", "nobody", "--yes", code: "unknown_device", exit: 3),
            Mistake(1, "devices", "review", "nobody", code: "unknown_device", exit: 3),
            Mistake(1, "devices", "accept", "nobody", "note/a", code: "unknown_device", exit: 3),
            Mistake(1, "devices", "accept", "node2", "note", code: "invalid_argument", exit: 2),
            Mistake(1, "devices", "accept", "node2", "note/\(unsafe)", code: "invalid_name", exit: 2),
        ]
        /// Names that no device has.
        private static let names = [unsafe, long].flatMap { name in
            [
                ["role", name, "reader"], ["revoke", name, "--yes"], ["retire", name, "--yes"],
                ["block", name, "--yes"], ["unblock", name], ["review", name], ["accept", name, "note/a"],
                ["accept", name, "--events", "news"],
            ].map { Mistake(1, ["devices"] + $0, code: "unknown_device", exit: 3) }
        }
        private static let unsafe = "no\u{1B}[31mde\u{7}\u{202E}"
        private static let long = String(repeating: "n", count: 10_000)

        /// - Parameters:
        ///   - key: of the space.
        ///   - other: of another space.
        private static func keys(_ key: String, _ other: String) -> [Mistake] {
            let mistyped = String(key.dropLast()) + (key.hasSuffix("A") ? "B" : "A")
            func revoking(_ device: String, _ input: String, _ code: String, _ exit: Int32) -> Mistake {
                Mistake(2, "recovery", "use", "revoke", device, "-", "--yes", input: input, code: code, exit: exit)
            }
            var mistakes = [
                revoking("nobody", key, "unknown_device", 3),
                revoking("node2", key, "forbidden", 4),
                Mistake(2, "recovery", "use", "revoke", "node1", "-", input: key, code: "invalid_argument", exit: 2),
                Mistake(2, "recovery", "use", "revoke", "node1", key, "--yes", code: "invalid_argument", exit: 2),
                Mistake(1, "recovery", "create", code: "already_exists", exit: 4),
            ]
            for text in [other, String(key.dropLast()), String(key.prefix(30)), mistyped, "", unsafe, long] {
                let (code, exit): (String, Int32) = text == other ? ("forbidden", 4) : ("invalid_argument", 2)
                mistakes.append(revoking("node1", text, code, exit))
                mistakes.append(
                    Mistake(
                        2, "recovery", "use", "role", "node2", "admin", "-", "--yes", input: text, code: code,
                        exit: exit))
            }
            return mistakes
        }

        @Test func `a mistake with roles is answered by a code, a sentence and a next step, and changes nothing`()
            throws
        {
            try Rig.with(2) { rig in
                try prepare(rig)
                try expectUnchanged(rig) { try make(Self.roles + Self.names, on: rig) }
                for name in [Self.unsafe, Self.long] {
                    let agent = try rig.node(1).run(["lanyardd", "--name", name, "--print-config"])
                    #expect(agent.status == 2 && agent.errors.contains("1 to 128 bytes"), "\(agent.errors.prefix(300))")
                    #expect(Self.isPlain(agent.errors) && agent.output.isEmpty)
                }
            }
        }

        @Test func `a wrong recovery key is refused with a sentence that holds no part of it, and nothing is done`()
            throws
        {
            try Rig.with(2) { rig in
                try prepare(rig)
                // A founder of its own: its key is whole, and is another one.
                let other = try rig.add().makeRecoveryKey()
                try expectUnchanged(rig) {
                    let use = ["recovery", "use", "role", "node2", "admin", "-", "--yes"]
                    let refusal = try rig.node(2).expectRefusal(use, input: other, code: "forbidden", exit: 4)
                    #expect(refusal?.error.message.contains("no recovery key") == true, "\(refusal as Any)")
                }
                let key = try rig.node(1).makeRecoveryKey()
                try eventually(within: .seconds(20), "both know that there is a key") {
                    try rig.ask([1, 2]) { try $0.hasRecoveryKey() }.allSatisfy { $0 }
                }
                try rig.inStep([1, 2], within: .seconds(20))
                try expectUnchanged(rig) { try make(Self.keys(key, other), on: rig, hiding: [key, other]) }
                for number in 1...3 {
                    let log = try rig("log", "\(number)").output
                    for secret in [key, other] { #expect(!log.contains(secret.suffix(20)), "node \(number) logs it") }
                }
                // The right one does it.
                let use = ["recovery", "use", "role", "node2", "admin", "-", "--yes"]
                try rig.node(2).lanyard(use, input: key + "\n")
                try rig.waitUntilRole("admin", of: "node2", on: [1, 2])
            }
        }

        private func prepare(_ rig: Rig) throws {
            try rig.node(1).put("note/a", ["title": "a"])
            try rig.inStep([1, 2], within: .seconds(20))
            try rig.waitUntilRole("admin", of: "node1", on: [1, 2])
        }

        /// Makes each of the mistakes twice: as a program does, and as a person.
        /// - Parameter secrets: keys of which no group of characters may be shown.
        private func make(_ mistakes: [Mistake], on rig: Rig, hiding secrets: [String] = []) throws {
            let groups = secrets.flatMap { $0.split(separator: "-").dropFirst(2) }
            for mistake in mistakes {
                let node = rig.node(mistake.node)
                let refusal = try node.expectRefusal(
                    mistake.arguments, input: mistake.input, code: mistake.code, exit: mistake.exit)
                let words = mistake.arguments.joined(separator: " ").prefix(60)
                print("    \(words): \(refusal.map { "\($0.error.message) \($0.error.hint)" }?.prefix(300) ?? "-")")
                let said = try node.run(["lanyard"] + mistake.arguments, input: mistake.input)
                #expect(said.status == mistake.exit && !said.errors.isEmpty && said.output.isEmpty, "\(words): \(said)")
                #expect(Self.isPlain(said.errors), "\(words): \(Array(said.errors.utf8.prefix(300)))")
                let answers = said.errors + (refusal?.error.message ?? "") + (refusal?.error.hint ?? "")
                #expect(!groups.contains { answers.contains($0) }, "\(words) shows a part of a key")
            }
        }

        /// True if a terminal shows the text and does nothing else.
        private static func isPlain(_ text: String) -> Bool {
            text.unicodeScalars.allSatisfy {
                $0 == "\n" || ![.control, .format].contains($0.properties.generalCategory)
            }
        }

        private struct State: Equatable {
            let changes: Int
            let digest: String
            let members: Set<String>
        }

        /// Both nodes hold the same before and after, and nobody has another role.
        private func expectUnchanged(_ rig: Rig, _ body: () throws -> Void) throws {
            func states() throws -> [State] {
                try rig.ask([1, 2]) { node in
                    State(
                        changes: try node.homeChanges(), digest: try node.digest(),
                        members: Set(
                            try node.members().map { "\($0.id) \($0.role) \($0.state == "revoked" ? "out" : "in")" }))
                }
            }
            let before = try states()
            try body()
            #expect(try states() == before)
        }
    }
}
