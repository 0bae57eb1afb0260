import Testing

extension RigSuites {
    @Suite struct TrafficTests {
        @Test func `two agents in step and idle send at most two kibibytes a minute`() throws {
            try Rig.with(2) { rig in
                try rig.node(1).emit(100, to: "readings")
                try rig.waitUntilAgree([1, 2], within: .seconds(3))
                try rig.node(1).countTraffic()
                // What trails a write, such as acknowledgements, is not idle.
                silence(seconds: 15)
                let before = try rig.node(1).trafficBytes()
                silence(seconds: 60)
                let bytes = try rig.node(1).trafficBytes() - before
                print("    idle: \(bytes) bytes a minute, IP headers included (bound 2048)")
                #expect(bytes > 0, "a session that is alive pings")
                #expect(bytes <= 2_048)
            }
        }

        /// A million events in the long run.
        private static let rounds = Rig.isLong ? 50 : 1

        @Test func `what a reconnect costs does not grow with the store`() throws {
            try Rig.with(2) { rig in
                let node = rig.node(1)
                try node.countTraffic()
                try node.emit(100, to: "readings")
                let few = try reconnectBytes(rig)
                for _ in 1...Self.rounds { try node.emit(20_000, to: "readings") }
                let many = try reconnectBytes(rig)
                print("    reconnect: \(few) bytes with 100 events, \(many) with \(Self.rounds * 20_000 + 100)")
                // TCP's own segments vary a little from run to run.
                #expect(many <= few + few / 4 + 512)
            }
        }

        private func reconnectBytes(_ rig: Rig) throws -> Int {
            try rig.waitUntilAgree([1, 2], within: .seconds(30))
            silence(seconds: 3)
            try rig("stop", "2")
            let before = try rig.node(1).trafficBytes()
            try rig("start", "2")
            try eventually(within: .seconds(5), "the session is back") { try rig.node(1).connected() == ["node2"] }
            silence(seconds: 2)
            return try rig.node(1).trafficBytes() - before
        }
    }
}
