import Foundation
import Testing

extension RigSuites {
    /// Every command that the documents show is typed here, or stands below with the reason why it is not.
    @Suite struct ReadmeTests {
        /// Blocks by the command that they begin with.
        private static let elsewhere: [(command: String, reason: String)] = [
            ("./deploy/demo", "these run all tests, this one too"), ("deploy/test", "the same"),
            ("deploy/install", "it installs a service; DeployTests stage it"),
            ("deploy/package", "deploy/package.d/check builds the package"),
            ("apt install", "deploy/package.d/check installs it, on two machines"),
            ("podman compose", "it needs a container engine"),
            ("deploy/bench", "figures take minutes; deploy/bench checks itself"),
            ("deploy/containers/rig", "deploy/containers/check runs its verbs"),
            ("cd /var/lib/lanyard", "it goes back to an older program, which this checkout does not have"),
            ("lanyardd --metrics", "AlertStories and MetricsServerTests scrape"),
        ]

        private static func blocks(_ file: String) throws -> [[String]] {
            let text = try String(contentsOf: Shell.root.appending(path: file), encoding: .utf8)
            return text.components(separatedBy: "```sh\n").dropFirst().map { part in
                (part.components(separatedBy: "```").first ?? "").split(separator: "\n").map(String.init)
            }
        }

        @Test func `each block is run or has a reason`() throws {
            for file in ["README.md", "deploy/README.md", "deploy/GUIDE.md"] {
                for block in try Self.blocks(file) {
                    let first = block.first ?? ""
                    let isRun = first.contains("deploy/rig") || block.contains { $0.hasPrefix("lanyard ") }
                    #expect(isRun || Self.elsewhere.contains { first.hasPrefix($0.command) }, "\(file): \(first)")
                }
            }
        }

        @Test func `the first page fits a terminal of 60 columns, the commands unbroken`() throws {
            let text = try String(contentsOf: Shell.root.appending(path: "README.md"), encoding: .utf8)
            let page = text.components(separatedBy: "## What it does").first ?? ""
            let long = page.split(separator: "\n").filter { $0.count > 60 }
            #expect(long.isEmpty, "\(long)")
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
        }

        @Test func `what README shows works as it stands, on two machines`() throws {
            let block = try #require(try Self.blocks("README.md").first { $0.contains { $0.hasPrefix("lanyard ") } })
            try Rig.with(1) { rig in
                let (one, two) = (rig.node(1), try rig.add())
                try play(block, with: "task/milk", on: one, two) { folder in
                    let task = try two.fields("task/milk")
                    #expect(task == ["title": "milk", "done": true, "tags": ["home", "shop"]])
                    #expect(
                        FileManager.default.fileExists(atPath: folder.appending(path: "Downloads/receipt.jpg").path))
                }
            }
        }

        @Test func `what the guide shows works from its first block to its last, on two devices`() throws {
            let blocks = try Self.blocks("deploy/GUIDE.md")
            try Rig.with(1) { rig in
                let (one, two) = (rig.node(1), try rig.add())
                // The page that the guide shows is off by default.
                try rig("stop", "1")
                try rig("start", "1", "--", "--dashboard", "8384")
                try play(blocks.flatMap(\.self), with: "note/trip", on: one, two) { folder in
                    let answers = try one.lanyard("events", "answers").lines
                    let (kernel, device) = (try two.run(["uname", "-r"]).lines[0], try two.status().device.id)
                    let answer = answers.first { $0.contains(#""payload":"\#(kernel)""#) && $0.contains(device) }
                    #expect(answer != nil, "\(answers)")
                    let note = try two.fields("note/trip")
                    #expect(note["tags"] == ["boat", "summer"])
                    #expect(try two.fields("people/ada@example.org")["tags"] == ["math", "poetry"])
                    let restored = try Data(contentsOf: folder.appending(path: "restored.bin"))
                    #expect(restored == Data("a state".utf8))
                }
            }
        }

        /// Types the commands of blocks in their order, each on the device that the remark above it names. One with `&` at its end
        /// runs on until all is checked.
        /// - Parameters:
        ///   - object: has the attachment that is meant by `7QXP`.
        ///   - two: the device that is meant by `DEVICE`.
        ///   - check: is given the folder in which the commands were typed.
        private func play(
            _ lines: [String], with object: String, on one: Node, _ two: Node, check: (URL) throws -> Void
        ) throws {
            let folder = try Shell.temporaryFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(
                at: folder.appending(path: "Downloads"), withIntermediateDirectories: true)
            try Data("a receipt".utf8).write(to: folder.appending(path: "receipt.jpg"))
            try Data("a state".utf8).write(to: folder.appending(path: "state.bin"))
            var running: [Terminal] = []
            var (isSecond, hasJoined, isOut) = (false, false, false)
            for line in lines {
                if line.hasPrefix("# ") { isSecond = line.contains("On the second") }
                // printf makes the files that commands read.
                guard line.hasPrefix("lanyard ") || line.hasPrefix("printf ") else { continue }
                var command = line.replacingOccurrences(of: "DEVICE", with: two.name)
                if command.contains("TICKET") {
                    command = command.replacingOccurrences(of: "TICKET", with: try one.ticket())
                    hasJoined = true
                } else if hasJoined, !isOut {
                    try one.rig.waitUntilAgree([one.number, two.number], within: .seconds(10))
                }
                if command.contains("7QXP") {
                    command = command.replacingOccurrences(of: "7QXP", with: try attachment(of: object, on: one))
                }
                // What is written without the second device, until the next command lets it in again.
                isOut = command.contains("devices revoke")
                let node = isSecond ? two : one
                if command.hasSuffix(" &") {
                    let script = Self.script("exec \(command.dropLast(2))", in: folder)
                    running.append(try Terminal(node, ["sh", "-c", script]))
                } else {
                    try type(command, on: node, in: folder)
                }
            }
            try check(folder)
            for terminal in running {
                terminal.interrupt()
                // The status is that of what leads into the node's namespaces.
                _ = try terminal.end(within: .seconds(10))
            }
        }

        private static func script(_ command: String, in folder: URL) -> String {
            "cd \(folder.path) && export HOME=\(folder.path) && \(command)"
        }

        private func attachment(of object: String, on node: Node) throws -> String {
            struct Row: Decodable { let id: String }
            let rows = try node.decode([Row].self, try node.lanyard("attachments", object, "--json").output)
            return String(try #require(rows.first).id.prefix(4))
        }

        private func type(_ command: String, on node: Node, in folder: URL) throws {
            let follows = command.hasSuffix("--follow") || command.hasSuffix("--watch")
            let outcome = try node.run([
                "sh", "-c", Self.script("\(follows ? "timeout 2 " : "")\(command)", in: folder),
            ])
            // A reader who follows is stopped.
            #expect(
                outcome.status == (follows ? 124 : 0), "\(command) on \(node.name): \(outcome.errors)\(outcome.output)")
        }

        @Test func `what the guide of the rig shows works as it stands`() throws {
            let block = try #require(
                try Self.blocks("deploy/README.md").first { $0.first?.contains("rig up") ?? false })
            _ = try? Shell.run(["deploy/rig", "down"], environment: Rig.environment)
            defer { _ = try? Shell.run(["deploy/rig", "down"], environment: Rig.environment) }
            for line in block {
                let command = (line.components(separatedBy: " # ").first ?? line).trimmingCharacters(in: .whitespaces)
                let outcome = try Shell.run(["sh", "-c", command], environment: Rig.environment)
                // The exit code of `why` says whether it found a broken link.
                #expect(
                    outcome.status == 0 || command.contains("why"), "\(command): \(outcome.errors)\(outcome.output)")
            }
        }
    }
}
