import ControlAPI
import SyncAgent
import SyncModel
import SyncStore

/// The lines of one difference of a live query, and the position behind it.
struct LiveLines: Sendable {
    /// JSON values without line breaks.
    var lines: [[UInt8]]
    var position: String
}

// The beginning of a live query, and the form of its lines.
extension Agent {
    /// - Parameter query: its limit is `.max` for no limit.
    func liveStoreQuery(_ query: ObjectListQuery) throws(ControlError) -> SyncStore.ObjectQuery {
        let order = ObjectOrder(query.order.steps.map { ObjectOrder.Step($0) }, isReversed: query.order.reverse)
        return SyncStore.ObjectQuery(
            space: .home, collection: ExactString(query.collection), selection: .standing(.live),
            condition: try query.condition.map { condition throws(ControlError) in
                try SyncStore.ObjectQuery.Condition(condition)
            }, order: order, limit: query.limit)
    }

    /// Searches the result of a live query, or what has changed of it since a position that `LiveLines` named. Throws
    /// `unknown_collection` as `objects` does, `too_large` for more than `LiveResult.maximumObjects` without a limit.
    ///
    /// - Returns: the lines of the difference; nil if the reader needs the whole result.
    func beginLive(
        _ query: SyncStore.ObjectQuery, after token: String?
    ) async throws(ControlError) -> (result: LiveResult, lines: LiveLines?) {
        try await reading { () throws(ControlError) in
            var position: Int64?
            if let token {
                guard let parts = LivePosition(token) else { throw .badCursor }
                position = parts.position
            }
            let (result, step) = try read { [position] () throws(StoreError) in
                try store.liveResult(of: query, since: position)
            }
            guard !result.isTooLarge else { throw .liveResultTooLarge }
            if result.isEmpty, let collection = query.collection { try checkIsKnown(collection) }
            if let token, token != LivePosition(of: result, at: position ?? 0).text { return (result, nil) }
            var entries = LiveEntries(store)
            switch step {
            case .outdated: return (result, nil)
            case .unchanged: return (result, LiveLines(lines: [], position: LivePosition(of: result).text))
            case .changed(let difference, let objects):
                let lines = try read { () throws(StoreError) in try entries.lines(difference, objects) }
                return (result, LiveLines(lines: lines, position: LivePosition(of: result).text))
            }
        }
    }

    /// Returns the lines of the objects at some indices of a whole result. Objects that went since the search are taken out of
    /// the result, and what follows moves up: the reader never knows them.
    func liveLines(
        at indices: Range<Int>, in result: inout LiveResult
    ) async throws(ControlError) -> [[UInt8]] {
        guard let collection = result.query.collection else { return [] }
        let ids = result.ids(indices)
        let found = try await reading { () throws(ControlError) in
            var entries = LiveEntries(store)
            return try read { () throws(StoreError) in
                try ids.map { id throws(StoreError) in
                    let object = try store.shownObject(ObjectKey(collection: collection, id: id), space: .home)
                    guard let object, object.summary.standing == .live else { return nil }
                    return try entries.bytes(object)
                } as [[UInt8]?]
            }
        }
        var lines: [[UInt8]] = []
        for (id, bytes) in zip(ids, found) {
            if let bytes {
                lines.append(LiveEntries.line(.inserted, index: indices.lowerBound + lines.count, bytes))
            } else {
                result.remove(id)
            }
        }
        return lines
    }
}

/// The objects of one step as JSON, each written once for all queries that show it.
struct LiveEntries {
    private var reader: ObjectReader
    private var known: [ObjectKey: [UInt8]] = [:]

    init(_ store: SQLiteStore) { reader = ObjectReader(store) }

    mutating func bytes(_ object: StoredObject) throws(StoreError) -> [UInt8] {
        if let bytes = known[object.key] { return bytes }
        var writer = JSONWriter(capacity: 512)
        try reader.entry(object).write(to: &writer)
        known[object.key] = writer.bytes
        return writer.bytes
    }

    /// - Parameter objects: those that are placed, in their order.
    mutating func lines(_ difference: LiveDifference, _ objects: [StoredObject]) throws(StoreError) -> [[UInt8]] {
        var lines: [[UInt8]] = difference.removed.map { JSONEncoding.bytes(QueryChange.removed(id: $0.string)) }
        for (placed, object) in zip(difference.placed, objects) {
            let kind: QueryChange.Kind =
                switch placed.kind {
                case .inserted: .inserted
                case .changed: .changed
                case .moved: .moved
                }
            lines.append(Self.line(kind, index: placed.index, try bytes(object)))
        }
        return lines
    }

    /// A `QueryChange.placed`, without encoding the object anew.
    static func line(_ kind: QueryChange.Kind, index: Int, _ object: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(capacity: object.count + 64)
        writer.raw("{\"kind\":")
        writer.string(kind.rawValue)
        writer.raw(",\"index\":")
        writer.integer(UInt64(index))
        writer.raw(",\"object\":")
        writer.raw(object)
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}

/// A place in the changes of a live query: the position of the store, and a mark of all else that the result follows from. The
/// mark differs in every process: after a restart of the agent a result is shown anew.
struct LivePosition {
    let position: Int64
    private let mark: String

    init(of result: LiveResult, at position: Int64? = nil) {
        self.position = position ?? result.position
        var hasher = Hasher()
        hasher.combine(result.query)
        hasher.combine(result.schema?.canonicalBytes)
        mark = String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 36)
    }

    /// Reads `text`; nil for another text.
    init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let position = Int64(parts[0]), position >= 0 else { return nil }
        self.position = position
        mark = String(parts[1])
    }

    var text: String { "\(position)-\(mark)" }
}

extension ControlError {
    static let liveResultTooLarge = ControlError(
        .tooLarge, "The result has more than \(LiveResult.maximumObjects) objects, too many to be kept up to date.",
        hint: "Narrow the condition, or give a limit.")
}
