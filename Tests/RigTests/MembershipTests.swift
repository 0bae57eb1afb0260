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
