import SyncModel
import SyncStore

/// Checks that each acknowledged event is shown in the end, once, wherever its history was taken back and it was written again:
/// by its content. Only what no disk holds any more once a machine was put back is gone.
struct WrittenAgainChecker: Checker {
    static let name = "written again, once"

    /// An event that was acknowledged, and the change that it came in.
    private struct Said {
        let change: [UInt8]
        let text: String
    }

    private var said: [Said] = []
    /// A machine that is put back once more to before it had written again does so twice (Decisions/24).
    private var putBackCount = 0
    /// The events that a node showed when it was last looked at thoroughly.
    private var shown: [Int: [String: Int]] = [:]
    /// The nodes that hold a change, by its digest, and its dot.
    private var holders: [[UInt8]: (dot: Dot, nodes: Set<Int>)] = [:]

    mutating func committed(node: Int, _ segments: [VerifiedSegment], before: VersionVector) -> String? {
        for verified in segments {
            Self.forEachChange(in: verified.segment) { dot, digest, _, _ in
                holders[digest, default: (dot, [])].nodes.insert(node)
            }
        }
        return nil
    }

    mutating func acknowledged(node: Int, _ segments: [VerifiedSegment]) -> String? {
        for verified in segments {
            Self.forEachChange(in: verified.segment) { _, digest, view, bytes in
                view.forEachOperation(in: bytes) { _, operation in
                    // The others say all the same.
                    guard case .appendEvent(let event) = Operation(operation, in: bytes), event.payload.count > 2 else {
                        return
                    }
                    said.append(Said(change: digest, text: Self.text(event.stream, event.payload)))
                }
            }
        }
        return nil
    }

    mutating func restored(node: Int, now: VersionVector, elsewhere: VersionVector) -> String? {
        putBackCount += 1
        for (digest, held) in holders where held.nodes.contains(node) && !now.covers(held.dot) {
            holders[digest]?.nodes.remove(node)
        }
        said.removeAll { holders[$0.change]?.nodes.isEmpty ?? true }
        return nil
    }

    mutating func inspected(_ inspection: Inspection) -> String? {
        guard inspection.isThorough else { return nil }
        do throws(StoreError) {
            let shown = try Self.events(inspection.store)
            self.shown[inspection.node] = shown
            guard inspection.isLast else { return nil }
            for event in said {
                let count = shown[event.text] ?? 0
                if count == 0 || count > max(1, putBackCount) {
                    return
                        "node \(inspection.node) shows an acknowledged event \(count) times: \(event.text.prefix(60))"
                }
            }
            return nil
        } catch { return "node \(inspection.node) cannot be read: \(error)" }
    }

    /// Histories of which none gives way are held by some members each.
    mutating func stoodStill(_ ending: WorldEnding) -> String? {
        let shown = ending.nodes.compactMap { self.shown[$0.number] }
        guard let lost = said.first(where: { event in shown.allSatisfy { $0[event.text] == nil } }) else { return nil }
        return "no member shows an acknowledged event: \(lost.text.prefix(60))"
    }

    /// The number of times that each event is shown.
    private static func events(_ store: SQLiteStore) throws(StoreError) -> [String: Int] {
        var shown: [String: Int] = [:]
        for stream in try store.streams(of: .home) {
            let query = EventQuery(
                space: .home, stream: stream.name, order: .arrival(after: 0), limit: .max, byteBudget: .max)
            for event in try store.events(query) { shown[text(stream.name, event.payload), default: 0] += 1 }
        }
        return shown
    }

    private static func text(_ stream: String, _ payload: [UInt8]) -> String {
        "\(stream): \(String(decoding: payload, as: UTF8.self))"
    }

    private static func forEachChange(
        in segment: Segment, _ body: (Dot, [UInt8], ChangeView, [UInt8]) -> Void
    ) {
        var reader = ByteReader(segment.bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            let dot = Dot(replica: segment.replica, counter: view.start)
            body(dot, Array(view.digest(in: segment.bytes)), view, segment.bytes)
        }
    }
}
