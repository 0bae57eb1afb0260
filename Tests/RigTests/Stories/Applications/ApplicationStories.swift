import Foundation
import Testing

extension RigSuites {
    /// Applications that want machines of their own.
    @Suite struct ApplicationStories {
        // MARK: Ten lines

        @Test func `the ten lines of the guide are a program that shows one list on two machines`() throws {
            let guide = try String(contentsOf: Shell.root.appending(path: "deploy/GUIDE.md"), encoding: .utf8)
            let blocks = guide.components(separatedBy: "```swift\n").dropFirst()
                .compactMap { $0.components(separatedBy: "```").first }
            let shown = try #require(blocks.first { $0.hasPrefix("import Lanyard") })
            let source = Shell.root.appending(path: "Sources/Examples/TenLines/main.swift")
            #expect(try shown == String(contentsOf: source, encoding: .utf8))
            try Rig.with(2) { rig in
                let (one, two) = (rig.node(1), rig.node(2))
                // Its lines would wait in a buffer otherwise, since it prints into a file here.
                let program = ["stdbuf", "-oL", "ten-lines"]
                try one.following(program) { first in
                    try eventually(within: .seconds(5), "node 1 shows its list") { try first().last == "Milk" }
                    try two.following(program) { second in
                        func bothShow(_ list: String) throws {
                            try eventually(within: .seconds(5), "both show \(list)") {
                                try first().last == list && second().last == list
                            }
                        }
                        try bothShow("Milk, Milk")
                        try two.put("todo/eggs", ["title": "Eggs", "done": false])
                        try bothShow("Eggs, Milk, Milk")
                        try one.edit("todo/eggs", "done=true")
                        try bothShow("Milk, Milk")
                    }
                }
            }
        }

        @Test func `the ten lines in Python show one list on two machines`() throws {
            let package = Shell.root.appending(path: "Sources/Clients/python")
            let page = try String(contentsOf: package.appending(path: "README.md"), encoding: .utf8)
            let block = try #require(
                page.components(separatedBy: "```python\n").dropFirst().first?.components(separatedBy: "```").first)
            #expect(block.contains("home.query(Todo)"))
            let show = "def show(todos): print(', '.join(todo.title for todo in todos), flush=True)\n"
            let program = [
                "env", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=\(package.appending(path: "src").path)", "python3",
                "-c",
                show + block,
            ]
            try Rig.with(2) { rig in
                let (one, two) = (rig.node(1), rig.node(2))
                try one.following(program) { first in
                    try eventually(within: .seconds(5), "node 1 shows its list") { try first().last == "Milk" }
                    try two.following(program) { second in
                        try eventually(within: .seconds(5), "both show what both wrote") {
                            try first().last == "Milk, Milk" && second().last == "Milk, Milk"
                        }
                        try two.put("todo/eggs", ["title": "Eggs", "done": false])
                        try eventually(within: .seconds(5), "both show what a command wrote") {
                            try first().last == "Eggs, Milk, Milk" && second().last == "Eggs, Milk, Milk"
                        }
                    }
                }
            }
        }

        // MARK: Plays

        @Test func `plays that were made apart add up to sixteen on both machines`() throws {
            try Rig.with(2) { rig in
                let (laptop, phone) = (rig.node(1), rig.node(2))
                try play("Yesterday", on: laptop)
                try rig.inStep([1, 2])
                #expect(try counts(laptop) == ["Yesterday: 1"])
                try rig.apart(1, 2) {
                    try play("Yesterday", 10, on: phone)
                    try play("Yesterday", 5, on: laptop)
                    #expect(try counts(phone) == ["Yesterday: 11"])
                    #expect(try counts(laptop) == ["Yesterday: 6"])
                }
                try rig.inStep([1, 2])
                for node in [laptop, phone] { #expect(try counts(node) == ["Yesterday: 16"]) }
                try laptop.following(["plays", "watch"]) { lines in
                    try eventually(within: .seconds(5), "it shows what it counted before") {
                        try lastTable(lines()) == ["Yesterday: 16"]
                    }
                    try laptop.expectProgramFails("plays", "show", exit: 1, saying: "Another `plays` is running")
                    try play("Help", on: phone)
                    try eventually(within: .seconds(5), "it shows the play of another machine") {
                        try lastTable(lines()) == ["Help: 1", "Yesterday: 16"]
                    }
                }
                try laptop.expectProgramFails("plays", exit: 2, saying: "Usage: plays add TRACK")
            }
        }

        @Test func `a new machine begins with a snapshot, and counts each play once, also when it crashes`() throws {
            try Rig.with(2) { rig in
                let (one, two) = (rig.node(1), rig.node(2))
                try saveOlderVersion(on: one)
                try rig.inStep([1, 2])
                // There is only a snapshot of an older version of the program: it begins anew.
                let anew = try two.program("plays", "show")
                #expect(anew.lines == ["Yesterday: 1"] && anew.errors.contains("began with nothing"), "\(anew)")
                try play("Yesterday", 20, on: one)
                try rig.inStep([1, 2])
                try two.program("plays", "save")

                let fresh = try rig.add()
                try fresh.join(through: two)
                try rig.inStep([1, 2, fresh.number])
                try beginRestoring(on: fresh)
                try play("Help", on: one)
                try rig.inStep([1, 2, fresh.number])
                let restored = try fresh.program("plays", "show")
                // Were it given what the snapshot holds, it would count that twice.
                #expect(restored.lines == ["Help: 1", "Yesterday: 21"], "\(restored)")
                #expect(restored.errors.contains("began with a snapshot"))

                try crashWhileWatching(fresh, one, rig)
                let ended = try fresh.program("plays", "show")
                #expect(ended.lines == ["Help: 1", "Yesterday: 36"] && ended.errors.isEmpty, "\(ended)")
                try rig.inStep([1, 2, fresh.number])
                for node in [one, two] { #expect(try counts(node) == ended.lines) }
            }
        }

        /// A state of an older version, with the events that it holds.
        private func saveOlderVersion(on node: Node) throws {
            try play("Yesterday", on: node)
            try node.lanyard("events", "plays", "--consumer", "plays-1")
            try node.shell("echo 1 | lanyard snapshot save plays --consumer plays-1 --schema 1 - -q")
        }

        /// The first half of a restore, by a program and an agent that end behind it.
        private func beginRestoring(on node: Node) throws {
            let script =
                """
                curl --silent --fail --unix-socket "$LANYARD_SOCKET" -H 'Content-Type: application/json' --data-binary @- \
                    http://localhost/v1/spaces/home/consumers/plays/restore
                """
            let begun = try node.run(["sh", "-c", script], input: #"{"stream":"plays","schema":2}"#)
            try #require(begun.status == 0, "\(begun.output)\(begun.errors)")
            try node.rig("kill", "\(node.number)")
            try node.rig("start", "\(node.number)")
            #expect(try node.lanyard("consumers").output.contains("restore unfinished"))
        }

        /// The agent is killed while the program watches; then the program is, five times at any moment.
        private func crashWhileWatching(_ fresh: Node, _ other: Node, _ rig: Rig) throws {
            try fresh.following(["plays", "watch"]) { lines in
                try eventually(within: .seconds(5), "it shows what it counted before") {
                    try lastTable(lines()) == ["Help: 1", "Yesterday: 21"]
                }
                try rig("kill", "\(fresh.number)")
                try play("Yesterday", 10, on: other)
                try rig("start", "\(fresh.number)")
                try eventually(within: .seconds(20), "it has waited for its agent, and goes on") {
                    try lastTable(lines()) == ["Help: 1", "Yesterday: 31"]
                }
            }
            try fresh.shell(
                """
                for time in $(seq 5); do
                    plays watch >/dev/null &
                    plays add Yesterday || exit 1
                    kill -KILL $!
                    wait
                done
                """)
        }

        private func play(_ track: String, _ times: Int = 1, on node: Node) throws {
            try node.shell("for time in $(seq \(times)); do plays add \(track) || exit 1; done")
        }

        private func counts(_ node: Node) throws -> [String] { try node.program("plays", "show").lines }
    }
}
