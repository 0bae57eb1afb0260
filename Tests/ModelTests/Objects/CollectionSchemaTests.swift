import SyncModel
import Testing

@Suite struct CollectionSchemaTests {
    private let replica = ObjectHistory(nodes: 2).replicas[0]
    private let other = ObjectHistory(nodes: 2).replicas[1]

    private func origin(_ replica: ReplicaID, _ counter: UInt64, stamp: UInt64, knows: [ReplicaID: UInt64] = [:])
        -> Origin
    {
        Origin(
            dot: Dot(replica: replica, counter: counter), stamp: Stamp(rawValue: stamp),
            context: VersionVector(knows.map { VersionVector.Entry(replica: $0.key, next: $0.value) }))
    }

    private func schema(_ text: String) throws -> CollectionSchema {
        var schema = CollectionSchema()
        let edit = try #require(try schema.setting(JSONValue(text: text), collection: "note"))
        schema.apply(edit, at: origin(replica, 0, stamp: 1))
        return schema
    }

    private let whole = """
        {"fields":{"title":"register","createdAt":"constant","plays":"counter","tags":{"type":"set","refers":"tag"},\
        "body":"text","draft":"local"},"deletePolicy":"updateWins","indexed":["title"],"upsert":false}
        """

    @Test func `what was set is read`() throws {
        let schema = try schema(whole)
        #expect(schema["title"]?.kind == .replicated(.register))
        #expect(schema["tags"]?.kind == .replicated(.set))
        #expect(schema["tags"]?.refers == "tag")
        #expect(schema["draft"]?.kind == .local)
        #expect(schema["nothing"] == nil)
        #expect(schema.deletePolicy == .updateWins)
        #expect(schema.indexed == ["title"])
        #expect(!schema.upsert)
        #expect(try schema.json == JSONValue(text: whole))
    }

    @Test func `nothing set is the default`() {
        let schema = CollectionSchema()
        #expect(schema.isEmpty)
        #expect(schema.deletePolicy == .deleteWins)
        #expect(schema.upsert)
        #expect(schema.digestTerm(collection: "note") == nil)
        #expect(schema.json == .object([]))
    }

    @Test func `setting the same again writes nothing, and what is not named stays`() throws {
        var schema = try schema(whole)
        #expect(try schema.setting(JSONValue(text: whole), collection: "note") == nil)
        #expect(try schema.setting(JSONValue(text: "{}"), collection: "note") == nil)
        let wish = try JSONValue(text: #"{"fields":{"title":{"type":"register"},"stars":"counter"}}"#)
        let edit = try #require(try schema.setting(wish, collection: "note"))
        #expect(edit.entries.map(\.key) == ["fields/stars"])
        schema.apply(edit, at: origin(replica, 20, stamp: 2))
        #expect(schema["body"]?.kind == .replicated(.text))
        #expect(schema["stars"]?.kind == .replicated(.counter))
        #expect(schema.deletePolicy == .updateWins)
    }

    @Test func `fields that are not listed are indexed no more`() throws {
        var schema = try schema(whole)
        let edit = try #require(try schema.setting(JSONValue(text: #"{"indexed":["plays"]}"#), collection: "note"))
        schema.apply(edit, at: origin(replica, 20, stamp: 2))
        #expect(schema.indexed == ["plays"])
    }

    @Test func `keys of a later version are kept and shown, also inside a field`() throws {
        let text = #"{"fields":{"a/b~":{"type":"set","color":"red"}},"fields/x":1,"later":{"deep":[1,2]}}"#
        let schema = try schema(text)
        #expect(try schema.json == JSONValue(text: text))
        #expect(schema["x"] == nil)
        #expect(schema["a/b~"]?.kind == .replicated(.set))
    }

    @Test func `two nodes that add fields apart keep both, and one field set apart is a conflict`() throws {
        let start = CollectionSchema()
        let mine = try #require(
            try start.setting(JSONValue(text: #"{"fields":{"a":"set","b":"text"}}"#), collection: "c"))
        let theirs = try #require(
            try start.setting(JSONValue(text: #"{"fields":{"a":"list","c":"counter"}}"#), collection: "c"))
        var one = start
        one.apply(mine, at: origin(replica, 0, stamp: 1))
        one.apply(theirs, at: origin(other, 0, stamp: 2))
        var two = start
        two.apply(theirs, at: origin(other, 0, stamp: 2))
        two.apply(mine, at: origin(replica, 0, stamp: 1))
        #expect(one == two)
        #expect(one.digestTerm(collection: "c") == two.digestTerm(collection: "c"))
        #expect(one.fieldNames == ["a", "b", "c"])
        #expect(one["a"]?.kind == .replicated(.list))
        #expect(one.conflicts.map(\.key) == ["fields/a"])
        let edit = try #require(try one.setting(JSONValue(text: #"{"fields":{"a":"list"}}"#), collection: "c"))
        one.apply(edit, at: origin(replica, 2, stamp: 3, knows: [other: 2]))
        #expect(one.conflicts.isEmpty)
    }

    @Test(arguments: [
        ("[]", ObjectRefusal.invalidSchema(key: "")),
        (#"{"fields":[]}"#, .invalidSchema(key: "fields")),
        (#"{"fields":{"a":1}}"#, .invalidSchema(key: "fields/a")),
        (#"{"fields":{"a":{}}}"#, .invalidSchema(key: "fields/a/type")),
        (#"{"fields":{"a":"sett"}}"#, .unknownType(field: "a", name: "sett")),
        (#"{"fields":{"a":{"type":"set","refers":"x/y"}}}"#, .invalidSchema(key: "fields/a/refers")),
        (#"{"deletePolicy":"never"}"#, .invalidSchema(key: "deletePolicy")),
        (#"{"upsert":1}"#, .invalidSchema(key: "upsert")), (#"{"indexed":["a",1]}"#, .invalidSchema(key: "indexed")),
    ])
    func `a schema that makes no sense is refused whole`(_ text: String, _ refusal: ObjectRefusal) throws {
        let wish = try JSONValue(text: text)
        #expect(throws: refusal) { try CollectionSchema().setting(wish, collection: "note") }
    }

    @Test func `what a peer says that makes no sense counts as not given`() {
        var schema = CollectionSchema()
        let entries: [(ExactString, JSONValue)] = [
            ("fields/a", 7), ("fields/b", .object([JSONValue.Member(key: "type", value: "later")])), ("fields/", "x"),
            ("deletePolicy", "never"), ("upsert", .null), ("indexed/a", "yes"),
        ]
        let edit = Operation.SchemaEdit(
            collection: "c", entries: entries.map { Operation.SchemaEdit.Entry(key: $0.0, value: $0.1) })
        schema.apply(edit, at: origin(replica, 0, stamp: 1))
        #expect(schema.fieldNames.isEmpty)
        #expect(schema.deletePolicy == .deleteWins)
        #expect(schema.upsert)
        #expect(schema.indexed.isEmpty)
        #expect(!schema.isEmpty)
    }

    @Test func `a change of type names the field, what it was and what it would be`() throws {
        let schema = try schema(whole)
        let wish = try JSONValue(text: #"{"fields":{"title":"text","plays":"counter","stars":"set","body":"local"}}"#)
        let edit = try #require(try schema.setting(wish, collection: "note"))
        let changes = schema.typeChanges(by: edit).sorted { $0.field < $1.field }
        #expect(changes.map(\.field) == ["body", "stars", "title"])
        #expect(changes.map(\.from) == [.replicated(.text), nil, .replicated(.register)])
        #expect(changes.map(\.to) == [.local, .replicated(.set), .replicated(.text)])
    }

    @Test func `state bytes read back`() throws {
        let schema = try schema(whole)
        #expect(try CollectionSchema(canonicalBytes: schema.canonicalBytes) == schema)
    }
}
