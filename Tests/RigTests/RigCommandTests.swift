import Foundation
import Testing

extension RigSuites {
    /// The rig itself: other tests rely on it.
    @Suite struct RigCommandTests {
        @Test func `exec passes arguments, input, output and exit code unaltered`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let odd = ["", "two words", "*", "$HOME", "a\"b'c", "--flag", "é"]
                let printed = try rig.node(1).run(["printf", "%s|"] + odd)
                #expect(printed.output == odd.joined(separator: "|") + "|")
                let copied = try rig.node(1).run(["sh", "-c", "cat; echo aside >&2; exit 42"], input: "through\n")
                #expect(copied.output == "through\n")
                #expect(copied.errors == "aside\n")
                #expect(copied.status == 42)
                #expect(try rig.node(1).run(["hostname"]).output == "node1\n")
            }
        }

        @Test func `every node has processes, interfaces and a run directory of its own`() throws {
            try Rig.with(2, "--no-pair") { rig in
                #expect(try rig.node(1).run(["sh", "-c", "touch /run/mine; pgrep -c lanyardd"]).output == "1\n")
                #expect(try rig.node(2).run(["test", "-e", "/run/mine"]).status == 1)
                let interfaces = try rig.node(2).run(["ls", "/sys/class/net"]).lines
                #expect(interfaces.sorted() == ["eth0", "lo"])
            }
        }

        @Test func `two rigs side by side do not hear each other`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let other = ["RIG": "other"]
                defer { _ = try? Shell.run(["deploy/rig", "down"], environment: other) }
                let up = try Shell.run(["deploy/rig", "up", "1", "--no-pair"], environment: other)
                #expect(up.status == 0, "\(up.errors)")
                silence(seconds: 2)
                #expect(try rig.node(1).status().peers.discovered == 0)
            }
        }

        @Test func `nothing is left after down, also when up was killed half-way`() throws {
            for pauseSeconds in [0.05, 0.2, 0.5] {
                let folder = try Shell.temporaryFolder()
                defer { try? FileManager.default.removeItem(at: folder) }
                let up = try Shell.start(
                    ["deploy/rig", "up", "2"], output: folder.appending(path: "out"),
                    errors: folder.appending(path: "err"), environment: Rig.environment, limitSeconds: nil)
                Thread.sleep(forTimeInterval: pauseSeconds)
                kill(up.processIdentifier, SIGKILL)
                up.waitUntilExit()
                _ = try Shell.run(["deploy/rig", "down"], environment: Rig.environment)
                #expect(!FileManager.default.fileExists(atPath: "/tmp/lanyard-rig-\(Rig.name)"))
                let left = try Shell.run(["pgrep", "-af", "lanyard-rig-\(Rig.name)"], environment: [:])
                #expect(left.lines.filter { !$0.contains("pgrep") }.isEmpty, "\(left.output)")
            }
        }

        @Test func `a slow cable is slow, and plain again when told`() throws {
            try Rig.with(2) { rig in
                try rig("link", "2", "--delay", "100")
                #expect(try requestMilliseconds(rig) >= 200, "there and back")
                try rig("link", "2")
                #expect(try requestMilliseconds(rig) < 100)
            }
        }

        /// How long a TCP connection from node 1 to node 2's port takes to stand.
        private func requestMilliseconds(_ rig: Rig) throws -> Double {
            let outcome = try rig.node(1).run([
                "curl", "--silent", "--output", "/dev/null", "--max-time", "5", "--write-out", "%{time_connect}",
                "http://\(rig.node(2).address):21817/",
            ])
            return try #require(Double(outcome.output)) * 1_000
        }

        @Test func `a node without power keeps what was synced, and loses what was not`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let node = try rig.add("--disk", "64", "--ext4")
                try node.shell("cd \"$LANYARD_DATA_DIR\" && echo kept >kept && sync kept")
                let dot = try node.decode(Emitted.self, try node.lanyard("emit", "s", "{}", "--json").output).first
                // The last of all: ext4's journal may take other files along with whatever is synced.
                try node.shell("head -c 1M /dev/zero >\"$LANYARD_DATA_DIR/lost\"")
                try rig("unplug", "\(node.number)")
                #expect(try node.run(["lanyard", "status"]).status == 5, "its agent is gone")
                try rig("start", "\(node.number)")
                #expect(try node.events("s").map(\.dot) == [dot], "an acknowledged event")
                let files = try node.run(["sh", "-c", "ls \"$LANYARD_DATA_DIR\""]).lines
                #expect(files.contains("kept") && !files.contains("lost"), "\(files)")
                #expect(try rig.attempt(["unplug", "1"]).status == 1, "its disk is the machine's")
            }
        }

        @Test func `an agent started with options keeps them, and goes back when told`() throws {
            try Rig.with(1, "--no-pair") { rig in
                func names() throws -> Bool {
                    try rig.node(1).run(["sh", "-c", "tr '\\0' '\\n' </proc/$(pgrep -o lanyardd)/cmdline"]).lines
                        .contains("another name")
                }
                #expect(try rig.attempt(["start", "1", "--", "--name", "x"]).status == 1, "it runs")
                try rig("stop", "1")
                try rig("start", "1", "--", "--name", "another name")
                try rig("kill", "1")
                try rig("start", "1")
                #expect(try names())
                try rig("stop", "1")
                try rig("start", "1", "--")
                #expect(try !names())
            }
        }

        @Test func `clock shifts the wall clock of one node and leaves the monotonic one alone`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let script = "import time; print(time.time(), time.monotonic())"
                func clocks() throws -> [Double] {
                    try rig.node(1).run(["python3", "-c", script]).output.split(separator: " ")
                        .compactMap { Double($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
                }
                let before = try clocks()
                try rig("clock", "1", "+1h")
                let after = try clocks()
                try #require(before.count == 2 && after.count == 2)
                #expect((3_590...3_660).contains(after[0] - before[0]))
                #expect((0...60).contains(after[1] - before[1]))
            }
        }
    }
}
