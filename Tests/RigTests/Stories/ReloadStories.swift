import Foundation
import Testing

extension RigSuites {
    /// An agent that reads its configuration again.
    @Suite(.rig(3)) struct ReloadStories {
        private struct Discovery: Decodable {
            struct State: Decodable { let state: String }
            let discovery: State
        }

        private func discovery(of node: Node) throws -> String {
            try node.decode(Discovery.self, try node.lanyard("status", "--json").output).discovery.state
        }

        @Test func `SIGHUP and reload take over settings, also discovery, and sessions stay`() throws {
            try StoryRig.tell { rig in
                let one = rig.node(1)
                let home = try one.run(["sh", "-c", "printf %s \"$HOME\""]).output
                let file = "\(home)/reload.toml"
                func write(_ text: String) throws { try one.shell("printf '%s\\n' '\(text)' >'\(file)'") }
                /// Of this node only: others run beside it.
                func hangUp() throws {
                    try one.shell(
                        "for p in $(pidof lanyardd); do grep -qa \"$LANYARD_DATA_DIR\" /proc/$p/cmdline && kill -HUP $p; "
                            + "done; true")
                }
                func configuration() throws -> String { try one.lanyard("status", "--configuration").output }
                try write(#"upload-limit = "1M""#)
                try rig.options(["--config", file], on: [1]) {
                    try rig.waitUntilAllConnected()
                    try write(#"upload-limit = "2M""#)
                    try hangUp()
                    try eventually(within: .seconds(20), "SIGHUP takes the limit over") {
                        try configuration().contains(#"upload-limit = "2M""#)
                    }
                    try write("upload-limit = fast")
                    try hangUp()
                    try eventually(within: .seconds(20), "the log says why the file is not taken over") {
                        try one.lanyard("logs").output.contains("The configuration cannot be read again.")
                    }
                    #expect(try one.run(["lanyard", "reload"]).status != 0)
                    #expect(try configuration().contains(#"upload-limit = "2M""#))
                    try write("mdns = false")
                    let off = try one.lanyard("reload").output
                    #expect(off.contains("mdns is false now; it was true."), "\(off)")
                    #expect(Set(try one.connected()) == ["node2", "node3"], "the sessions stay")
                    try eventually(within: .seconds(20), "discovery is off") {
                        try discovery(of: one) == "off"
                    }
                    try write("mdns = true")
                    try one.lanyard("reload")
                    try eventually(within: .seconds(20), "discovery runs again") {
                        try discovery(of: one) == "running"
                    }
                    try rig("kill", "2")
                    try rig("start", "2")
                    try rig.waitUntilAllConnected()
                    try one.shell("rm '\(file)'")
                }
                try rig.inStep()
            }
        }
    }
}
