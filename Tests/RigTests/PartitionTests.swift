import Testing

extension RigSuites {
    @Suite struct PartitionTests {
        /// Seconds during which nothing is sent, before the network heals.
        static let silences = Rig.isLong ? [2, 20, 120] : [2, 20]

        @Test(arguments: silences)
        func `a partition with writes on both sides heals within three seconds`(silenceSeconds: Int) throws {
            try Rig.with(3) { rig in
                try rig.node(1).emit(10, to: "before")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(3))
                try rig("isolate", "3")
                for number in 1...3 { try rig.node(number).emit(1_000, to: "during") }
                #expect(try rig.node(3).digest() != rig.node(1).digest(), "node 3 cannot have what it never heard of")
                silence(seconds: silenceSeconds)
                try rig("heal")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(3))
                for number in 1...3 { #expect(try rig.node(number).events("during").count == 3_000) }
            }
        }

        @Test func `a pulled cable heals as a silent partition does`() throws {
            try Rig.with(2) { rig in
                try rig("isolate", "2", "--carrier")
                for number in 1...2 { try rig.node(number).emit(100, to: "during") }
                silence(seconds: 2)
                try rig("heal", "--carrier")
                try rig.waitUntilAgree([1, 2], within: .seconds(3))
            }
        }

        @Test func `a cable that is pulled ends the session at once, and what is written then is one change`() throws {
            try Rig.with(2) { rig in
                let node = rig.node(2)
                try node.put("box/milk", ["title": "milk", "done": false])
                try rig.waitUntilAgree([1, 2], within: .seconds(3))
                let before = try rig.node(1).homeChanges()
                try rig("isolate", "2", "--carrier")
                try eventually(within: .seconds(3), "node 2 knows that it is alone") { try node.connected().isEmpty }
                try node.shell(
                    """
                    for time in $(seq 25); do
                        lanyard edit box/milk done=false -q || exit 1
                        lanyard edit box/milk done=true -q || exit 1
                    done
                    """)
                try rig("heal", "--carrier")
                try rig.waitUntilAgree([1, 2], within: .seconds(10))
                #expect(try rig.node(1).homeChanges() - before <= 1)
                struct Entry: Decodable {
                    let kind: String
                    let field: String?
                }
                let history = try rig.node(1).lanyard("history", "box/milk", "--json").output
                let edits = try node.decode([Entry].self, history).filter { $0.kind == "edited" }
                #expect(edits.map(\.field) == ["done"], "\(history)")
            }
        }

        @Test func `two nodes that cannot hear each other are kept in step by a third`() throws {
            try Rig.with(3) { rig in
                try rig("cut", "1", "3")
                try rig.node(1).emit(500, to: "around")
                try rig.node(3).emit(500, to: "around")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(5))
                #expect(try rig.node(3).events("around").count == 1_000)
            }
        }

        @Test func `a poor cable loses no event and keeps the order of an author`() throws {
            try Rig.with(2) { rig in
                try rig(
                    "link", "2", "--delay", "20", "--jitter", "10", "--loss", "5", "--duplicate", "2", "--seed", "7")
                try rig.node(1).emit(1_000, to: "rough")
                try rig.waitUntilAgree([1, 2], within: .seconds(30))
                #expect(try rig.node(2).events("rough").compactMap(\.payload.number) == Array(1...1_000))
            }
        }
    }
}
