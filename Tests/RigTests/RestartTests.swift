import Testing

extension RigSuites {
    @Suite struct RestartTests {
        @Test(arguments: [1, 2])
        func `after a restart both sides are in step within a second`(restarted: Int) throws {
            try Rig.with(2) { rig in
                let other = 3 - restarted
                try rig("stop", "\(restarted)")
                try rig.node(other).emit(100, to: "meanwhile")
                // Returns when the agent answers: from then on the second counts.
                try rig("start", "\(restarted)")
                try rig.waitUntilAgree([1, 2], within: .seconds(1))
            }
        }

        @Test func `a paused agent catches up when it goes on`() throws {
            try Rig.with(2) { rig in
                try rig("pause", "2")
                try rig.node(1).emit(100, to: "meanwhile")
                silence(seconds: 20)
                try rig("resume", "2")
                try rig.waitUntilAgree([1, 2], within: .seconds(3))
            }
        }

        @Test func `sessions outlive avahi-daemon, and new nodes are found once it is back`() throws {
            try Rig.with(2) { rig in
                try rig("avahi", "1", "kill")
                try eventually(within: .seconds(5), "status says that discovery is unavailable") {
                    try rig.node(1).status().discovery.state == "unavailable"
                }
                try rig.node(1).emit(100, to: "without")
                try rig.waitUntilAgree([1, 2], within: .seconds(3))
                try rig("avahi", "1", "start")
                try eventually(within: .seconds(10), "status says that discovery runs again") {
                    try rig.node(1).status().discovery.state == "running"
                }
                let newcomer = try rig.add()
                try eventually(within: .seconds(5), "node 1 has found the new node by mDNS") {
                    try rig.node(1).peers().contains {
                        $0.via == "mdns" && $0.address?.contains(newcomer.address) == true
                    }
                }
            }
        }

        @Test func `a wall clock that is an hour ahead locks nobody out`() throws {
            try Rig.with(2) { rig in
                try rig("clock", "2", "+1h")
                try rig.node(2).emit(10, to: "ahead")
                try rig.waitUntilAgree([1, 2], within: .seconds(5))
                try rig.node(1).emit(10, to: "behind")
                try rig.waitUntilAgree([1, 2], within: .seconds(3))
            }
        }
    }
}
