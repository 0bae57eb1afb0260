import ControlAPI
import SyncAgent
import SyncModel
import SyncStore
import Synchronization

/// A live query whose first search is done: the answer to one reader.
struct LiveReading: ~Copyable, Sendable {
    /// The objects of a whole result that are written at once.
    private static let pageObjects = 500

    private let queries: LiveQueries
    private let query: SyncStore.ObjectQuery
    /// The result, and its difference to what the reader knows; nil for a reader that needs all. Taken once: a result that was
    /// held here for as long as it is read would be copied by its first change.
    private let begun: Mutex<(result: LiveResult, lines: LiveLines?)?>

    init(_ queries: LiveQueries, _ result: LiveResult, _ lines: LiveLines?) {
        self.queries = queries
        query = result.query
        begun = Mutex((result, lines))
    }

    /// Writes the result, and then its differences, until the agent stops or the task is cancelled.
    func write(to writer: inout StreamWriter) async throws {
        guard let (first, lines) = begun.withLock({ $0.take() }) else { return }
        var reserved = 0
        defer { try? queries.reserve(-reserved) }
        func reserve(for count: Int) throws(ControlError) {
            try queries.reserve(count - reserved)
            reserved = count
        }
        var result = consume first
        try reserve(for: result.reservedCount)
        if let lines { try await writer.write(lines) } else { try await writeAll(&result, to: &writer) }
        var held: LiveResult? = consume result
        while let result = held.take() {
            switch try await queries.next(consume result) {
            case .changed(let moved, let lines):
                guard !moved.isTooLarge else { throw ControlError.liveResultTooLarge }
                try reserve(for: moved.reservedCount)
                try await writer.write(lines)
                held = moved
            case .outdated:
                var found = try await queries.agent.beginLive(query, after: nil).result
                try reserve(for: found.reservedCount)
                try await writeAll(&found, to: &writer)
                held = found
            case .failed(let error): throw error
            case .again, .ended: return
            }
        }
    }

    /// Writes a result from its beginning.
    private func writeAll(_ result: inout LiveResult, to writer: inout StreamWriter) async throws {
        try await writer.write(JSONEncoding.bytes(QueryChange.reset))
        let position = LivePosition(of: result).text
        var written = 0
        while !result.ids(written..<written + 1).isEmpty {
            let lines = try await queries.agent.liveLines(at: written..<written + Self.pageObjects, in: &result)
            written += lines.count
            try await writer.write(lines)
        }
        try await writer.write(LiveLines(lines: [], position: position))
    }
}
