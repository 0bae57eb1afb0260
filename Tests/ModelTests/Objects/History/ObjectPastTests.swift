import Glibc
import SyncModel
import Testing

/// An object at earlier versions, and what each change did to it.
@Suite struct ObjectPastTests {
    private let schema: CollectionSchema

    init() throws { schema = try CollectionSchema(WrittenHistory.schema) }

    @Test func `a version shows what its author read, on every node that holds it`() throws {
        for seed in UInt64(1)...300 {
            var history = try WrittenHistory(seed: seed, deletes: seed % 2 == 0)
            history.meet()
            for desk in history.desks {
                let past = desk.past
                for write in history.writes {
                    let change = try #require(past.change(of: write.version), "seed \(seed)")
                    #expect(change.version == write.version, "seed \(seed)")
                    let state = past.state(behind: change, members: desk.members)
                    #expect(desk.json(of: state) == write.json, "seed \(seed), \(write.version)")
                }
            }
        }
    }

    @Test func `what was written apart is not in each other's versions`() throws {
        var desks = Desk.among(2, schema: schema)
        try desks[0].put(#"{"t":"ab"}"#)
        desks[1].hear(desks[0])
        try desks[0].edit("t", .insert(at: 1, "X"))
        try desks[1].edit("t", .insert(at: 1, "Y"))
        let versions = try desks.map { try #require($0.version) }
        desks[0].hear(desks[1])
        desks[1].hear(desks[0])
        for desk in desks {
            let past = desk.past
            let shown = try versions.map { version in
                desk.json(of: past.state(behind: try #require(past.change(of: version)), members: desk.members))
            }
            #expect(shown == [try JSONValue(text: #"{"t":"aXb"}"#), try JSONValue(text: #"{"t":"aYb"}"#)])
        }
    }

    @Test func `any operation of a change names it, and none of another object does`() throws {
        var desk = Desk.among(1, schema: schema)[0]
        try desk.put(#"{"t":"abc","r":1}"#)
        let past = desk.past
        let change = try #require(past.changes.first)
        let start = try #require(desk.log.first).origin.dot
        for counter in start.counter..<start.counter + 5 {
            #expect(past.change(of: Dot(replica: desk.replica, counter: counter))?.version == change.version)
        }
        #expect(past.change(of: Dot(replica: desk.replica, counter: start.counter - 1)) == nil)
        #expect(past.change(of: Dot(replica: desk.replica, counter: start.counter + 100)) == nil)
    }

    // MARK: What each change did

    @Test func `changes told one by one lead to what is shown, and say rightly what was there`() throws {
        for seed in UInt64(1)...300 {
            var history = try WrittenHistory(seed: seed, deletes: seed % 2 == 0)
            if seed % 3 == 0 { history.meet() }
            for desk in history.desks {
                var replay = ObjectReplay(schema: schema, members: desk.members)
                var fields: [ExactString: JSONValue] = [:]
                for change in desk.past.changes {
                    guard let told = replay.redo(change) else { continue }
                    for change in told.fields { try apply(change, to: &fields, "seed \(seed)") }
                    let shown = desk.json(of: replay.state)?.members ?? []
                    #expect(
                        fields == Dictionary(uniqueKeysWithValues: shown.map { ($0.key, $0.value) }), "seed \(seed)")
                }
                #expect(desk.json(of: replay.state) == desk.json, "seed \(seed)")
            }
        }
    }

    private func apply(
        _ change: FieldChange, to fields: inout [ExactString: JSONValue], _ comment: Comment
    ) throws {
        switch change.content {
        case .value(let old, let new):
            #expect(fields[change.field] == old && old != new, comment)
            fields[change.field] = new
        case .text(let edits):
            guard case .string(let text) = fields[change.field] else {
                Issue.record("\(change.field) was no text")
                return
            }
            fields[change.field] = .text(try edited(text.string, edits))
        }
    }

    @Test func `a path is told of by what is there, and nothing else is`() throws {
        var desk = Desk.among(1, schema: schema)[0]
        try desk.put(#"{"d":{"x":1,"y":1},"t":"ab"}"#)
        try desk.put(#"{"d":{"y":2}}"#)
        try desk.put(#"{"d":{"x":3},"t":"abc"}"#)
        var replay = ObjectReplay(schema: schema, members: desk.members)
        let told = desk.past.changes.flatMap { replay.redo($0, path: ["d", "x"])?.fields ?? [] }
        #expect(
            told.map(\.content) == [.value(old: nil, new: 1), .value(old: 1, new: 3)]
                && told.allSatisfy { $0.field == "d" })
        replay = ObjectReplay(schema: schema, members: desk.members)
        let text = desk.past.changes.flatMap { replay.redo($0, path: ["t"])?.fields ?? [] }
        #expect(
            text.map(\.content) == [
                .value(old: nil, new: "ab"), .text([TextEdit(offset: 2, deleted: "", inserted: "c")]),
            ])
    }

    @Test func `an edit without a visible effect still says which field it was about`() throws {
        var desks = Desk.among(2, schema: schema)
        try desks[0].put(#"{"r":1}"#)
        desks[1].hear(desks[0])
        // Both set the same, apart: the one that comes second changes nothing that is shown.
        for number in 0...1 { try desks[number].edit("r", .set(2)) }
        desks[0].hear(desks[1])
        var replay = ObjectReplay(schema: schema, members: desks[0].members)
        var unchanged: [FieldChange] = []
        for change in desks[0].past.changes where replay.redo(change)?.fields.isEmpty == true {
            unchanged += replay.unchangedFields(of: change)
        }
        #expect(unchanged.map(\.field) == ["r"] && unchanged.map(\.content) == [.value(old: 2, new: 2)])
    }

    @Test func `a text that is taken away is told as what it was`() throws {
        var desk = Desk.among(1, schema: schema)[0]
        try desk.put(#"{"t":"abc"}"#)
        try desk.edit([("t", .insert(at: 3, "d")), ("t", .unset)])
        var replay = ObjectReplay(schema: schema, members: desk.members)
        let told = desk.past.changes.compactMap { replay.redo($0) }
        #expect(told.last?.fields.map(\.content) == [.value(old: "abc", new: nil)])
    }

    /// The time of this thread alone: the tests beside this one take turns with it.
    private func processorTime(_ body: () throws -> Void) rethrows -> Duration {
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let start = now()
        try body()
        return now() - start
    }

    @Test(arguments: [false, true])
    func `ten thousand keystrokes are told by what each typed, in about the time that typing them took`(
        isReborn: Bool
    ) throws {
        var desk = Desk.among(1, schema: schema)[0]
        try desk.put(#"{"t":""}"#)
        if isReborn {
            try desk.delete()
            try desk.put(#"{"t":""}"#)
        }
        let typing = try processorTime {
            for index in 0..<10_000 {
                try desk.edit("t", index % 10 == 9 ? .delete(at: index / 20, count: 1) : .insert(at: index / 20, "x"))
            }
        }
        let past = desk.past
        var count = 0
        let took = processorTime {
            var replay = ObjectReplay(schema: schema, members: desk.members)
            for change in past.changes {
                for told in replay.redo(change)?.fields ?? [] {
                    guard case .text(let edits) = told.content else { continue }
                    count += edits.reduce(0) { $0 + $1.deletedCount + $1.inserted.unicodeScalars.count }
                }
            }
        }
        print("    10,000 keystrokes are told in \(took); typing them took \(typing)")
        #expect(count == 10_000)
        // Reading the whole text for each takes a hundred times as long.
        #expect(took < typing * 10, "\(took), and typing \(typing)")
    }

    // MARK: How two versions differ

    @Test func `a difference says what became of each field`() throws {
        var desk = Desk.among(1, schema: schema)[0]
        try desk.put(#"{"t":"one\ntwo\n","r":1,"d":{"x":1}}"#)
        let old = desk.object
        try desk.put(#"{"t":"one\nTWO\n","d":{"x":2},"new":null}"#)
        try desk.edit("r", .unset)
        let differences = old.differences(to: desk.object, schema: schema)
        #expect(differences.map(\.field) == ["d", "new", "r", "t"])
        #expect(
            differences.dropLast().map(\.content) == [
                .value(old: try JSONValue(text: #"{"x":1}"#), new: try JSONValue(text: #"{"x":2}"#)),
                .value(old: nil, new: .null), .value(old: 1, new: nil),
            ])
        #expect(differences.last?.content == .text(TextComparison("one\ntwo\n", "one\nTWO\n")))
        #expect(
            old.differences(to: desk.object, schema: schema, path: ["d", "x"]).map(\.content) == [
                .value(old: 1, new: 2)
            ])
        #expect(old.differences(to: old, schema: schema).isEmpty)
        #expect(ObjectState().differences(to: old, schema: schema).map(\.field) == ["d", "r", "t"])
    }
}

/// Does the edits, each of which must find what it deletes.
func edited(_ text: String, _ edits: [TextEdit], sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    var scalars = Array(text.unicodeScalars)
    for edit in edits {
        let range = edit.offset..<edit.offset + edit.deletedCount
        try #require(range.upperBound <= scalars.count, sourceLocation: sourceLocation)
        #expect(Array(scalars[range]) == Array(edit.deleted.unicodeScalars), sourceLocation: sourceLocation)
        scalars.replaceSubrange(range, with: edit.inserted.unicodeScalars)
    }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
}
