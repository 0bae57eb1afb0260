import SyncCore
import SyncModel
import Testing

/// A bulk connection between two nodes, recorded; and one node of today at the other end of a recorded one.
///
/// The commands, nodes being numbered from 1: `hold 2 7 300` (node 2 has blob 7, of 300 bytes), `want 1 7 300` (node 1 wants it),
/// `connect 1 2` (a session, which 1 dialled), `wait 4` (seconds). The bytes of a blob are one byte again and again.
struct RecordedBulk {
    private var world: BulkWorld
    private let record = RecordedLines()
    private let asked = Asked()
    private let live: Int?
    /// The node that dialled the session, once there is one.
    private var dialler: Int?

    /// A request for bytes of a blob; the smallest way to name what is asked for.
    private struct Ask: Hashable {
        let kind: String
        let blobs: [BlobName]
        let first: UInt32
    }

    private final class Asked {
        var then: [UInt64: Ask] = [:]
        var now: [Ask: UInt64] = [:]
    }

    private struct UnknownCommand: Error { let words: [String] }

    /// Wants of both sides: a small blob, and one that comes in a chunk.
    static let title = "Two devices fetch attachments from each other: blobs that come whole, and one in a chunk."
    static let commands = [
        "hold 2 1 300", "hold 2 2 65537", "hold 1 3 20", "connect 1 2", "want 1 1 300", "want 1 2 65537",
        "want 2 3 20", "wait 4", "wait 70",
    ]

    static func record() throws -> RecordedFile {
        var bulk = RecordedBulk(live: nil)
        bulk.record.lines.append(.prose("# " + title))
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            bulk.record.add(.command(words), at: bulk.world.now)
            try bulk.perform(words)
        }
        bulk.record.markTime(bulk.world.now)
        let outcomes = bulk.world.nodes.indices.flatMap { bulk.outcomes(of: $0) }
        return RecordedFile(lines: bulk.record.lines + outcomes.map { .outcome($0) })
    }

    static func replay(_ file: RecordedFile, at node: Int) throws -> Replay {
        var bulk = RecordedBulk(live: node)
        for line in file.lines {
            switch line {
            case .prose, .outcome: break
            case .time(let nanoseconds): bulk.world.run(until: nanoseconds)
            case .command(let words): try bulk.perform(words)
            case .frame(let frame): try bulk.hear(frame)
            }
        }
        let faults =
            bulk.world.check.violations
            + bulk.world.nodes[node].reports.compactMap { report in
                switch report {
                case .connected, .disconnected, .fetched: nil
                case .wrongBytes, .slow, .refusedHere, .offence: "\(report)"
                }
            }
        return Replay(outcomes: bulk.outcomes(of: node), faults: bulk.record.faults + faults)
    }

    private init(live: Int?) {
        self.live = live
        world = BulkWorld(seed: 1, nodes: 2)
        if let live { world.recorded = [1 - live] }
        world.carry = { [record, asked] sender, node, frame, now in
            if sender == live, let (ask, id) = Self.ask(frame) { asked.now[ask] = id }
            guard live == nil else { return }
            guard let bytes = try? BulkFrameCodec.encode(frame) else {
                return record.faults.append("cannot encode \(frame)")
            }
            let recorded = RecordedFrame(sender: sender, node: node, name: frame.kind, bytes: bytes)
            record.add(.frame(recorded), at: now)
        }
    }

    private mutating func perform(_ words: [String]) throws {
        let numbers = words.dropFirst().compactMap(Int.init)
        switch words[0] {
        case "hold": world.give(BulkWorld.want(numbers[1], size: UInt64(numbers[2])), to: numbers[0] - 1)
        case "want":
            guard live ?? numbers[0] - 1 == numbers[0] - 1 else { return }
            world.list([BulkWorld.want(numbers[1], size: UInt64(numbers[2]))], at: numbers[0] - 1)
        case "connect":
            dialler = numbers[0] - 1
            world.connect(numbers[0] - 1, numbers[1] - 1)
        case "wait": if live == nil { world.run(until: world.now + Int64(numbers[0]) * 1_000_000_000) }
        case _: throw UnknownCommand(words: words)
        }
    }

    private mutating func hear(_ recorded: RecordedFrame) throws {
        guard let live, let frame = try BulkFrameCodec.decode(recorded.bytes) else { return }
        if recorded.sender == live {
            if let (ask, id) = Self.ask(frame) { asked.then[id] = ask }
            return
        }
        // A connection that the recorded node dialled is there once it speaks.
        var isWaiting = world.pipes.isEmpty
        if isWaiting, let dialler, dialler != live { world.dial(dialler, ConnectionID(rawValue: 1), live) }
        // The node of today may be a little slower than the one of then.
        for _ in 0..<20 where world.pipes.isEmpty || answering(frame) == nil {
            isWaiting = true
            world.run(until: world.now + 1_000_000)
        }
        // It hears of a connection after a millisecond.
        if isWaiting { world.run(until: world.now + 1_000_000) }
        guard let pipe = world.pipes.last, let end = pipe.ends.first(where: { $0.node == live }) else {
            return record.faults.append("node \(live + 1) has no connection for \(recorded.name)")
        }
        guard let answer = answering(frame) else {
            return record.faults.append("node \(live + 1) did not ask for \(recorded.name)")
        }
        // Ended by the node of today, say because it was idle.
        if pipe.isPartitioned { return }
        world.hear(live, .received(end.id, answer, bytes: recorded.bytes.count))
    }

    private static func ask(_ frame: BulkFrame) -> (Ask, UInt64)? {
        switch frame {
        case .hashesRequest(let request): (Ask(kind: "hashes", blobs: [request.blob], first: request.first), request.id)
        case .request(let request): (Ask(kind: "chunks", blobs: [request.blob], first: request.first), request.id)
        case .smallRequest(let request): (Ask(kind: "small", blobs: request.blobs, first: 0), request.id)
        case .hello, .want, .unwant, .holding, .hashes, .cancel, .chunk, .smallBlobs, .refusal, .goodbye: nil
        }
    }

    /// The frame as an answer to what the node of today asked, under its number; nil if it asked for nothing like it.
    private func answering(_ frame: BulkFrame) -> BulkFrame? {
        func id(_ then: UInt64) -> UInt64? { asked.then[then].flatMap { asked.now[$0] } }
        switch frame {
        case .hashes(var hashes):
            guard let id = id(hashes.id) else { return nil }
            hashes.id = id
            return .hashes(hashes)
        case .chunk(var chunk):
            guard let id = id(chunk.id) else { return nil }
            chunk.id = id
            return .chunk(chunk)
        case .smallBlobs(var small):
            guard let id = id(small.id) else { return nil }
            small.id = id
            return .smallBlobs(small)
        case .refusal(var refusal):
            guard let id = id(refusal.id) else { return nil }
            refusal.id = id
            return .refusal(refusal)
        case .hello, .want, .unwant, .holding, .hashesRequest, .request, .cancel, .smallRequest, .goodbye: return frame
        }
    }

    private func outcomes(of node: Int) -> [String] {
        let blobs = world.nodes[node].disk.whole.sorted().map {
            "\(Array($0.hash.bytes.prefix(4)).hexadecimal):\($0.size)"
        }
        return ["\(node + 1) has \(blobs.joined(separator: " "))"]
    }
}

extension BulkFrame {
    /// The name of its kind.
    fileprivate var kind: String {
        switch self {
        case .hello: "hello"
        case .want: "want"
        case .unwant: "unwant"
        case .holding: "holding"
        case .hashesRequest: "hashes request"
        case .hashes: "hashes"
        case .request: "request"
        case .cancel: "cancel"
        case .chunk: "chunk"
        case .smallRequest: "small request"
        case .smallBlobs: "small blobs"
        case .refusal: "refusal"
        case .goodbye: "goodbye"
        }
    }
}
