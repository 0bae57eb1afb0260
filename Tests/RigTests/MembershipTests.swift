import Testing

extension RigSuites {
    @Suite struct MembershipTests {
        @Test func `a fourth node joins through the second and gets what the first wrote`() throws {
            try Rig.with(3) { rig in
                for number in 1...3 { try rig.node(number).emit(200, to: "history") }
                let newcomer = try rig.add()
                try newcomer.join(through: rig.node(2))
                try rig.waitUntilAgree([1, 2, 3, 4], within: .seconds(5))
                let authors = try newcomer.events("history").compactMap(\.payload.from)
                #expect(Set(authors) == ["node1", "node2", "node3"])
                #expect(authors.count == 600)
            }
        }

        @Test func `those who joined through the first stay in step when it is off`() throws {
            try Rig.with(3) { rig in
                try rig("stop", "1")
                try rig.node(2).emit(300, to: "without")
                try rig.node(3).emit(300, to: "without")
                try rig.waitUntilAgree([2, 3], within: .seconds(3))
                #expect(try rig.node(2).events("without").count == 600)
            }
        }

        @Test func `after a device has joined nothing alarms, and the founder is shown as the founder`() throws {
            struct Device: Decodable {
                let name: String
                let addedBy: String?
            }
            struct Errors: Decodable {
                struct Occurrence: Decodable { let code: String }
                let errors: [Occurrence]
            }
            struct Ping: Decodable { let rttMilliseconds: Double? }
            try Rig.with(3) { rig in
                // What the newcomer has not acknowledged was written eight minutes ago.
                try rig("clock", "1", "-8m")
                try eventually(within: .seconds(10), "node 1 is back") { try rig.node(1).connected().count == 2 }
                try rig.node(1).emit(200, to: "before")
                try rig("clock", "1", "0")
                // Its peers know its clock from the beginning of a session.
                try rig("stop", "1")
                try rig("start", "1")
                try eventually(within: .seconds(10), "node 1 is back") { try rig.node(1).connected().count == 2 }
                for number in 2...3 { try rig("link", "\(number)", "--delay", "1") }
                let newcomer = try rig.add()
                try newcomer.join(through: rig.node(3))
                try rig.waitUntilAgree([1, 2, 3, 4], within: .seconds(5))
                let nodes = (1...4).map(rig.node)
                let until = ContinuousClock.now + .seconds(5)
                repeat {
                    for node in nodes {
                        let codes = try node.status().warnings.map(\.code)
                        #expect(codes.isEmpty, "\(node.name) warns")
                    }
                } while ContinuousClock.now < until
                for node in nodes {
                    let devices = try node.decode([Device].self, try node.lanyard("devices", "--json").output)
                    #expect(devices.filter { $0.addedBy == nil }.map(\.name) == ["node1"], "as \(node.name) says")
                    let why = try node.decode(Errors.self, try node.lanyard("why", "--json").output)
                    #expect(!why.errors.map(\.code).contains("discovery_unavailable"), "\(node.name)")
                    let pings = try node.decode([Ping].self, try node.lanyard("peers", "--json").output)
                    let slowest = pings.compactMap(\.rttMilliseconds).max() ?? 0
                    #expect(slowest < 100, "\(node.name) says \(slowest) ms on cables of 1 ms")
                }
            }
        }

        @Test func `two meshes become one, and follow one founder once one side has done what its status says`() throws
        {
            try Rig.with(4, "--no-pair") { rig in
                let (one, all) = (rig.node(1), [1, 2, 3, 4])
                try rig.node(2).join(through: one)
                try rig.node(4).join(through: rig.node(3))
                for number in all { try rig.node(number).put("note/n\(number)", ["of": .integer(Int64(number))]) }
                try rig.node(3).join(through: rig.node(2))
                try rig.inStep(all, within: .seconds(30))
                #expect(try rig.ask(all) { try $0.list("note").count } == [4, 4, 4, 4])
                #expect(try rig.ask(all) { try $0.warning("two_founders") != nil } == [true, true, true, true])
                try one.expectRefusal(["devices", "role", "node2", "reader"], code: "two_founders", exit: 4)
                for number in 3...4 {
                    let node = rig.node(number)
                    try rig.inStep([1, 2, number], within: .seconds(20))
                    let hint = try one.status().warnings.first { $0.code == "two_founders" }?.hint ?? "none"
                    #expect(hint.contains("lanyard devices revoke node"), "\(hint)")
                    try rig("stop", "\(number)")
                    _ = try one.revoke("node\(number)")
                    try node.removeData()
                    try rig("start", "\(number)")
                    try node.join(through: one)
                }
                try rig.inStep(all, within: .seconds(30))
                #expect(try rig.ask(all) { try $0.list("note").count } == [4, 4, 4, 4])
                #expect(try rig.ask(all) { try $0.warning("two_founders") } == [nil, nil, nil, nil])
                // The device that was let go has the name, too.
                let id = try rig.node(3).id()
                try one.setRole("reader", of: id)
                try eventually(within: .seconds(20), "a role is what the one founder says, on all") {
                    try rig.ask(all) { try $0.members().first { $0.id == id }?.role }.allSatisfy { $0 == "reader" }
                }
            }
        }

        @Test func `a ticket is good once`() throws {
            try Rig.with(3, "--no-pair") { rig in
                let ticket = try rig.node(1).ticket()
                try rig.node(2).lanyard("join", "-", input: ticket + "\n")
                let again = try rig.node(3).run(["lanyard", "join", "-"], input: ticket + "\n")
                #expect(again.status == 4, "refused: \(again.errors)")
                #expect(try rig.node(3).connected().isEmpty)
            }
        }
    }
}
