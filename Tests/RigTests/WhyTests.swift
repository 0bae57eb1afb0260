import Testing

extension RigSuites {
    /// `lanyard why` names the first broken link. Each test breaks one.
    @Suite struct WhyTests {
        /// Waits until `why` on a node says that this link is the first broken one, with a detail that names the cause.
        private func expect(
            _ node: Node, _ link: String, naming words: [String], about subject: String? = nil,
            within bound: Duration = .seconds(20), sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            var last: Why?
            do {
                try eventually(
                    within: bound, "why names '\(link)' and one of \(words)", sourceLocation: sourceLocation
                ) {
                    let why = try subject.map { try node.why($0) } ?? node.why()
                    last = why
                    guard let broken = why.firstBroken, broken.link == link else { return false }
                    let text = "\(broken.detail ?? "") \(why.hint ?? "")".lowercased()
                    return words.contains { text.contains($0) }
                }
            } catch {
                if let last { print("    the last answer was \(last)") }
                throw error
            }
            let hint = last?.hint ?? ""
            #expect(!hint.isEmpty, "it says what to do next", sourceLocation: sourceLocation)
        }

        @Test func `avahi-daemon is not running`() throws {
            try Rig.with(1, "--no-pair") { rig in
                try rig("avahi", "1", "kill")
                try expect(rig.node(1), "discovery", naming: ["avahi"])
            }
        }

        @Test func `the peer is not paired`() throws {
            try Rig.with(2, "--no-pair") { rig in
                let one = rig.node(1)
                try expect(one, "pairing", naming: ["pair", "invite"])
                // As `peers` prints it.
                var found: String?
                try eventually(within: .seconds(10), "node 1 has discovered node 2") {
                    found = try one.peers().first { !$0.paired }?.name
                    return found != nil
                }
                let seen = try #require(found)
                try expect(one, "pairing", naming: ["not paired"], about: seen)
                #expect(try one.run(["lanyard", "why", seen, "--space", "other"]).status == 3)
            }
        }

        @Test func `nobody listens on the port that was typed`() throws {
            try Rig.with(2, "--no-pair", "--no-mdns") { rig in
                try rig.node(1).lanyard("peers", "add", "\(rig.node(2).address):9")
                try expect(rig.node(1), "dial", naming: ["refuses"])
            }
        }

        @Test func `the own interface is down`() throws {
            try Rig.with(2) { rig in
                #expect(try rig.node(1).run(["ip", "link", "set", "eth0", "down"]).status == 0)
                try expect(rig.node(1), "address", naming: ["interface", "network"], within: .seconds(30))
            }
        }

        @Test func `an object is not here, or was deleted`() throws {
            try Rig.with(2) { rig in
                let (one, two) = (rig.node(1), rig.node(2))
                try expect(two, "vector", naming: ["not on this device"], about: "task/milk")
                try one.lanyard("put", "task/milk", #"{"title":"milk"}"#)
                try eventually(within: .seconds(5), "node 2 has it and nothing is broken") {
                    try two.why("task/milk").firstBroken == nil
                }
                try one.lanyard("delete", "task/milk", "--yes")
                try expect(two, "store", naming: ["lanyard history task/milk"], about: "task/milk")
            }
        }

        @Test func `no address of the peer answers`() throws {
            try Rig.with(2) { rig in
                try rig("isolate", "2")
                try expect(rig.node(1), "dial", naming: ["no answer"], about: "node2", within: .seconds(40))
            }
        }

        @Test func `the peer is catching up, and how far behind it is`() throws {
            try Rig.with(2) { rig in
                // Half a minute for what follows.
                try rig("link", "2", "--rate", "0.5")
                // A live push names only itself; a peer that returns is told how much it lacks.
                try rig("stop", "2")
                try rig.node(1).emit(20_000, to: "much")
                try rig("start", "2")
                for (node, other, words) in [(1, "node2", "not yet sent to node2"), (2, "node1", "operations behind")] {
                    try expect(rig.node(node), "vector", naming: [words], about: other)
                }
                // The rate needs two readings.
                try eventually(within: .seconds(20), "why says how fast node 2 catches up") {
                    let detail = try rig.node(1).why("node2").firstBroken?.detail ?? ""
                    return detail.contains("operations a second")
                }
            }
        }

        @Test func `the disk is full`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let small = try rig.add("--disk", "24")
                try small.join(through: rig.node(1))
                try rig.waitUntilAgree([1, 2], within: .seconds(3))
                _ = try small.run(["sh", "-c", "cat /dev/zero >\"$LANYARD_DATA_DIR/filler\""])
                // Writing is how an agent learns of it.
                let refused = try small.run(["lanyard", "emit", "readings", "-"], input: lines(bytes: 4 << 20))
                #expect(refused.status != 0)
                try expect(small, "store", naming: ["disk", "space"])
                #expect(try small.status().store.state != "ok", "reads go on, and say so")
                try rig.node(1).emit(100, to: "elsewhere")
                #expect(try small.run(["sh", "-c", "rm \"$LANYARD_DATA_DIR/filler\""]).status == 0)
                try eventually(within: .seconds(15), "writes are taken again once there is space") {
                    try small.run(["lanyard", "emit", "readings", "{}"]).status == 0
                }
                // What a peer wrote meanwhile found no room either.
                try rig.waitUntilAgree([1, 2], within: .seconds(10))
            }
        }

        private func lines(bytes: Int) -> String {
            let line = "{\"filler\":\"\(String(repeating: "x", count: 4_000))\"}\n"
            return String(repeating: line, count: bytes / line.utf8.count)
        }
    }
}
