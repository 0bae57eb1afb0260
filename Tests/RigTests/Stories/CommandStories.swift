import Foundation
import Testing

extension RigSuites {
    /// Commands that need more than one machine, or one that gets into trouble.
    @Suite struct CommandStories {
        private struct Durable: Decodable {
            let version: String
            let durableOn: [String]
        }

        private struct Reader: Decodable {
            let behind: Int
        }

        private struct Ping: Decodable {
            let peer: String
            let path: String?
            let rttMilliseconds: Double?
            let durableMilliseconds: Double?
        }

        @Test func `a write waits for the disks that were asked for, stays when they are away, and can be asked after`()
            throws
        {
            try Rig.with(3) { rig in
                let one = rig.node(1)
                let all = try one.decode(
                    Durable.self,
                    try one.lanyard("put", "note/a", "{}", "--wait-for", "3", "--timeout", "30s", "--json").output)
                #expect(all.durableOn.count == 3)
                try rig("isolate", "3")
                let late = try one.run(
                    ["lanyard", "put", "note/b", "{}", "--wait-for", "3", "--timeout", "8s", "--json"])
                #expect(late.status == 6, "\(late.errors)")
                let answer = try one.decode(Durable.self, late.output)
                let own = try one.status().device.id
                #expect(Set(answer.durableOn).count == 2 && answer.durableOn.first == own)
                #expect(try rig.node(2).run(["lanyard", "get", "note/b"]).status == 0, "the write stays")
                try rig("heal")
                try one.lanyard("wait", "--written", answer.version, "--wait-for", "3", "--timeout", "60s")
                #expect(try rig.node(3).run(["lanyard", "get", "note/b"]).status == 0)
            }
        }

        @Test func `ping shows the delay of the link, and what is gone`() throws {
            try Rig.with(2) { rig in
                let one = rig.node(1)
                try rig("link", "2", "--delay", "50")
                let slow = try one.decode(
                    Ping.self, try one.lanyard("ping", "node2", "-c", "3", "--interval", "200ms", "--json").output)
                #expect(slow.peer == "node2" && slow.path?.hasPrefix("10.77.0.2:") == true)
                #expect(try #require(slow.rttMilliseconds) >= 45)
                #expect(try #require(slow.durableMilliseconds) >= 45)
                try rig("kill", "2")
                try eventually(within: .seconds(30), "a ping finds no session") {
                    try one.run(["lanyard", "ping", "node2", "-c", "1", "--timeout", "1s"]).status == 1
                }
                #expect(try one.run(["lanyard", "ping", "node9"]).status == 3)
            }
        }

        @Test func `run goes on after its agent was killed, and ends cleanly when it is told to`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let node = rig.node(1)
                let folder = FileManager.default.temporaryDirectory.appending(path: "lanyard-\(UUID().uuidString)").path
                defer { try? FileManager.default.removeItem(atPath: folder) }
                func seen() -> Int {
                    ((try? String(contentsOfFile: "\(folder)/seen", encoding: .utf8)) ?? "").split(separator: "\n")
                        .count
                }
                try node.emit(3, to: "s")
                try node.shell(
                    """
                    mkdir -p '\(folder)' && cd '\(folder)'
                    printf '#!/bin/sh\\ncat >> seen\\n' >take && chmod +x take
                    """)
                let run = try Terminal(
                    node,
                    [
                        "sh", "-c",
                        "cd '\(folder)'; lanyard run s --dead-letters '\(folder)/letters' -- ./take & "
                            + "echo $! >pid; wait $!; echo $? >end",
                    ])
                try eventually(within: .seconds(10), "three events are done") { seen() == 3 }
                // Of which the agent has heard: another would come again.
                try eventually(within: .seconds(30), "the agent knows that they are done") {
                    try node.decode([Reader].self, try node.lanyard("consumers", "--json").output).map(\.behind) == [0]
                }
                try rig("kill", "1")
                try rig("start", "1")
                try node.emit(2, to: "s")
                try eventually(within: .seconds(60), "two more are done, none twice") { seen() == 5 }
                try node.shell("kill -TERM $(cat '\(folder)/pid')")
                try eventually(within: .seconds(10), "it has ended") {
                    FileManager.default.fileExists(atPath: "\(folder)/end")
                }
                let end = try String(contentsOfFile: "\(folder)/end", encoding: .utf8)
                #expect(end == "0\n", "\(run.errors)")
            }
        }

        @Test func `a disk that is too small for a backup is told, left clean, and used once it is larger`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let node = rig.node(1)
                let large = try node.makeFile("large.bin", bytes: 2 * Bytes.mebi)
                try node.put("album/a", ["title": "kept"])
                _ = try node.attach("album/a", large)
                let disk = FileManager.default.temporaryDirectory.appending(path: "lanyard-\(UUID().uuidString)").path
                defer { try? FileManager.default.removeItem(atPath: disk) }
                try node.shell("mkdir '\(disk)' && mount -t tmpfs -o size=1m none '\(disk)'")
                let full = try node.run(["lanyard", "backup", "--to", disk, "--every", "1d", "--json"])
                #expect(full.status == 1 && full.errors.contains("disk_full"), "\(full.errors)")
                #expect(try node.output("ls -A '\(disk)'").isEmpty, "nothing unfinished is left")
                #expect(try node.status().warnings.map(\.code).contains("backup_failed"))
                try node.shell("mount -o remount,size=64m '\(disk)'")
                try node.lanyard("backup", "--now")
                #expect(try node.status().warnings.allSatisfy { !$0.code.hasPrefix("backup_") })
                let file = try node.output("ls -A '\(disk)'").trimmingCharacters(in: .whitespacesAndNewlines)
                try node.shell("lanyard restore '\(disk)/\(file)' --data-dir '\(disk)/back' -q")
                try node.shell("umount '\(disk)'")
            }
        }
    }
}
