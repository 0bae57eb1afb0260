import SyncModel
import Testing

@Suite struct ObjectReadingTests {
    /// One node, one life, these edits one after the other.
    private func state(_ edits: [ObjectFields.Operation]) -> ObjectState {
        var world = ObjectWorld(nodes: 2)
        world.write(.edit(.birth, edits), by: 0)
        return world.nodes[0].state
    }

    private func schema(_ text: String) throws -> CollectionSchema {
        var schema = CollectionSchema()
        let edit = try #require(try schema.setting(JSONValue(text: text), collection: "note"))
        let replica = ObjectHistory(nodes: 1).replicas[0]
        schema.apply(
            edit,
            at: Origin(
                dot: Dot(replica: replica, counter: 0), stamp: Stamp(rawValue: 1), context: VersionVector()))
        return schema
    }

    private func read(
        _ state: ObjectState, _ schema: CollectionSchema? = nil, isLive: (ObjectKey) -> Bool = { _ in true }
    ) -> ObjectReading {
        ObjectReading(state, schema: schema, isLive: isLive)
    }

    @Test func `values of several types in one field: the schema's is shown, the others are a conflict`() throws {
        let state = state([.update("a", .register(.set("x"))), .update("a", .set(.add(1)))])
        #expect(read(state).json.text == #"{"a":"x"}"#)
        let reading = try read(state, schema(#"{"fields":{"a":"set"}}"#))
        #expect(reading.json.text == #"{"a":[1]}"#)
        #expect(reading.conflicts.map(\.kind) == [.types])
        #expect(reading.conflicts.map(\.values) == [[[1], "x"]])
        // A type of which nothing is live does not hide what is.
        #expect(try read(state, schema(#"{"fields":{"a":"text"}}"#)).json.text == #"{"a":"x"}"#)
    }

    @Test func `conflicts are found however deep, with their path`() {
        var world = ObjectWorld(nodes: 2)
        let birth = world.write(.edit(.birth, [.update("a", .dictionary(.create))]), by: 0)
        world.syncAll()
        for node in 0..<2 {
            let edit: ObjectFields.Operation = .update(
                "a", .dictionary(.update("x/y", .dictionary(.update("~", .register(.set(.integer(Int64(node)))))))))
            world.write(
                .edit(Operation.LifeReference(to: birth, by: world.nodes[node].replica), [edit]), by: node,
                at: Int64(node))
        }
        world.syncAll()
        let reading = read(world.nodes[0].state)
        #expect(reading.conflicts.map(\.path) == ["a/x~1y/~0"])
        #expect(reading.conflicts.map(\.values) == [[1, 0]])
    }

    @Test func `references to what is not live here are left out`() throws {
        let state = state([
            .update("tags", .set(.add("a"))), .update("tags", .set(.add("b"))), .update("owner", .register(.set("c"))),
            .update("first", .register(.set("a"))), .update("free", .register(.set("c"))),
        ])
        let text = """
            {"fields":{"tags":{"type":"set","refers":"tag"},"owner":{"type":"register","refers":"tag"},\
            "first":{"type":"register","refers":"tag"}}}
            """
        let reading = try read(state, schema(text)) { $0 == ObjectKey(collection: "tag", id: "a") }
        #expect(reading.json.text == #"{"first":"a","free":"c","tags":["a"]}"#)
    }

    @Test func `what is shipped under a name that is local here is not shown`() throws {
        let state = state([.update("draft", .register(.set("x"))), .update("a", .register(.set(.null)))])
        #expect(try read(state, schema(#"{"fields":{"draft":"local"}}"#)).json.text == #"{"a":null}"#)
    }

    @Test func `keys that only look alike stay apart`() {
        let state = state([
            .update("e\u{301}", .register(.set(1))), .update("\u{e9}", .register(.set(2))),
            .update("", .register(.set(3))),
        ])
        #expect(read(state).fields.map(\.value) == [3, 1, 2])
    }

    @Test func `escapes in paths read back`() {
        for key: ExactString in ["", "a", "~", "/", "~1", "~01/", "é/~"] {
            #expect(ExactString(pointerEscaped: key.pointerEscaped) == key)
        }
        #expect(ExactString(pointerEscaped: "~x~") == "~x~")
    }
}
