import SyncModel

/// Nodes that write one object apart and hear of each other at random; every write is remembered as its author saw it.
struct WrittenHistory {
    struct Write {
        let version: Dot
        /// What the author read behind it; nil: there was no object.
        let json: JSONValue?
    }

    private(set) var desks: [Desk]
    private(set) var writes: [Write] = []
    private var generator: SeededGenerator

    static let schema = #"{"fields":{"t":"text","s":"set","k":"counter","l":"list"},"deletePolicy":"updateWins"}"#
    private static let scraps = ["a", "xyz", "é", "😀", "line\n", "e\u{301}", "\n", "hello world"]

    /// - Parameter deletes: whether the object is also deleted, and born again, by several at once too.
    init(seed: UInt64, deletes: Bool) throws {
        generator = SeededGenerator(seed: seed)
        desks = Desk.among(3, schema: try CollectionSchema(Self.schema))
        try desks[0].put("{}")
        record(0)
        for index in 1..<desks.count where !deletes || generator.chance(50) { desks[index].hear(desks[0]) }
        for _ in 0..<Int.random(in: 5...40, using: &generator) {
            let index = Int.random(in: desks.indices, using: &generator)
            if generator.chance(25) {
                desks[index].hear(desks[Int.random(in: desks.indices, using: &generator)])
            } else {
                write(index, deletes: deletes)
            }
        }
    }

    /// Everybody hears of everything.
    mutating func meet() {
        for index in desks.indices.dropFirst() { desks[0].hear(desks[index]) }
        for index in desks.indices.dropFirst() { desks[index].hear(desks[0]) }
    }

    private mutating func record(_ index: Int) {
        guard let version = desks[index].version else { return }
        if writes.last?.version != version { writes.append(Write(version: version, json: desks[index].json)) }
    }

    /// What is refused is not written.
    private mutating func write(_ index: Int, deletes: Bool) {
        let before = desks[index].log.count
        if deletes, generator.chance(8) {
            _ = try? desks[index].delete()
        } else {
            let edits = (0..<Int.random(in: 1...3, using: &generator)).map { _ in edit(desks[index]) }
            _ = try? desks[index].edit(edits, creating: true)
        }
        if desks[index].log.count > before { record(index) }
    }

    private mutating func edit(_ desk: Desk) -> (String, FieldEdit.Action) {
        let count: Int
        if case .string(let text)? = desk.json?["t"] { count = text.string.unicodeScalars.count } else { count = 0 }
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: return ("r", .set(.integer(Int64.random(in: 0..<3, using: &generator))))
        case 1: return ("s", generator.chance(60) ? .add(number) : .remove(number))
        case 2: return ("k", .increment(Int64.random(in: -2...2, using: &generator)))
        case 3: return ("l", .insert(at: 0, number))
        case 4: return ("l", .delete(at: 0, count: 1))
        case 5: return (generator.chance(50) ? "t" : "r", .unset)
        case 6: return ("d/x", .set(number))
        case 7...8 where count > 0:
            let start = Int.random(in: 0..<count, using: &generator)
            return ("t", .delete(at: start, count: Int.random(in: 1...min(4, count - start), using: &generator)))
        case _:
            let offset = Int.random(in: 0...count, using: &generator)
            return ("t", .insert(at: offset, .text(Self.scraps[Int.random(in: 0..<8, using: &generator)])))
        }
    }

    private var number: JSONValue {
        mutating get { .integer(Int64.random(in: 0..<4, using: &generator)) }
    }
}

extension Desk {
    /// All it holds, with clocks that tell the changes apart.
    var past: ObjectPast {
        ObjectPast(
            log.compactMap { entry in
                entry.operation.objectAction.map { _, action in
                    PastOperation(
                        origin: entry.origin, action: action,
                        wallMilliseconds: Int64(truncatingIfNeeded: entry.origin.stamp.rawValue))
                }
            })
    }

    func json(of state: ObjectState) -> JSONValue? {
        guard case .live = state.judgement else { return nil }
        return ObjectReading(state, schema: schema) { _ in true }.json
    }
}
