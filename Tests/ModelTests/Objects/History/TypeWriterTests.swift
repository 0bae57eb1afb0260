import SyncModel
import Testing

/// The authors of a field that was given several types apart.
@Suite struct TypeWriterTests {
    /// Both desks know the other's writes, and one field has two types.
    private func conflicted(_ one: String, _ other: String) throws -> (desks: [Desk], versions: [Dot]) {
        var desks = Desk.among(2)
        try desks[0].put(#"{"at":{"x":1}}"#)
        desks[1].hear(desks[0])
        try desks[0].put(one)
        try desks[1].put(other)
        let versions = try desks.map { try #require($0.version) }
        desks[0].hear(desks[1])
        desks[1].hear(desks[0])
        return (desks, versions)
    }

    @Test(arguments: [
        (#"{"v":"word"}"#, #"{"v":[1,2]}"#, "v"), (#"{"v":5}"#, #"{"v":{"x":{"y":1}}}"#, "v"),
        (#"{"v":[]}"#, #"{"v":{}}"#, "v"), (#"{"at":{"in":[[1]]}}"#, #"{"at":{"in":"word"}}"#, "at/in"),
    ])
    func `each type of a field has its author, in the order of the values`(
        one: String, other: String, path: String
    ) throws {
        let (desks, versions) = try conflicted(one, other)
        for desk in desks {
            let conflict = try #require(desk.reading.conflicts.first)
            #expect(desk.reading.conflicts.count == 1 && conflict.kind == .types && conflict.path == path)
            let writers = desk.past.writersOfTypes(of: desk.object, at: path.keys, nil)
            #expect(writers.count == conflict.values.count)
            let written = try [one, other].map { try value(of: $0, at: path) }
            for (value, writer) in zip(conflict.values, writers) {
                let number = try #require(written.firstIndex(of: value))
                #expect(writer.replica == versions[number].replica)
                let change = try #require(desk.past.change(of: versions[number]))
                #expect(writer.wallMilliseconds == change.wallMilliseconds)
            }
        }
    }

    private func value(of json: String, at path: String) throws -> JSONValue {
        var value = try JSONValue(text: json)
        for key in path.keys { value = try #require(value[key]) }
        return value
    }

    @Test func `the author of a type is the one that changed it last`() throws {
        var (desks, _) = try conflicted(#"{"v":"word"}"#, #"{"v":[1,2]}"#)
        let schema = try CollectionSchema(#"{"fields":{"v":"list"}}"#)
        desks[0].schema = schema
        func writers() -> [ReplicaID] {
            desks[0].past.writersOfTypes(of: desks[0].object, at: ["v"], schema).map(\.replica)
        }
        #expect(writers() == [desks[1].replica, desks[0].replica])
        try desks[0].edit("v/0", .set(7))
        #expect(desks[0].reading.conflicts.map(\.values) == [[[7, 2], "word"]])
        #expect(writers() == [desks[0].replica, desks[0].replica])
    }
}
