import Foundation
import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// A scenario of a few agents as text: what is done, and each step that the cores took.
///
/// Lines that begin with `#` are prose, those with `>` are commands; all others are what the cores were told (`2 <- …`) and what
/// they answered (`     …`), and are written by `run`. Nodes are numbered from 1. The commands:
///
/// | command | effect |
/// |---|---|
/// | `nodes 3 [state] [compact] [dial] [pings]` | the nodes; `state`, `compact`: they exchange state, and drop changes |
/// | `pair 1 2` | each admits the other, and they connect |
/// | `join 2 1 [reader]` | node 2 joins through node 1, as a writer or a reader, and they connect |
/// | `connect 1 2`, `disconnect 2` | a session of two nodes; the end of all sessions of a node |
/// | `cross 1 2` | both learn of the other's address at the same moment (with `dial`) |
/// | `put 1 note title`, `delete 1 note`, `retire 1 2`, `block 1 2` | what a person does at node 1 |
/// | `key 1`, `admin 1 2`, `revoke 1 2 [wipe]` | node 1 makes the recovery key, makes 2 an admin, revokes 2 |
/// | `recover 1 2` | a person at node 1 revokes 2 with the recovery key |
/// | `stall 2`, `read 2` | node 2 reads nothing; it reads what has waited |
/// | `add`, `restart 2`, `save 2`, `revert 2` | a new node; a start from the disk; an image of the disk; back to that image |
/// | `wait 40` | seconds in which all deadlines pass |
/// | `compact 1` | node 1 begins a pass of compaction |
/// | `compare` | prints which nodes hold the same |
///
/// A command that ends with `quietly` leaves its steps out, and without `pings` those of pings and pongs are.
struct Transcript {
    private var mesh: Mesh?
    private var images: [Int: SimulatedDisk] = [:]
    private let record = Record()

    /// The lines so far, and the time at which the newest step was.
    private final class Record {
        var lines: [String] = []
        var time: Tick?
        var isQuiet = false

        func step(_ node: Int, _ said: String?, _ answers: [String], at now: Tick, showingPings: Bool) {
            guard !isQuiet else { return }
            let shown = showingPings ? answers : answers.filter { !isPing($0) }
            guard !shown.isEmpty || said.map({ showingPings || !isPing($0) }) ?? false else { return }
            if time != now {
                lines.append("at \(now.nanoseconds / 1_000_000) ms")
                time = now
            }
            lines.append("\(node + 1) <- \(said ?? "time passed")")
            lines += shown.map { "     " + $0 }
        }

        private func isPing(_ line: String) -> Bool { line.hasSuffix(": ping") || line.hasSuffix(": pong") }
    }

    /// The text again, with the lines that its commands give.
    static func run(_ text: String) throws -> String {
        var transcript = Transcript()
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("#") {
                transcript.record.lines.append(String(line))
            } else if line.hasPrefix("> ") {
                transcript.record.lines += ["", String(line)]
                try transcript.perform(line.dropFirst(2).split(separator: " ").map(String.init))
            }
        }
        return transcript.record.lines.joined(separator: "\n") + "\n"
    }

    private mutating func perform(_ words: [String]) throws {
        let verb = try #require(words.first)
        record.isQuiet = words.last == "quietly"
        let numbers = words.dropFirst().compactMap(Int.init).map { $0 - 1 }
        if verb == "nodes" {
            mesh = try start(words)
            return
        }
        var mesh = try #require(self.mesh, "the first command is `nodes`")
        defer { self.mesh = mesh }
        switch verb {
        case "pair": try mesh.pair(numbers[0], numbers[1])
        case "join": try mesh.join(numbers[0], through: numbers[1], as: words.contains("reader") ? .reader : .writer)
        case "connect": mesh.connect(numbers[0], numbers[1])
        case "disconnect": mesh.disconnect(numbers[0])
        case "cross":
            mesh.tell([(numbers[0], Self.address(of: numbers[1])), (numbers[1], Self.address(of: numbers[0]))])
        case "put": try mesh.put(numbers[0], Mesh.key(words[2]), words[3])
        case "delete": try mesh.delete(numbers[0], Mesh.key(words[2]))
        case "retire": try mesh.retire(numbers[0], numbers[1])
        case "key", "admin", "revoke", "recover": try performRole(verb, numbers, words, &mesh)
        case "block": mesh.tell([(numbers[0], .blocked([mesh.nodes[numbers[1]].device.id]))])
        case "stall": mesh.stall(numbers[0])
        case "read": mesh.read(numbers[0])
        case "add": try mesh.add()
        case "restart": try mesh.restart(numbers[0])
        case "save": images[numbers[0]] = try mesh.image(of: numbers[0])
        case "revert": try mesh.putBack(numbers[0], try #require(images[numbers[0]]))
        case "wait": mesh.pass(seconds: Int64(numbers[0] + 1))
        case "compact": mesh.tell([(numbers[0], .compactionAsked)])
        case "compare": try compare(mesh)
        default: throw UnknownCommand(word: verb)
        }
    }

    private func performRole(_ verb: String, _ numbers: [Int], _ words: [String], _ mesh: inout Mesh) throws {
        let key = try #require(RecoveryKey(bytes: [UInt8](repeating: 6, count: 32)))
        switch verb {
        case "key": try mesh.order(numbers[0], .recoveryKey(key.publicKey))
        case "admin": try mesh.order(numbers[0], .role(mesh.nodes[numbers[1]].device.id, .admin))
        case "revoke": try mesh.revoke(numbers[0], numbers[1], wipes: words.contains("wipe"))
        default: try mesh.revoke(numbers[0], numbers[1], with: key)
        }
    }

    private struct UnknownCommand: Error { let word: String }

    private static func address(of node: Int) -> Input {
        .addressAdded(Endpoint(host: "node\(node)", port: 1), device: SimulatedDevice.all[node].id, isStatic: false)
    }

    private func start(_ words: [String]) throws -> Mesh {
        let count = try #require(Int(words[1]))
        var mesh = try Mesh(count) { configuration in
            configuration.exchangesState = words.contains("state")
            configuration.compacts = words.contains("compact")
        }
        mesh.dials = words.contains("dial")
        let (names, record) = (TranscriptNames(), record)
        // The peers of each connection, as the cores were told: a session's end is named as its beginning.
        var peers: [[ConnectionID: String]] = []
        mesh.observe = { node, input, effects, now in
            while peers.count <= node { peers.append([:]) }
            var peer = "?"
            switch input {
            case .opened(let id, let device, _): peers[node][id] = names.name(device)
            case .received(let id, _, _), .malformed(let id, _), .closed(let id, _): peer = peers[node][id] ?? "?"
            default: break
            }
            let said = names.text(input, from: peer)
            let answers = effects.map { names.text($0) { peers[node][$0] ?? "?" } }
            record.step(node, said, answers, at: now, showingPings: words.contains("pings"))
        }
        return mesh
    }

    private func compare(_ mesh: Mesh) throws {
        var groups: [(digest: Sum256, nodes: [String])] = []
        for (index, node) in mesh.nodes.enumerated() {
            let digest = try node.store.state().digest
            if let known = groups.firstIndex(where: { $0.digest == digest }) {
                groups[known].nodes.append("\(index + 1)")
            } else {
                groups.append((digest, ["\(index + 1)"]))
            }
        }
        record.lines.append("the same: " + groups.map { $0.nodes.joined(separator: " ") }.joined(separator: " | "))
    }
}
