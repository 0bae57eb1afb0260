import Foundation
import Testing

extension RigSuites {
    /// A state that one node computed, where another begins.
    @Suite struct SnapshotStories {
        @Test func `a new node begins with a snapshot, and is given just the rest`() throws {
            try Rig.with(2) { rig in
                let (one, two) = (rig.node(1), rig.node(2))
                let none = try restore(on: one, schema: 1)
                #expect(none.status == 3 && none.errors.contains("unknown_snapshot"))
                try one.emit(300, to: "plays")
                try two.emit(200, to: "plays")
                try rig.inStep([1, 2])
                #expect(try count("counter", on: one) == 500)
                try one.shell("echo 500 | lanyard snapshot save plays --consumer counter --schema 1 - -q")
                // What node 1 holds by now, and its consumer has not read, is no part of the next snapshot.
                try one.emit(30, to: "plays")
                try one.shell("echo 500 | lanyard snapshot save plays --consumer counter --schema 1 - -q")
                try two.emit(20, to: "plays")
                try rig.inStep([1, 2])

                let fresh = try rig.add()
                try fresh.join(through: two)
                try rig.inStep([1, 2, fresh.number])
                let other = try restore(on: fresh, schema: 2)
                #expect(other.status == 4 && other.errors.contains("snapshot_schema"))
                let restored = try restore(on: fresh, schema: 1)
                #expect(restored.status == 0, "\(restored.errors)")
                try fresh.shell("test \"$(cat $HOME/state)\" = 500")
                #expect(try count("counter", on: fresh) == 50)
                // It goes on from there, also after a crash, and its own snapshot holds what both do.
                try rig("kill", "\(fresh.number)")
                try rig("start", "\(fresh.number)")
                try one.emit(7, to: "plays")
                try rig.inStep([1, 2, fresh.number])
                #expect(try count("counter", on: fresh) == 7)
                try fresh.shell(
                    "echo 557 | lanyard snapshot save plays --consumer counter --schema 1 - --keep-most-recent 1 -q")
                try rig.inStep([1, 2, fresh.number])
                #expect(try restore(on: two, schema: 1).status == 0)
                #expect(try count("counter", on: two) == 0)
                let left = try two.lanyard("snapshot", "list", "plays", "--json").output
                #expect(left.components(separatedBy: "\"schema\":1").count == 2, "only the newest is left: \(left)")
            }
        }

        @Test func `a restore that was stopped leaves a consumer that reads nothing until it is restored again`() throws
        {
            try Rig.with(1) { rig in
                let node = rig.node(1)
                try node.emit(10, to: "plays")
                #expect(try count("counter", on: node) == 10)
                try node.shell("head -c 20000000 /dev/urandom > $HOME/large")
                try node.shell("lanyard snapshot save plays --consumer counter --schema 1 $HOME/large -q")
                // What it writes is not taken, so it is killed in the middle.
                try node.shell(
                    """
                    mkfifo $HOME/pipe
                    sleep 600 < $HOME/pipe & reader=$!
                    lanyard snapshot restore plays --consumer new --schema 1 -o - > $HOME/pipe & restoring=$!
                    until lanyard consumers | grep -q 'restore unfinished'; do
                        kill -0 $restoring || { kill $reader; exit 1; }
                        sleep 0.1
                    done
                    kill -9 $restoring $reader; wait
                    """)
                // The agent's own end changes nothing: nobody knows which state the application has.
                for _ in 1...2 {
                    let refused = try node.run(["lanyard", "events", "plays", "--consumer", "new", "--json"])
                    #expect(refused.status == 4 && refused.errors.contains("restore_unfinished"))
                    try rig("kill", "1")
                    try rig("start", "1")
                }
                let listed = try node.lanyard("consumers")
                #expect(listed.output.contains("restore unfinished"))
                // Another one is not touched by it.
                #expect(try count("counter", on: node) == 0)
                #expect(try restore(on: node, schema: 1, consumer: "new").status == 0)
                #expect(try count("new", on: node) == 0)
                try node.shell("cmp $HOME/large $HOME/state")
            }
        }

        @Test func `an agent that is killed while bytes are fetched leaves the consumer as it was`() throws {
            try Rig.with(2) { rig in
                let (one, two) = (rig.node(1), rig.node(2))
                try two.lanyard("spaces", "set", "home", "--fetch", "on-demand")
                try one.emit(10, to: "plays")
                #expect(try count("counter", on: one) == 10)
                try one.shell("head -c 8000000 /dev/urandom > $HOME/large")
                try one.shell("lanyard snapshot save plays --consumer counter --schema 1 $HOME/large -q")
                try rig.inStep([1, 2])
                try two.lanyard("consumers", "set", "counter", "4", "--stream", "plays")
                // So slow that there is a middle to be killed in.
                try rig("stop", "1")
                try rig("start", "1", "--", "--upload-limit", "500K")
                try eventually(within: .seconds(30), "they are connected again") { try !two.connected().isEmpty }
                // Killed from beside it: a command is over when all that it began is.
                try two.shell(
                    """
                    (sleep 2; pkill -KILL lanyardd) &
                    ! lanyard snapshot restore plays --consumer counter --schema 1 -o $HOME/state > /dev/null 2>&1
                    """)
                try rig("start", "2")
                try rig("stop", "1")
                try rig("start", "1", "--")
                // Nothing was put aside before the bytes were here, so its own state is still the right one.
                #expect(try count("counter", on: two) == 6)
                try two.shell("test ! -e $HOME/state")
                #expect(try restore(on: two, schema: 1).status == 0)
                try two.shell("test $(wc -c < $HOME/state) = 8000000")
                #expect(try count("counter", on: two) == 0)
            }
        }

        @Test func `what is of another space, newer or changed is refused, and says so`() throws {
            try Rig.with(1) { rig in
                let node = rig.node(1)
                try node.emit(10, to: "plays")
                #expect(try count("counter", on: node) == 10)
                try node.shell("echo 10 | lanyard snapshot save plays --consumer counter --schema 1 - -q")
                let file = "/tmp/lanyard-snapshots-\(ProcessInfo.processInfo.processIdentifier)"
                defer { try? FileManager.default.removeItem(atPath: file) }
                try node.lanyard("export", file, "-q")

                // A machine of its own that takes the file: the events are there under other names.
                let stranger = try rig.add()
                try stranger.lanyard("import", file, "-q")
                let foreign = try restore(on: stranger, schema: 1)
                #expect(foreign.status == 4 && foreign.errors.contains("snapshot_foreign"), "\(foreign.errors)")
                #expect(try stranger.lanyard("snapshot", "list", "--json").output.contains("snapshot_foreign"))

                // Finished twice is finished once: the answer of the first may have been lost. Not so behind other events.
                #expect(try restore(on: node, schema: 1).status == 0)
                let saved = try node.decode([Listed].self, try node.lanyard("snapshot", "list", "--json").output)[0]
                #expect(try finish(saved, on: node).contains("\"restoring\":false"))
                try node.emit(1, to: "plays")
                #expect(try count("counter", on: node) == 1)
                #expect(try finish(saved, on: node).contains("restore_unfinished"))
                #expect(try finish(saved, on: node, consumer: "nobody").contains("restore_unfinished"))
                #expect(try !node.lanyard("consumers").output.contains("nobody"))

                let newer = #"{"format":2,"stream":"moves","schema":1}"#
                try node.lanyard("put", "lanyard.snapshots/newer", newer)
                #expect(try refusal(of: "moves", on: node).contains("version_mismatch"))
                try node.lanyard("edit", saved.owner, "consumer=other")
                let changed = try restore(on: node, schema: 1)
                #expect(changed.status == 1 && changed.errors.contains("damaged"), "\(changed.errors)")
                // And none of it touched the consumer.
                #expect(try count("counter", on: node) == 0)
            }
        }

        @Test func `a reducer in canonical order is told to rewind, and ends as all others do`() throws {
            try Rig.with(2) { rig in
                let (one, two) = (rig.node(1), rig.node(2))
                try one.emit(5, to: "moves")
                try rig.inStep([1, 2])
                try rig("isolate", "2")
                try two.emit(5, to: "moves")
                try one.emit(5, to: "moves")
                let before = try reduce(on: one)
                #expect(before.lines.count == 10)
                #expect(!before.output.contains("\"rewind\""))
                try one.shell(
                    "echo ten | lanyard snapshot save moves --consumer reducer --schema 1 - -q")
                try rig("heal")
                try rig.inStep([1, 2])
                let after = try reduce(on: one)
                #expect(after.lines.first?.contains("\"rewind\":true") ?? false, "\(after.output)")
                // Events of node 2 stand before those that node 1 wrote later.
                #expect(after.lines.count == 11)
                #expect(try reduce(on: one).lines.isEmpty)
                // What was read up to there, and what came behind the rewind, is the one order.
                let all = try two.lanyard("events", "moves", "--order", "canonical").lines
                #expect(dots(of: before.lines.prefix(5)) + dots(of: after.lines.dropFirst()) == dots(of: all))
                // The snapshot does not stand any more: whoever took it would be told to undo it.
                let outrun = try two.run([
                    "lanyard", "snapshot", "restore", "moves", "--consumer", "reducer", "--schema", "1", "-o", "-",
                    "--json",
                ])
                #expect(outrun.status == 3, "\(outrun.errors)")
            }
        }

        private struct Listed: Decodable {
            let id: String
            let owner: String
        }

        /// The second half of a restore, once more.
        private func finish(_ snapshot: Listed, on node: Node, consumer: String = "counter") throws -> String {
            let request = #"{"stream":"plays","snapshot":"\#(snapshot.id)"}"#
            let script =
                """
                curl --silent --unix-socket "$LANYARD_SOCKET" -H 'Content-Type: application/json' --data-binary @- \
                    http://localhost/v1/spaces/home/consumers/\(consumer)/restored
                """
            return try node.run(["sh", "-c", script], input: request).output
        }

        private func refusal(of stream: String, on node: Node) throws -> String {
            let options = ["--consumer", "counter", "--schema", "1", "-o", "-", "--json"]
            let outcome = try node.run(["lanyard", "snapshot", "restore", stream] + options)
            #expect(outcome.status == 4)
            return outcome.errors
        }

        private func restore(on node: Node, schema: Int, consumer: String = "counter") throws -> Outcome {
            let options = "--consumer \(consumer) --schema \(schema) -o $HOME/state --force --json"
            return try node.run(["sh", "-c", "lanyard snapshot restore plays \(options)"])
        }

        /// How many events a consumer is given.
        private func count(_ consumer: String, on node: Node) throws -> Int {
            try node.lanyard("events", "plays", "--consumer", consumer).lines.count
        }

        private func reduce(on node: Node) throws -> Outcome {
            try node.lanyard("events", "moves", "--consumer", "reducer", "--order", "canonical")
        }

        private func dots(of lines: some Sequence<String>) -> [String] {
            lines.compactMap { line in
                line.range(of: "\"dot\":\"[^\"]*\"", options: .regularExpression).map { String(line[$0]) }
            }
        }
    }
}
