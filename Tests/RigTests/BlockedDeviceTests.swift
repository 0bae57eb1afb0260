import Foundation
import Testing

extension RigSuites {
    /// A device that was stolen: kept away by each of the others, for as long as each of them says so.
    @Suite struct BlockedDeviceTests {
        private struct Device: Decodable {
            let id: String
            let name: String
            let state: String
        }

        private struct Blocked: Decodable {
            let device: Device
            let through: [Device]
        }

        private func state(of name: String, at node: Node) throws -> String? {
            try node.decode([Device].self, try node.lanyard("devices", "--json").output).first { $0.name == name }?
                .state
        }

        @Test func `a stolen device is kept away by those that block it, and what it writes comes through others only`()
            throws
        {
            try Rig.with(3) { rig in
                let (one, two, stolen) = (rig.node(1), rig.node(2), rig.node(3))
                let id = try stolen.status().device.id
                let blocked = try one.decode(
                    Blocked.self, try one.lanyard("devices", "block", id, "--yes", "--json").output)
                #expect(blocked.device.state == "blocked" && blocked.through.map(\.name) == ["node2"])
                #expect(try one.connected() == ["node2"])
                #expect(try state(of: "node3", at: one) == "blocked" && state(of: "node3", at: two) == "connected")
                #expect(try one.status().warnings.contains { $0.code == "blocked_device" })
                let why = try one.why("node3").firstBroken
                #expect(why?.link == "pairing" && why?.detail?.contains("blocked") ?? false)
                #expect(try one.why().firstBroken == nil, "that it is away is no fault")

                try stolen.put("note/stolen", ["title": "by way of node2"])
                try eventually(within: .seconds(10), "it comes through node2") {
                    try one.list("note").map(\.id) == ["stolen"]
                }
                let ticket = try one.ticket()
                #expect(try stolen.run(["lanyard", "join", "-"], input: ticket + "\n").status != 0)
                try rig("stop", "1")
                try rig("start", "1")
                try eventually(within: .seconds(15), "node1 is back") { try one.connected() == ["node2"] }

                try two.lanyard("devices", "block", "node3", "--yes")
                try eventually(within: .seconds(5), "nobody talks to it") { try stolen.connected().isEmpty }
                try stolen.put("note/late", ["title": "for nobody"])
                try one.put("note/ours", ["title": "not for it"])
                try eventually(within: .seconds(10), "the others go on") { try two.list("note").count == 2 }
                #expect(try one.list("note").count == 2 && stolen.list("note").count == 2)
                #expect(try stolen.run(["lanyard", "get", "note/ours"]).status == 3)

                for node in [one, two] { try node.lanyard("devices", "unblock", id, "--yes") }
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(20))
                #expect(try one.list("note").count == 3)
            }
        }
    }
}
