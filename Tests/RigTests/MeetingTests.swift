import Testing

extension RigSuites {
    @Suite struct MeetingTests {
        @Test func `three machines find each other by mDNS, and are connected as soon as they are members`() throws {
            try Rig.with(3, "--no-pair") { rig in
                try eventually(within: .seconds(3), "every node has discovered the two others by mDNS") {
                    try (1...3).allSatisfy { try rig.node($0).peers().filter { $0.via == "mdns" }.count == 2 }
                }
                for number in 2...3 { try rig.node(number).join(through: rig.node(1)) }
                try eventually(within: .seconds(3), "every node has a session with the two others") {
                    try (1...3).allSatisfy { try rig.node($0).connected().count == 2 }
                }
                // Nobody told 2 and 3 of each other, so what they know comes from mDNS.
                let between = try rig.node(2).peers().first { $0.name == "node3" }
                #expect(between?.via == "mdns")
                #expect(between?.paired == true)
            }
        }

        @Test func `ten thousand events of one node reach the others, and all have the same digest`() throws {
            try Rig.with(3) { rig in
                try rig.node(1).emit(10_000, to: "readings")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                for number in 2...3 {
                    let numbers = try rig.node(number).events("readings").compactMap(\.payload.number)
                    #expect(numbers == Array(1...10_000), "node \(number) has them all, in the order of their author")
                }
            }
        }

        @Test func `without mDNS an address that somebody types is enough`() throws {
            try Rig.with(3, "--no-mdns") { rig in
                #expect(try rig.node(2).status().discovery.state == "off")
                try rig.node(2).lanyard("peers", "add", "\(rig.node(3).address):21817")
                try eventually(within: .seconds(3), "node 2 has a session with node 3, by a typed address") {
                    try rig.node(2).peers().contains { $0.name == "node3" && $0.state == "connected" }
                }
                try rig.node(3).emit(100, to: "readings")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(3))
            }
        }
    }
}
