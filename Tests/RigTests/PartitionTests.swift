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
