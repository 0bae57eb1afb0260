import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// Sessions of a few agents, recorded; and one agent of today among recorded ones.
///
/// The commands, nodes being numbered from 1:
///
/// | command | effect |
/// |---|---|
/// | `nodes 3 [compact] [small]` | the nodes; `compact`: they drop changes; `small`: they ask for little at once |
/// | `add` | a new node |
/// | `pair 1 2`, `connect 1 2`, `disconnect 2` | both admit each other and connect; a session; the end of all sessions of a node |
/// | `put 1 milk whole`, `delete 1 milk`, `emit 1 log 600` | what a person does at node 1; an event has so many bytes |
/// | `present 1 here`, `present 1` | node 1 is present with a value; with nothing |
/// | `bulk 1 2`, `compact 1`, `stop 1` | node 1 wants a bulk connection with 2; drops what all have; says goodbye |
/// | `wait 40` | seconds in which all deadlines pass |
///
/// Everything is the same in every process: keys, replicas, clocks and chance are given.
struct RecordedSession {
    private var mesh: Mesh?
    private let record = RecordedLines()
    private let asked = Asked()
    private let shown = Shown()
    /// The node of today; nil while all are, and are recorded.
    private let live: Int?
    private var presences: UInt64 = 0
    private let version: String

    private enum Ask: Hashable {
        case changes(ReplicaID)
        case state
    }

    /// The requests to each peer: those of the recording, and those of the node of today in their place.
    private final class Asked {
        var then: [Int: [UInt64: Ask]] = [:]
        var now: [Int: [Ask: UInt64]] = [:]
    }

    /// The presence that clients of each node were shown, one after the other.
    private final class Shown { var values: [Int: [String]] = [:] }

    private struct UnknownCommand: Error { let words: [String] }

    static func record(_ title: String, _ commands: [String], version: String) throws -> RecordedFile {
        var session = RecordedSession(live: nil, version: version)
        session.record.lines.append(.prose("# " + title))
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            if let mesh = session.mesh { session.record.markTime(mesh.now.nanoseconds) }
            session.record.lines.append(.command(words))
            try session.perform(words)
        }
        let mesh = try #require(session.mesh)
        #expect(session.record.faults == [], "\(title)")
        session.record.markTime(mesh.now.nanoseconds)
        let outcomes = try mesh.nodes.indices.flatMap { try session.outcomes(of: $0) }
        return RecordedFile(lines: session.record.lines + outcomes.map { .outcome($0) })
    }

    static func replay(_ file: RecordedFile, at node: Int, version: String) throws -> Replay {
        var session = RecordedSession(live: node, version: version)
        for line in file.lines {
            switch line {
            case .prose, .outcome: break
            case .time(let nanoseconds):
                let time = Tick(nanoseconds: nanoseconds)
                if let now = session.mesh?.now, now < time { session.mesh?.pass(until: time) }
            case .command(let words): try session.perform(words)
            case .frame(let frame): try session.hear(frame)
            }
        }
        return Replay(outcomes: try session.outcomes(of: node), faults: session.record.faults)
    }

    private init(live: Int?, version: String) {
        self.live = live
        self.version = version
    }

    // MARK: What is done

    private mutating func perform(_ words: [String]) throws {
        let verb = words[0]
        let numbers = words.dropFirst().compactMap(Int.init).map { $0 - 1 }
        if verb == "nodes" {
            mesh = try start(count: numbers[0] + 1, words)
            return
        }
        var mesh = try #require(self.mesh, "the first command is `nodes`")
        defer { self.mesh = mesh }
        switch verb {
        case "add": return try mesh.add()
        case "pair": return try mesh.pair(numbers[0], numbers[1])
        case "connect": return mesh.connect(numbers[0], numbers[1])
        case "disconnect": return mesh.disconnect(numbers[0])
        case "wait":
            // A replay has the times of the recording.
            if live == nil { mesh.pass(seconds: Int64(numbers[0] + 1)) }
            return
        case _: break
        }
        let node = numbers[0]
        if let live, live != node { return }
        switch verb {
        case "put": try mesh.put(node, Mesh.key(words[2]), words[3])
        case "delete": try mesh.delete(node, Mesh.key(words[2]))
        case "emit":
            let payload = Array("\"\(String(repeating: "e", count: numbers[1] - 1))\"".utf8)
            try mesh.append(node, .operations([.appendEvent(.init(stream: words[2], type: "e", payload: payload))]))
        case "present":
            presences += 1
            mesh.tell([(node, .presenceChanged(presence(of: node, words.count > 2 ? words[2] : nil)))])
        case "bulk": mesh.tell([(node, .askForBulk(SimulatedDevice.all[numbers[1]].id))])
        case "compact": mesh.tell([(node, .compactionAsked)])
        case "stop": mesh.stop(node)
        case _: throw UnknownCommand(words: words)
        }
    }

    private func presence(of node: Int, _ value: String?) -> SignedPresence {
        let device = SimulatedDevice.all[node]
        let entries = value.map {
            [PresenceRecord.Entry(topic: "note:1", session: 9, value: Array("\"\($0)\"".utf8))]
        }
        let mark = PresenceMark(run: 100, sequence: presences)
        return SignedPresence(
            PresenceRecord(device: device.id, mark: mark, entries: entries ?? []), space: .home, sign: device.sign)
    }

    private func start(count: Int, _ words: [String]) throws -> Mesh {
        let version = version
        var mesh = try Mesh(count) { configuration in
            configuration.agentVersion = version
            configuration.exchangesState = true
            configuration.compacts = words.contains("compact")
            guard words.contains("small") else { return }
            configuration.bounds.wantWindowBytes = 1_024
            configuration.bounds.servedReadBytes = 512
        }
        let (names, record, shown, asked, live) = (TranscriptNames(), record, shown, asked, live)
        if let live { mesh.recorded = Set(SimulatedDevice.all.indices).subtracting([live]) }
        mesh.carry = { sender, node, frame, bytes, now in
            if sender == live, let (ask, id) = Self.ask(frame) { asked.now[node, default: [:]][ask] = id }
            let recorded = RecordedFrame(sender: sender, node: node, name: names.text(frame), bytes: bytes)
            if live == nil { record.add(.frame(recorded), at: now.nanoseconds) }
        }
        mesh.observe = { node, input, effects, _ in
            for effect in effects {
                if case .presence(let records) = effect {
                    let text = records.isEmpty ? "nothing" : records.map { names.text($0) }.joined(separator: ", ")
                    if shown.values[node]?.last != text { shown.values[node, default: []].append(text) }
                }
            }
            record.faults += Self.faults(input, effects).map { "node \(node + 1): \($0)" }
        }
        return mesh
    }

    private static func faults(_ input: Input, _ effects: [Effect]) -> [String] {
        var faults: [String] = []
        if case .persistFailed(_, let code) = input { faults.append("its store refused what came: \(code)") }
        for effect in effects {
            switch effect {
            case .report(.refused(_, let reason, let detail)):
                faults.append("it refused its peer: \(reason.rawValue) \(detail)")
            case .report(.forked), .report(.tookBack), .report(.diverged), .report(.duplicateIdentity):
                faults.append("it reports \(effect)")
            case .close(_, let reason) where reason != .redundant && reason != .shutdown:
                faults.append("it closed the session: \(reason.rawValue)")
            case _: break
            }
        }
        return faults
    }

    // MARK: What is heard

    /// The request that a frame is, with its id; nil for one that asks for nothing.
    private static func ask(_ frame: Frame) -> (Ask, UInt64)? {
        switch frame {
        case .want(let want): (.changes(want.replica), want.id)
        case .stateRequest(let request): (.state, request.id)
        case _: nil
        }
    }

    private mutating func hear(_ recorded: RecordedFrame) throws {
        guard let live, recorded.sender == live || recorded.node == live else { return }
        // A frame of a kind that is not known any more says nothing; the codec's test finds it.
        guard let frame = try FrameCodec.decode(recorded.bytes) else { return }
        if recorded.sender == live {
            if let (ask, id) = Self.ask(frame) { asked.then[recorded.node, default: [:]][id] = ask }
        } else {
            let answer = answering(frame, from: recorded.sender)
            mesh?.send(answer, from: recorded.sender, to: live)
        }
    }

    /// The frame as an answer to what the node of today asked: it need not number its wants as those of then did.
    private func answering(_ frame: Frame, from peer: Int) -> Frame {
        func id(_ then: UInt64) -> UInt64 {
            guard let ask = asked.then[peer]?[then] else { return then }
            return asked.now[peer]?[ask] ?? then
        }
        switch frame {
        case .changes(var changes) where changes.wantID != 0:
            changes.wantID = id(changes.wantID)
            return .changes(changes)
        case .stateItems(var items):
            items.id = id(items.id)
            return .stateItems(items)
        case .stateQuestion(var question):
            question.id = id(question.id)
            return .stateQuestion(question)
        case _: return frame
        }
    }

    // MARK: What comes of it

    /// Returns what the node holds of others and shows, and where its own history ends.
    private func outcomes(of node: Int) throws -> [String] {
        let state = try #require(mesh).nodes[node].store.state()
        let device = SimulatedDevice.all[node].id
        let others = state.tips.filter { $0.replica.device != device }.map { ($0.replica, $0.tip.next) }
        let own = state.tips.filter { $0.replica.device == device }.map {
            "wrote up to \($0.tip.next) with the head \($0.tip.head.bytes.hexadecimal)"
        }
        let presence = shown.values[node].map { ["was shown presence: " + $0.joined(separator: " | ")] }
        let held = ["holds of others \(TranscriptNames().vector(others))", "shows \(state.digest)"]
        return (held + own + (presence ?? [])).map { "\(node + 1) \($0)" }
    }
}
