import Foundation
import Testing

extension RigSuites {
    /// A device that was stolen, and an admin who says so: who is in, and what counts, on all devices.
    @Suite struct RevocationStories {
        /// Notes and events in turn, each its own change, until one is refused.
        private static let writing = """
            number=0
            while :; do
                number=$((number + 1))
                lanyard put "note/n$number" "{\\"number\\":$number}" -q &&
                    lanyard emit loot "{\\"from\\":\\"node5\\",\\"number\\":$number}" -q || exit $?
            done
            """

        @Test func `a device that is revoked while it writes is out at once, wherever the word arrives`() throws {
            try Rig.with(5) { rig in
                let (one, two, five) = (rig.node(1), rig.node(2), rig.node(5))
                try one.put("note/start", ["number": 0])
                try one.setRole("admin", of: "node2")
                try rig.waitUntilRole("admin", of: "node2", on: [1, 2, 3, 4, 5])
                let tags = try announcedTags(at: one)
                #expect(tags.keys.sorted() == (1...5).map { "node\($0)" } && Set(tags.values).count == 1, "\(tags)")
                // So that something is always on its way.
                try rig("link", "5", "--delay", "50")
                let writer = try Terminal(five, ["sh", "-c", Self.writing])
                try eventually(within: .seconds(30), "node2 has ten of the notes, and all are connected") {
                    let sessions = try rig.ask([1, 2, 3, 4]) { try $0.connected().contains("node5") }
                    return try sessions.allSatisfy { $0 } && two.list("note").count > 10
                }
                let (stolen, began) = (try five.id(), Date())
                let command = try Terminal(two, ["lanyard", "devices", "revoke", "node5", "--yes", "--json"])
                try eventually(within: .seconds(10), "node2 says that node5 is revoked") {
                    try two.member("node5").state == "revoked"
                }
                let took = try eventually(within: .seconds(10), "nobody has a session with node5") {
                    let sessions = try rig.ask([1, 2, 3, 4, 5]) { try $0.connected() }
                    return sessions[4].isEmpty && sessions.prefix(4).allSatisfy { !$0.contains("node5") }
                }
                #expect(took <= .seconds(1), "\(milliseconds(took)) ms after node2 said so")
                let times = try timesOut(of: stolen, after: began, rig)
                print("    sessions with node5 ended \(times) ms after the command was typed")
                #expect(times.allSatisfy { (0...1_000).contains($0) }, "\(times) ms after the command was typed")
                let outcome = try command.end(within: .seconds(10))
                #expect(outcome.status == 0, "\(outcome.errors)")
                try expectReceipts(try two.decode(RevocationAnswer.self, outcome.output), rig)
                let end = try writer.end(within: .seconds(10))
                #expect(end.status == 4 && end.errors.contains("revoked"), "\(end.status): \(end.errors)")
                try expectToldItself(five, by: "node2")
                try expectOnePast(of: five, rig)
                try eventually(within: .seconds(30), "the members announce a tag that the stolen device cannot make") {
                    let now = try announcedTags(at: one)
                    let others = Set((1...4).map { now["node\($0)"] })
                    return others.count == 1 && !others.contains(nil) && !others.contains(tags["node1"])
                        && now["node5"] == tags["node5"]
                }
            }
        }

        /// Returns the tag in the mDNS record of each node that a node sees, by the name of its machine.
        private func announcedTags(at node: Node) throws -> [String: String] {
            let lines = try node.run(["avahi-browse", "-rpt", "_lanyard._tcp"]).output.split(separator: "\n")
            var tags: [String: String] = [:]
            for fields in lines.map({ $0.split(separator: ";", omittingEmptySubsequences: false) })
            where fields.count == 10 && fields[0] == "=" && fields[2] == "IPv4" {
                let machine = fields[6].prefix { $0 != "." }
                tags[String(machine)] = fields[9].split(separator: "\"").first { $0.hasPrefix("t=") }.map(String.init)
            }
            return tags
        }

        /// Returns how many milliseconds after a moment each of the others closed its last session with the device, by the log of
        /// its agent. Asking would take as long as what is measured: five commands at once, again and again, on few cores.
        private func timesOut(of device: String, after moment: Date, _ rig: Rig) throws -> [Int64] {
            let peer = "peer.id=\(device.prefix(7))"
            return try rig.ask([1, 2, 3, 4]) { node in
                let lines = try node.rig("log", "\(node.number)").output.split(separator: "\n")
                let last = lines.last { $0.contains(" A peer left. ") && $0.contains(peer) }
                guard let time = last?.split(separator: " ").first else {
                    throw RigError(description: "the log of \(node.name) tells of no end of a session with \(peer)")
                }
                let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
                return Int64(try style.parse(String(time)).timeIntervalSince(moment) * 1_000)
            }
        }

        /// The answer, and then all devices, tell which of them have heard; the log of trust has the line.
        private func expectReceipts(_ answer: RevocationAnswer, _ rig: Rig) throws {
            let ids = try rig.ask([1, 2, 3, 4]) { try $0.id() }
            let stolen = try rig.node(5).id()
            #expect(answer.device == stolen)
            #expect(answer.heard.contains(ids[1]) && Set(answer.heard).isDisjoint(with: answer.waitingFor))
            #expect(Set(answer.heard + answer.waitingFor) == Set(ids))
            try eventually(within: .seconds(60), "all four know that all four have heard") {
                try rig.ask([1, 2, 3, 4]) { try $0.member("node5") }.allSatisfy {
                    Set($0.heard ?? []) == Set(ids) && $0.waitingFor == [] && $0.revokedBy == ids[1]
                }
            }
            for log in try rig.ask([1, 2, 3, 4], { try $0.trustLog() }) {
                let lines = log.filter { $0.action == "revoked" }
                #expect(lines.map(\.author) == [ids[1]] && lines.map(\.device) == [stolen])
                #expect(lines.allSatisfy { $0.inEffect && $0.byRecoveryKey == false })
                #expect(log.contains { $0.action == "roleGiven" && $0.device == ids[1] && $0.role == "admin" })
            }
            #expect(try rig.node(3).lanyard("devices", "log").output.contains("revoked"))
        }

        /// The command line of the stolen device says what happened, and by whom.
        private func expectToldItself(_ node: Node, by author: String) throws {
            try eventually(within: .seconds(10), "\(node.name) says that it was revoked") {
                try node.warning("revoked") != nil
            }
            let sentence = try node.warning("revoked") ?? ""
            #expect(sentence.contains("revoked by \(author)"), "\(sentence)")
            #expect(try node.lanyard("status").output.contains("revoked"))
            let why = try node.why()
            #expect(why.firstBroken?.detail?.contains("revoked") == true, "\(why)")
            #expect(why.hint?.isEmpty == false)
            let refusal = try node.expectRefusal(["put", "note/late", "{}"], code: "read_only", exit: 4)
            #expect(refusal?.error.message.contains("revoked by \(author)") == true, "\(refusal as Any)")
            try node.expectRefusal(["emit", "loot", "{}"], code: "read_only", exit: 4)
        }

        /// The others hold one beginning of what the device wrote, each the same, and it stays away.
        private func expectOnePast(of stolen: Node, _ rig: Rig) throws {
            let others = [1, 2, 3, 4]
            try rig.inStep(others, within: .seconds(10))
            let written = try stolen.list("note").count - 1
            let lists = try rig.ask(others) { Set(try $0.list("note").map(\.id)) }
            let events = try rig.ask(others) { try $0.events("loot").compactMap(\.payload.number) }
            let count = lists[0].count - 1
            print("    \(written) notes were written, \(count) count")
            #expect(count > 0 && count <= written)
            let expected = Set(["start"] + (1...max(1, count)).map { "n\($0)" })
            #expect(lists.allSatisfy { $0 == expected }, "\(lists)")
            // A note and its event are written in turn.
            #expect(events.allSatisfy { $0 == events[0] && [count - 1, count].contains($0.count) }, "\(events)")
            #expect(events[0] == Array(1...max(1, events[0].count)))
            if written > count { try rig.expectAbsent("note/n\(written)", on: others) }
            for page in try rig.ask(others, { try $0.review("node5") }) {
                let void = page.entries.compactMap(\.id)
                #expect(expected.isDisjoint(with: void), "what counts is not listed as void: \(void)")
            }
            let until = ContinuousClock.now + .seconds(3)
            repeat {
                let sessions = try rig.ask(others) { try $0.connected() }
                #expect(sessions.allSatisfy { $0.count == 3 && !$0.contains("node5") }, "\(sessions)")
            } while ContinuousClock.now < until
        }

        @Test func `a node that met only the revoked one comes back with its own work, and none of the thief's`()
            throws
        {
            try Rig.with(5) { rig in
                let (one, two, four, five) = (rig.node(1), rig.node(2), rig.node(4), rig.node(5))
                let others = [1, 2, 3, 4]
                try one.setRole("admin", of: "node2")
                try one.put("note/shared", ["title": "trip", "place": "Rome"])
                try five.put("note/early", ["title": "before"])
                try rig.waitUntilRole("admin", of: "node2", on: [1, 2, 3, 4, 5])
                try rig.inStep([1, 2, 3, 4, 5], within: .seconds(20))
                for number in 1...3 {
                    try rig("cut", "4", "\(number)")
                    try rig("cut", "5", "\(number)")
                }
                _ = try two.revoke("node5")
                try rig.waitUntilRevoked("node5", on: [1, 2, 3])
                try five.edit("note/shared", "place=Oslo")
                for number in 1...3 { try five.put("note/late\(number)", ["title": "after"]) }
                try five.delete("note/early")
                try five.setSchema("plunder", ["fields": ["pieces": "counter"]])
                try five.emit(3, to: "late")
                try eventually(within: .seconds(20), "node4 has what the revoked one wrote") {
                    try four.events("late").count == 3 && four.list("note").count == 4
                        && four.fields("note/shared")["place"] == "Oslo"
                }
                try four.edit("note/shared", "title=journey")
                try four.put("note/mine", ["title": "written apart"])
                try four.emit(2, to: "mine")
                try rig("stop", "5")
                try rig("heal")
                try eventually(within: .seconds(30), "what was written apart is on all four") {
                    try rig.ask(others) { Set(try $0.list("note").map(\.id)) }.allSatisfy {
                        $0 == ["shared", "early", "mine"]
                    }
                }
                try rig.inStep(others, within: .seconds(10))
                try expectNothingLate(rig)
                // The thief itself, back among them.
                try rig("start", "5")
                try expectToldItself(five, by: "node2")
                try rig.inStep(others, within: .seconds(10))
                try expectNothingLate(rig)
                #expect(try rig.ask(others) { try $0.connected() }.allSatisfy { !$0.contains("node5") })
            }
        }

        private func expectNothingLate(_ rig: Rig) throws {
            let others = [1, 2, 3, 4]
            #expect(try rig.show(others, "note/shared", ["title": "journey", "place": "Rome"]))
            #expect(try rig.show(others, "note/mine", ["title": "written apart"]))
            #expect(try rig.show(others, "note/early", ["title": "before"]), "its deletion does not count")
            for number in 1...3 { try rig.expectAbsent("note/late\(number)", on: others) }
            for node in others.map(rig.node) {
                #expect(try node.events("late").isEmpty && node.events("mine").count == 2, "\(node.name)")
                try node.expectRefusal(["schema", "show", "plunder"], code: "unknown_collection", exit: 3)
                #expect(try node.member("node5").state == "revoked")
            }
        }

        @Test func `a thief that revoked everybody is out by one command with the recovery key, and all follow`()
            throws
        {
            try Rig.with(5) { rig in
                let (one, five) = (rig.node(1), rig.node(5))
                let key = try makeThief(rig)
                // The founder is away when the thief, which holds node5, speaks to the others.
                try rig("isolate", "1")
                _ = try five.revoke("node1")
                try rig.waitUntilRevoked("node1", on: [2, 3, 4])
                try five.put("note/planted", ["title": "by the thief"])
                try eventually(within: .seconds(20), "the others take it") {
                    try rig.ask([2, 3, 4]) { try $0.list("note").count }.allSatisfy { $0 == 2 }
                }
                for number in 2...4 { _ = try five.revoke("node\(number)") }
                try rig.waitUntilOut([2, 3, 4])
                _ = try one.revoke("node5")
                try rig("heal")
                try eventually(within: .seconds(60), "they have met: nobody has a session, and node1 is told why") {
                    let sessions = try rig.ask([1, 2, 3, 4, 5]) { try $0.connected() }
                    let why = try one.why("node2").firstBroken?.detail ?? ""
                    return sessions.allSatisfy(\.isEmpty) && why.contains("revoked")
                }
                try expectRecovery(with: key, rig)
                try rig.expectAbsent("note/planted", on: [1, 2, 3, 4])
                // A device that the thief revoked knows what it said.
                let (log, id) = (try rig.node(3).trustLog(), try five.id())
                #expect(log.contains { $0.action == "revoked" && $0.author == id })
            }
        }

        @Test func `a thief that revoked everybody while it was alone is out, and the recovery key leaves no doubt`()
            throws
        {
            try Rig.with(5) { rig in
                let (one, five) = (rig.node(1), rig.node(5))
                let key = try makeThief(rig)
                try rig("isolate", "5")
                for number in 1...4 { _ = try five.revoke("node\(number)") }
                _ = try one.revoke("node5")
                try rig.waitUntilRevoked("node5", on: [1, 2, 3, 4])
                try rig("heal")
                try expectRecovery(with: key, rig)
            }
        }

        /// Five nodes with a recovery key, in step, of which the fifth was made an admin.
        /// - Returns: the key.
        private func makeThief(_ rig: Rig) throws -> String {
            let all = [1, 2, 3, 4, 5]
            let key = try rig.node(1).makeRecoveryKey()
            try rig.node(1).setRole("admin", of: "node5")
            try rig.node(1).put("note/ours", ["title": "kept"])
            try rig.waitUntilRole("admin", of: "node5", on: all)
            try eventually(within: .seconds(20), "all know that there is a key") {
                try rig.ask(all) { try $0.hasRecoveryKey() }.allSatisfy { $0 }
            }
            try rig.inStep(all, within: .seconds(20))
            return key
        }

        /// One command on node 1, and nothing anywhere else: the thief is out, all others are in and in step.
        private func expectRecovery(with key: String, _ rig: Rig) throws {
            let (one, five, others) = (rig.node(1), rig.node(5), [1, 2, 3, 4])
            let answer = try one.lanyard(
                "recovery", "use", "revoke", "node5", "-", "--yes", "--json", input: key + "\n")
            #expect(try one.decode(RevocationAnswer.self, answer.output).device == five.id())
            try eventually(within: .seconds(60), "all others are connected, by themselves") {
                try rig.ask(others) { try $0.connected() }.allSatisfy { $0.count == 3 && !$0.contains("node5") }
            }
            try rig.inStep(others, within: .seconds(30))
            for node in others.map(rig.node) {
                let revoked = try node.members().filter { $0.state == "revoked" }.map(\.name)
                #expect(revoked == ["node5"], "\(node.name)")
                #expect(try node.member("node1").role == "admin", "\(node.name)")
                #expect(try node.warning("revoked") == nil, "\(node.name)")
                // What the thief said is listed where it came, and has no effect.
                let log = try node.trustLog().filter { $0.action == "revoked" }
                let (ended, id) = (log.filter { $0.byRecoveryKey == true }, try five.id())
                #expect(ended.map(\.device) == [id] && ended.allSatisfy(\.inEffect), "\(node.name): \(ended)")
                #expect(log.filter { $0.author == id }.allSatisfy { !$0.inEffect }, "\(node.name): \(log)")
                try node.put("note/after\(node.number)", ["title": "written again"])
            }
            try rig.inStep(others, within: .seconds(10))
            for number in others { #expect(try rig.show(others, "note/after\(number)", ["title": "written again"])) }
            #expect(try rig.show(others, "note/ours", ["title": "kept"]))
            // Each side refuses the other, so neither dials: the thief is not told.
            #expect(try rig.ask(others) { try $0.connected() }.allSatisfy { !$0.contains("node5") })
            #expect(try five.connected().isEmpty)
        }

        @Test func `what a revoked device wrote is reviewed, and an admin takes one object back`() throws {
            try Rig.with(3) { rig in
                let (one, two, three) = (rig.node(1), rig.node(2), rig.node(3))
                try one.put("note/shared", ["title": "trip", "place": "Rome"])
                try rig.inStep(within: .seconds(20))
                try rig("isolate", "1")
                _ = try one.revoke("node3")
                try three.edit("note/shared", "place=Oslo")
                for name in ["own", "other"] { try three.put("note/\(name)", ["title": "written late"]) }
                try three.emit(2, to: "diary")
                try eventually(within: .seconds(20), "node2, which has not heard, takes it") {
                    try two.list("note").count == 3 && two.events("diary").count == 2
                }
                let stolen = try three.id()
                try rig("stop", "3")
                try rig("heal")
                try eventually(within: .seconds(30), "it counts nowhere, and is listed on both") {
                    try rig.ask([1, 2]) { node in
                        try node.list("note").map(\.id) == ["shared"]
                            && node.review("node3").entries.count(where: { $0.kind == "event" }) == 2
                    }.allSatisfy { $0 }
                }
                try rig.inStep([1, 2], within: .seconds(10))
                #expect(try rig.show([1, 2], "note/shared", ["title": "trip", "place": "Rome"]))
                let page = try one.review("node3")
                #expect(page.device == stolen && page.next == nil && !page.dropped)
                let objects = page.entries.compactMap(\.object)
                #expect(Set(objects) == ["note/shared", "note/own", "note/other"], "\(objects)")
                #expect(page.entries.filter { $0.kind == "event" }.map(\.stream) == ["diary", "diary"])
                #expect(page.entries.first { $0.object == "note/shared" }?.fields == ["place"])
                let shown = try one.lanyard("devices", "review", "node3")
                #expect(shown.output.contains("note/own") && shown.output.contains("diary"), "\(shown.output)")
                let advice = shown.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(advice.contains("lanyard devices accept node3 note/"), "\(advice)")
                try accept(rig)
                try rig("start", "3")
                try expectToldItself(three, by: "node1")
                #expect(try rig.ask([1, 2]) { try $0.connected() }.allSatisfy { !$0.contains("node3") })
            }
        }

        private func accept(_ rig: Rig) throws {
            let (one, two) = (rig.node(1), rig.node(2))
            func accepted(_ object: String) throws -> Acceptance.Object {
                let answer = try one.lanyard("devices", "accept", "node3", object, "--json").output
                return try #require(try one.decode(Acceptance.self, answer).objects.first)
            }
            try two.expectRefusal(["devices", "accept", "node3", "note/own"], code: "forbidden", exit: 4)
            let created = try accepted("note/own")
            #expect(created.action == "created" && created.fields == ["title"] && created.version != nil)
            try rig.inStep([1, 2], within: .seconds(10))
            #expect(try rig.show([1, 2], "note/own", ["title": "written late"]))
            try rig.expectAbsent("note/other", on: [1, 2])
            #expect(try rig.show([1, 2], "note/shared", ["title": "trip", "place": "Rome"]), "one was asked for")
            #expect(try accepted("note/shared").action == "edited")
            try rig.inStep([1, 2], within: .seconds(10))
            #expect(try rig.show([1, 2], "note/shared", ["title": "trip", "place": "Oslo"]))
            let changes = try one.homeChanges()
            let again = try accepted("note/own")
            #expect(again.action == "none" && again.code == "already_exists", "\(again)")
            #expect(try one.homeChanges() == changes)
            let never = try one.run(["lanyard", "devices", "accept", "node3", "note/never", "--json"])
            #expect(never.status == 3 && never.errors.contains("not_found"), "\(never)")
            let marks = try two.review("node3").entries.filter { $0.kind == "object" }
            #expect(Set(marks.filter { $0.accepted == true }.compactMap(\.object)) == ["note/own", "note/shared"])
            #expect(try rig.ask([1, 2]) { try $0.events("diary").count } == [0, 0], "events are only listed")
        }

        @Test func `a stolen device that is told to wipe itself has nothing left, and says so`() throws {
            try Rig.with(3) { rig in
                let (one, two, three) = (rig.node(1), rig.node(2), rig.node(3))
                let secret = "the safe opens at \(UUID().uuidString)"
                try one.put("note/secret", ["title": .text(secret)])
                let file = try one.makeFile("plan.bin", bytes: Bytes.mebi)
                let plan = try one.attach("note/secret", file)
                try three.emit(5, to: "diary")
                try rig.waitUntilPresent(plan, of: "note/secret", within: .seconds(30))
                try rig.inStep(within: .seconds(20))
                #expect(try !three.blobFiles().isEmpty)
                try rig("stop", "3")
                let answer = try one.revoke("node3", "--wipe")
                let others = try rig.ask([1, 2]) { try $0.id() }
                #expect(Set(answer.heard + answer.waitingFor) == Set(others), "the stolen one is not waited for")
                try rig.waitUntilRevoked("node3", on: [1, 2])
                try rig("start", "3")
                try eventually(within: .seconds(30), "node3 says that it was wiped") {
                    // The agent begins anew in between.
                    (try? three.warning("wiped")) != nil
                }
                try expectWiped(three, secret)
                // Brought to one or both, the receipt is known to all.
                try eventually(within: .seconds(30), "node3's receipt is on both others") {
                    try rig.ask([1, 2]) { try $0.member("node3").wipedAt != nil }.allSatisfy { $0 }
                }
                let table = try two.run(["lanyard", "devices"]).output
                #expect(table.contains("revoked, wiped"), "\(table)")
                try rig("stop", "3")
                try rig("start", "3")
                try expectWiped(three, secret)
                try rig.inStep([1, 2], within: .seconds(10))
                #expect(try rig.show([1, 2], "note/secret", ["title": .text(secret)]))
                for node in [1, 2].map(rig.node) {
                    #expect(try node.member("node3").state == "revoked" && !node.connected().contains("node3"))
                    #expect(try node.events("diary").count == 5, "what it wrote before counts")
                    #expect(try node.attachment(plan.id, of: "note/secret")?.state == .present)
                }
                // Found again: what its status advises.
                try three.join(through: one)
                try rig.inStep(within: .seconds(30))
                #expect(try rig.show([1, 2, 3], "note/secret", ["title": .text(secret)]))
                #expect(try three.warning("wiped") == nil && three.warning("revoked") == nil)
                #expect(try one.member("node3").wipedAt == nil)
                try three.put("note/back", ["title": "in again"])
                try rig.inStep(within: .seconds(10))
                #expect(try rig.show([1, 2, 3], "note/back", ["title": "in again"]))
            }
        }

        private func expectWiped(_ node: Node, _ secret: String) throws {
            let sentence = try node.warning("wiped") ?? ""
            #expect(sentence.contains("node1 revoked this device"), "\(sentence)")
            try node.expectRefusal(["list", "note"], code: "unknown_collection", exit: 3)
            #expect(try node.run(["lanyard", "get", "note/secret"]).status == 3)
            #expect(try node.events("diary").isEmpty && node.attachments().isEmpty)
            #expect(try node.status().peers.paired == 0 && node.connected().isEmpty)
            #expect(try node.blobFiles().isEmpty)
            let found = try node.run(["sh", "-c", "grep -rlF '\(secret)' \"$LANYARD_DATA_DIR\""])
            #expect(found.status == 1, "\(found.output)\(found.errors)")
        }
    }
}
