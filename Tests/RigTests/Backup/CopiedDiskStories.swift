import Foundation
import Testing

extension RigSuites {
    /// Disks that two machines run from, and disks that are older than their machine.
    @Suite struct CopiedDiskStories {
        private static let ownTwin = "Another agent runs with this device's identity"
        private static let returned = "This disk was older than the network; missing changes were recovered"

        @Test
        func `two machines that run from one disk both say so, and nothing is lost when one gets keys of its own`()
            throws
        {
            try Rig.with(2) { rig in
                let (peer, original) = (rig.node(1), rig.node(2))
                try original.emit(20, to: "before")
                try rig.waitUntilAgree([1, 2], within: .seconds(10))
                let copy = try rig.add()
                try rig("stop", "\(copy.number)")
                try copyData(of: original, to: copy)

                // Both are written to before either can know of the other.
                try rig("isolate", "\(copy.number)")
                try rig("start", "\(copy.number)")
                try copy.emit(10, to: "copy")
                try original.emit(10, to: "original")
                try rig("heal")
                for node in [original, copy] {
                    try eventually(within: .seconds(30), "\(node.name) says that its identity is used twice") {
                        try warns(node, "duplicate_identity")
                    }
                    let refusal = try node.expectRefusal(
                        ["emit", "late", "{}"], code: "duplicate_identity", exit: 4)
                    #expect(refusal?.error.hint.contains("identity.pem") ?? false)
                    #expect(try node.events("before").count == 20, "it is read as before")
                }
                try eventually(within: .seconds(30), "\(peer.name) says so, too") {
                    try warns(peer, "duplicate_identity")
                }
                silence(seconds: 15)
                for node in [original, copy] { #expect(try lines(of: node, Self.ownTwin) == 1, "one clear message") }

                // As the hint says.
                try rig("stop", "\(copy.number)")
                try copy.shell("rm \"$LANYARD_DATA_DIR/identity.pem\"")
                try rig("start", "\(copy.number)")
                try copy.join(through: peer)
                try rig("stop", "\(original.number)")
                try rig("start", "\(original.number)")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(30))
                for node in [peer, original, copy] {
                    #expect(try node.events("before").count == 20)
                    #expect(try node.events("copy").count == 10)
                    #expect(try node.events("original").count == 10)
                }
                for node in [original, copy] {
                    try node.emit(5, to: "after")
                    #expect(try !warns(node, "duplicate_identity"))
                }
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                #expect(try peer.events("after").count == 10)
                #expect(try Set([original, copy].map { try $0.status().device.id }).count == 2)
            }
        }

        @Test func `a device that joins through a copy with keys of its own gets everything`() throws {
            try Rig.with(2) { rig in
                try rig.node(1).emit(20, to: "before")
                try rig.node(2).put("note/both", ["title": "before"])
                try rig.waitUntilAgree([1, 2], within: .seconds(10))
                let copy = try rig.add()
                try rig("stop", "\(copy.number)")
                try copyData(of: rig.node(2), to: copy)
                try copy.shell("rm \"$LANYARD_DATA_DIR/identity.pem\"")
                try rig("start", "\(copy.number)")
                try copy.join(through: rig.node(1))
                try copy.emit(10, to: "copy")
                let newcomer = try rig.add()
                try newcomer.join(through: copy)
                try newcomer.emit(10, to: "newcomer")
                try rig.waitUntilAgree([1, 2, 3, 4], within: .seconds(20))
                #expect(try newcomer.events("before").count == 20 && newcomer.events("copy").count == 10)
                #expect(try rig.node(2).events("newcomer").count == 10)
            }
        }

        @Test(arguments: [true, false])
        func `a data directory that is put back to last week's loses nothing, and says so once`(isFarBack: Bool) throws
        {
            try Rig.with(3) { rig in
                let node = rig.node(2)
                try node.emit(20, to: "before")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                try rig("stop", "2")
                let old = try keepData(of: node)
                defer { try? FileManager.default.removeItem(atPath: old) }
                try rig("start", "2")
                try node.emit(isFarBack ? 2_000 : 1, to: "since")
                try rig.node(1).emit(10, to: "elsewhere")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                let digest = try rig.node(1).digest()
                try rig("kill", "2")
                try putBack(old, to: node)
                try expectReturn(
                    rig, node, digest, events: ["before": 20, "since": isFarBack ? 2_000 : 1, "elsewhere": 10])
            }
        }

        @Test func `a killed agent whose database lost its end loses nothing, and says so once`() throws {
            try Rig.with(3) { rig in
                let node = rig.node(2)
                try node.emit(50, to: "before")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                let log = "\"$LANYARD_DATA_DIR/lanyard.sqlite-wal\""
                let size = try node.output("stat -c %s \(log)").trimmingCharacters(in: .whitespacesAndNewlines)
                for _ in 1...30 { try node.emit(1, to: "since") }
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                let digest = try rig.node(1).digest()
                try rig("kill", "2")
                let longer = try node.output("stat -c %s \(log)").trimmingCharacters(in: .whitespacesAndNewlines)
                let (before, after) = (try #require(Int(size)), try #require(Int(longer)))
                try #require(after > before, "the tail is in the log")
                // In the middle of a page, too.
                try node.shell("truncate -s \(before + (after - before) / 2 + 7) \(log)")
                try expectReturn(rig, node, digest, events: ["before": 50, "since": 30])
            }
        }

        /// The part of the log that all devices have dropped.
        enum Dropped: CaseIterable {
            case nothing
            /// What they had when the machine's image was made.
            case before
            /// That, and what the machine has given up: no device can show it that history any more.
            case allSince
        }

        /// The disk and what is in memory that says how far the disk goes, as a virtual machine is put back: the agent cannot know,
        /// and writes on where it was. What the others have of it contradicts that.
        @Test(arguments: Dropped.allCases)
        func `a machine that is put back while it runs has what it wrote before and since, once, and says so`(
            dropped: Dropped
        ) throws {
            try Rig.with(3) { rig in
                let node = rig.node(2)
                try node.emit(20, to: "before")
                try node.lanyard("put", "note/both", #"{"title":"before"}"#)
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                if dropped != .nothing { try rig.dropHistory(on: [1, 2, 3]) }
                let old = try keepMachine(node)
                defer { try? FileManager.default.removeItem(atPath: old) }
                try node.emit(7, to: "given up")
                try node.lanyard("put", "note/both", #"{"title":"given up"}"#)
                try node.lanyard("put", "note/given-up", #"{"title":"of the first"}"#)
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                if dropped == .allSince { try rig.dropHistory(on: [1, 2, 3]) }

                try putBackMachine(old, to: node)
                try rig("isolate", "2")
                try rig("start", "2")
                try node.emit(5, to: "since")
                try node.lanyard("put", "note/both", #"{"title":"since"}"#)
                try node.lanyard("put", "note/since", #"{"title":"of the second"}"#)
                try node.lanyard("put", "note/since", #"{"title":"of the second, edited"}"#)
                #expect(try node.events("given up").isEmpty)
                try rig("heal")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(30))
                try eventually(within: .seconds(30), "what was written since is on all three") {
                    try (1...3).allSatisfy { try rig.node($0).events("since").count == 5 }
                }
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
                for number in 1...3 {
                    let reader = rig.node(number)
                    #expect(try reader.events("before").count == 20)
                    #expect(try reader.events("given up").count == 7)
                    #expect(try reader.lanyard("get", "note/given-up").output.contains("of the first"))
                    #expect(try reader.lanyard("get", "note/since").output.contains("of the second, edited"))
                    #expect(try reader.lanyard("conflicts", "list").output.contains("note/both"), "both wrote to it")
                    #expect(try !warns(reader, "forked"))
                }
                #expect(try warns(node, "history_taken_back"))
                #expect(try lines(of: node, "put back to an earlier moment while it ran") == 1, "one clear message")
                #expect(try node.run(["lanyard", "doctor", "--deep"]).output.contains("store"))
                try node.emit(5, to: "since")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
            }
        }

        /// A machine that is put back while it runs tells one device something else than the others, and never comes back. The
        /// person at that device does what `status` says.
        @Test
        func `two histories of a machine that is gone are reported, and all agree once a device is paired again`()
            throws
        {
            try Rig.with(4) { rig in
                let (one, three, lost) = (rig.node(1), rig.node(3), rig.node(4))
                try lost.lanyard("put", "note/both", #"{"title":"before"}"#)
                try rig.waitUntilAgree([1, 2, 3, 4], within: .seconds(10))
                let old = try keepMachine(lost)
                defer { try? FileManager.default.removeItem(atPath: old) }
                try rig("stop", "3")
                for title in ["said to two", "said to two, and more"] {
                    try lost.lanyard("put", "note/both", "{\"title\":\"\(title)\"}")
                    // What the machine writes behind an answer is shipped apart.
                    try one.lanyard("put", "note/answer", "{\"to\":\"\(title)\"}")
                    try rig.waitUntilAgree([1, 2, 4], within: .seconds(10))
                }
                try putBackMachine(old, to: lost)
                for number in ["3", "4"] {
                    for other in ["1", "2"] { try rig("cut", number, other) }
                }
                for number in ["3", "4"] { try rig("start", number) }
                try lost.lanyard("put", "note/both", #"{"title":"said to one"}"#)
                try rig.waitUntilAgree([3, 4], within: .seconds(30))
                try three.lanyard("put", "note/own", #"{"title":"of its own"}"#)
                try three.emit(3, to: "own")
                try rig("kill", "4")
                try rig("heal")

                try eventually(within: .seconds(30), "the device that holds less says so") {
                    try warns(three, "forked")
                }
                #expect(Set(try three.connected()) == ["node1", "node2"], "the devices stay connected")
                for number in 1...2 {
                    try eventually(within: .seconds(30), "what does not build on it arrives at node\(number)") {
                        try rig.node(number).events("own").count == 3
                    }
                    #expect(try rig.node(number).lanyard("get", "note/both").output.contains("said to two, and more"))
                }
                #expect(try three.why("node1").hint?.contains("lanyard status") ?? false, "waiting would not help")
                let hint = try #require(try three.status().warnings.first { $0.code == "forked" }?.hint)
                for step in ["lanyard export", "revoke", "data folder", "join", "lanyard wait", "lanyard import"] {
                    #expect(hint.contains(step), "\(hint)")
                }

                let saved = old + ".tar"
                defer { try? FileManager.default.removeItem(atPath: saved) }
                try three.lanyard("export", saved)
                try one.lanyard("devices", "revoke", "node3", "--yes")
                try rig("stop", "3")
                try three.removeData()
                try rig("start", "3")
                try three.join(through: one)
                try three.lanyard("wait", "--connected", "--peers", "1")
                let summary = try three.lanyard("import", saved).output
                #expect(summary.contains("note/both"), "what differs is named, and left: \(summary)")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(30))
                for number in 1...3 {
                    let node = rig.node(number)
                    #expect(try node.lanyard("get", "note/both").output.contains("said to two, and more"))
                    #expect(try node.lanyard("get", "note/own").output.contains("of its own"))
                    #expect(try node.events("own").count == 3)
                    #expect(try !warns(node, "forked"))
                }
            }
        }

        /// It starts with less than it had, gets all of it back, and goes on.
        private func expectReturn(_ rig: Rig, _ node: Node, _ digest: String, events: [String: Int]) throws {
            try rig("isolate", "\(node.number)")
            try rig("start", "\(node.number)")
            let streams = events.keys.sorted()
            let held = try streams.map { try node.events($0).count }
            #expect(held.reduce(0, +) < events.values.reduce(0, +), "it lacks something: \(held)")
            // Before anything can have come back: under a new history, or it would contradict what the others hold.
            try node.emit(5, to: "anew")
            try rig("heal")
            try rig.waitUntilAgree([1, 2, 3], within: .seconds(30))
            for number in 1...3 {
                for stream in streams { #expect(try rig.node(number).events(stream).count == events[stream]) }
                #expect(try rig.node(number).events("anew").count == 5)
            }
            #expect(try rig.node(1).digest() != digest)
            #expect(try warns(node, "own_changes_returned") && !warns(node, "duplicate_identity"))
            #expect(try lines(of: node, Self.returned) == 1, "one clear message")
            #expect(try node.run(["lanyard", "doctor", "--deep"]).output.contains("store"))
            try node.emit(5, to: "anew")
            try rig.waitUntilAgree([1, 2, 3], within: .seconds(10))
        }

        private func warns(_ node: Node, _ code: String) throws -> Bool {
            try node.status().warnings.contains { $0.code == code }
        }

        private func lines(of node: Node, _ text: String) throws -> Int {
            try node.rig("log", "\(node.number)").lines.count { $0.contains(text) }
        }

        // MARK: Directories

        /// As somebody copies a disk while its machine runs: of one moment.
        private func copyData(of node: Node, to other: Node) throws {
            try node.rig("pause", "\(node.number)")
            try run(
                "rm -rf '\(try other.dataFolder())' && cp -a '\(try node.dataFolder())' '\(try other.dataFolder())'")
            try node.rig("resume", "\(node.number)")
        }

        private func keepData(of node: Node) throws -> String {
            let place = FileManager.default.temporaryDirectory.appending(path: "lanyard-\(UUID().uuidString)").path
            try run("cp -a '\(try node.dataFolder())' '\(place)'")
            return place
        }

        /// Keeps the disk of a machine, with what is in its memory beside it.
        private func keepMachine(_ node: Node) throws -> String {
            try node.rig("stop", "\(node.number)")
            let old = try keepData(of: node)
            try node.shell("cp -a /run/lanyard /run/lanyard-then")
            try node.rig("start", "\(node.number)")
            return old
        }

        /// As a virtual machine is put back; its agent is to be started.
        private func putBackMachine(_ old: String, to node: Node) throws {
            try node.rig("kill", "\(node.number)")
            try putBack(old, to: node)
            try node.shell("rm -rf /run/lanyard/* && cp -a /run/lanyard-then/. /run/lanyard/")
        }

        private func putBack(_ place: String, to node: Node) throws {
            try run("rm -rf '\(try node.dataFolder())' && cp -a '\(place)' '\(try node.dataFolder())'")
        }

        private func run(_ command: String) throws {
            let outcome = try Shell.run(["bash", "-c", command], environment: [:])
            guard outcome.status == 0 else { throw RigError(description: "\(command): \(outcome.errors)") }
        }
    }
}
