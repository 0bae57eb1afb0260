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

        /// The place of a configuration file.
        private func file(on node: Node) throws -> String {
            "\(try node.run(["sh", "-c", "printf %s \"$HOME\""]).output)/reload.toml"
        }

        private func write(_ text: String, to file: String, on node: Node) throws {
            try node.shell("printf '%s\\n' '\(text)' >'\(file)'")
        }

        /// Signals the agent of this node only: others run beside it.
        private func hangUp(_ node: Node) throws {
            try node.shell(
                "for p in $(pidof lanyardd); do grep -qa \"$LANYARD_DATA_DIR\" /proc/$p/cmdline && kill -HUP $p; "
                    + "done; true")
        }

        @Test func `a page and metrics open, move and close as the file says`() throws {
            try StoryRig.tell { rig in
                let one = rig.node(1)
                let file = try file(on: one)
                /// The status of an answer of this port; 000 where no program listens.
                func status(_ port: Int, _ path: String) throws -> String {
                    let address = "http://127.0.0.1:\(port)\(path)"
                    return try one.run(
                        ["curl", "-s", "-m", "5", "-o", "/dev/null", "-w", "%{http_code}", address]
                    ).output
                }
                func page() throws -> String { try one.run(["lanyard", "dashboard", "--print"]).output }
                try write("metrics = 8398", to: file, on: one)
                try rig.options(["--config", file], on: [1]) {
                    try eventually(within: .seconds(20), "metrics are served") {
                        try status(8398, "/metrics") == "200"
                    }
                    // The page takes the port that the metrics leave.
                    try write("metrics = 8397\ndashboard = 8398", to: file, on: one)
                    try hangUp(one)
                    try eventually(within: .seconds(20), "SIGHUP moves the metrics and opens the page") {
                        try status(8397, "/metrics") == "200" && page().hasPrefix("http://127.0.0.1:8398/?token=")
                    }
                    #expect(try status(8398, "/") == "401" && status(8398, "/metrics") == "404")
                    try write("metrics = 8397\ndashboard = 8397", to: file, on: one)
                    let refused = try one.run(["lanyard", "reload"])
                    #expect(refused.status == 1, "\(refused.output)")
                    let said = refused.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    #expect(said.contains("The dashboard cannot listen at 127.0.0.1:8397"), "\(said)")
                    #expect(said.hasSuffix("then: lanyard reload"), "\(said)")
                    #expect(try page().hasPrefix("http://127.0.0.1:8398/?token="), "the one before goes on")
                    try write("mdns = true", to: file, on: one)
                    let off = try one.lanyard("reload").output
                    #expect(off.contains("dashboard is not set any more; it was 127.0.0.1:8398."), "\(off)")
                    #expect(try status(8397, "/metrics") == "000" && status(8398, "/") == "000")
                    #expect(try page().isEmpty)
                    try one.shell("rm '\(file)'")
                }
                try rig.inStep()
            }
        }

        @Test func `an agent moves to another port and back, and the others find it by themselves`() throws {
            try StoryRig.tell { rig in
                let one = rig.node(1)
                let file = try file(on: one)
                /// True if an agent of node 1 accepts connections from node 2 at the port.
                func accepts(_ port: Int) throws -> Bool {
                    try rig.node(2).run(["bash", "-c", "exec 3<>/dev/tcp/\(one.address)/\(port)"]).status == 0
                }
                try write("mdns = true", to: file, on: one)
                try rig.options(["--config", file], on: [1]) {
                    try rig.waitUntilAllConnected()
                    try write(#"listen = "0.0.0.0:4000""#, to: file, on: one)
                    let said = try one.lanyard("reload").output
                    #expect(said == "listen is 0.0.0.0:4000 now; it was not set.\n")
                    #expect(try accepts(4000) && !accepts(21_817))
                    try rig.waitUntilAllConnected()
                    try one.emit(3, to: "moved")
                    try rig.inStep()
                    // It was told the new port, and finds the agent there when it begins anew.
                    try rig("kill", "2")
                    try one.emit(3, to: "moved")
                    try rig("start", "2")
                    try rig.waitUntilAllConnected()
                    try write("mdns = true", to: file, on: one)
                    try hangUp(one)
                    try eventually(within: .seconds(20), "SIGHUP moves it back to the usual port") {
                        try accepts(21_817) && !accepts(4000)
                    }
                    try rig.waitUntilAllConnected()
                    try rig.inStep()
                    try one.shell("rm '\(file)'")
                }
                try rig.inStep()
            }
        }

        @Test func `SIGHUP and reload take over settings, also discovery, and sessions stay`() throws {
            try StoryRig.tell { rig in
                let one = rig.node(1)
                let file = try file(on: one)
                func write(_ text: String) throws { try self.write(text, to: file, on: one) }
                func configuration() throws -> String { try one.lanyard("status", "--configuration").output }
                try write(#"upload-limit = "1M""#)
                try rig.options(["--config", file], on: [1]) {
                    try rig.waitUntilAllConnected()
                    try write(#"upload-limit = "2M""#)
                    try hangUp(one)
                    try eventually(within: .seconds(20), "SIGHUP takes the limit over") {
                        try configuration().contains(#"upload-limit = "2M""#)
                    }
                    try write("upload-limit = fast")
                    try hangUp(one)
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
