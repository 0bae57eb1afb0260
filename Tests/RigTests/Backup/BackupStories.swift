import Foundation
import Testing

extension RigSuites {
    /// All of a node in one file, and back.
    @Suite struct BackupStories {
        @Test func `a node put back to a backup made while it wrote loses nothing, and goes on`() throws {
            try Rig.with(3) { rig in
                let node = rig.node(2)
                try node.put("album/a", ["title": "before"])
                let large = try node.makeFile("large.bin", bytes: 5 * Bytes.mebi)
                let attached = try node.attach("album/a", large)
                try rig.inStep()
                // Writes go on while it is made.
                try node.shell(
                    """
                    (n=0; while [ ! -e "$HOME/stop-writing" ]; do n=$((n + 1)); lanyard emit busy "{\\"n\\":$n}" -q || exit 1; done) &
                    writer=$!
                    lanyard backup "$HOME/saved" -q --force || exit 1
                    touch "$HOME/stop-writing"
                    wait $writer || exit 1
                    rm "$HOME/stop-writing"
                    [ "$(stat -c %a "$HOME/saved")" = 600 ]
                    """)
                // Later, and only on the others from tomorrow's point of view.
                try node.put("album/a", ["title": "after"])
                try node.put("album/later", ["own": true])
                try node.emit(20, to: "later")
                try rig.inStep()
                let wanted = try rig.node(1).events("busy").count
                let digest = try rig.node(1).digest()

                try rig("kill", "2")
                try node.expectRefusal(
                    ["restore", try home(node) + "/saved"], code: "already_exists", exit: 4)
                try node.lanyard("restore", try home(node) + "/saved", "--force")
                try rig("start", "2")
                try rig.waitUntilAgree([1, 2, 3], within: .seconds(30))
                #expect(try node.digest() == digest, "its own later changes came back")
                let warnings = try node.status().warnings.map(\.code)
                #expect(!warnings.contains("own_changes_returned"), "that was what the restore was for")
                #expect(try node.events("busy").count == wanted)
                #expect(try node.events("later").count == 20)
                #expect(try node.fields("album/a")["title"] == "after")
                try rig.expectContent(attached, of: "album/a", large)
                // And it goes on.
                try node.put("album/later", ["own": "again"])
                try node.emit(5, to: "later")
                try rig.inStep()
                for number in 1...3 {
                    #expect(try rig.node(number).events("later").count == 25)
                    #expect(try rig.node(number).status().warnings.allSatisfy { $0.code != "duplicate_identity" })
                }
            }
        }

        @Test func `a machine that is gone lives on in another one`() throws {
            try Rig.with(2) { rig in
                try rig.node(2).put("album/a", ["title": "old machine"])
                try rig.inStep([1, 2])
                let device = try rig.node(2).status().device.id
                let fresh = try rig.add()
                try rig("stop", "\(fresh.number)")
                let saved = FileManager.default.temporaryDirectory.appending(path: "lanyard-\(UUID().uuidString)")
                defer { try? FileManager.default.removeItem(at: saved) }
                try rig.node(2).shell("lanyard backup '\(saved.path)' -q")
                try rig("kill", "2")
                try fresh.lanyard("restore", saved.path, "--force", "-q")
                try rig("start", "\(fresh.number)")
                try rig.waitUntilAgree([1, fresh.number], within: .seconds(30))
                #expect(try fresh.status().device.id == device)
                try fresh.put("album/b", ["title": "new machine"])
                try rig.waitUntilAgree([1, fresh.number], within: .seconds(10))
                #expect(try rig.node(1).fields("album/b")["title"] == "new machine")
            }
        }

        private func home(_ node: Node) throws -> String {
            try node.output("echo \"$HOME\"").trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}
