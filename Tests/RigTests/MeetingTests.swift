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
                // The members' records carry a tag that changed a moment ago.
                try eventually(within: .seconds(3), "every node knows the two others by their records") {
                    try (1...3).allSatisfy { try rig.node($0).peers().filter(Self.isMemberByRecord).count == 2 }
                }
            }
        }

        private static func isMemberByRecord(_ peer: Peer) -> Bool { peer.paired && peer.via == "mdns" }

        @Test func `three machines are connected three seconds after the last of them started`() throws {
            // `up` pairs them meanwhile. It returns when all are connected and have heard each other's records.
            let begun = ContinuousClock.now
            try Rig.with(3) { rig in
                let elapsed = ContinuousClock.now - begun
                print("    from nothing to three connected machines: \(milliseconds(elapsed)) ms")
                for number in 1...3 {
                    let peers = try rig.node(number).peers()
                    #expect(peers.filter { $0.state == "connected" && Self.isMemberByRecord($0) }.count == 2)
                    #expect(peers.count == 2, "nobody is listed twice")
                }
                let youngest = try (1...3).map { try rig.node($0).status().uptimeSeconds }.min() ?? .max
                #expect(youngest <= 3, "the last agent started \(youngest) s ago")
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
