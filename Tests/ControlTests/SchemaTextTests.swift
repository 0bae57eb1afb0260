import ControlAPI
import Testing

@Suite struct SchemaTextTests {
    private static let example = #"""
        {"fields":{"title":"register","createdAt":"constant","plays":"counter","tags":{"type":"set","refers":"tag"},"body":"text","draft":"local"},"deletePolicy":"deleteWins","indexed":["title"],"upsert":true}
        """#

    private func setting(_ text: String) throws -> SchemaEntry {
        try SchemaEntry(setting: try JSONText(text), of: "note")
    }

    @Test func `the example of the design reads`() throws {
        let schema = try setting(Self.example)
        #expect(schema.collection == "note")
        #expect(schema.fields.map(\.name) == ["title", "createdAt", "plays", "tags", "body", "draft"])
        #expect(schema.fields.map(\.type) == [.register, .constant, .counter, .set, .text, .local])
        #expect(schema.fields[3].refers == "tag")
        #expect(schema.deletePolicy == .deleteWins && schema.indexed == ["title"] && schema.upsert == true)
        let read = try JSONDecoding.value(
            SchemaEntry.self, from: JSONEncoding.bytes(schema), unknownKeys: .ignore)
        #expect(read == schema)
        #expect(try setting(schema.settingText.description) == schema)
    }

    @Test func `what is not said is not sent, and shows what holds then`() throws {
        let schema = try setting(#"{"fields":{"n":"counter"}}"#)
        #expect(schema.settingText.description == #"{"collection":"note","fields":{"n":"counter"}}"#)
        #expect(
            String(decoding: JSONEncoding.bytes(schema), as: UTF8.self)
                == #"{"collection":"note","fields":{"n":"counter"},"deletePolicy":"deleteWins","indexed":[],"upsert":true}"#
        )
    }

    @Test(arguments: [
        "[]", #"{"fields":[]}"#, #"{"fields":{"a":"registr"}}"#, #"{"fields":{"a":5}}"#, #"{"fields":{"a":{}}}"#,
        #"{"fields":{"a":{"type":"set","refers":5}}}"#, #"{"fields":{"a":{"type":"counter","refers":"tag"}}}"#,
        #"{"fields":{"a":{"type":"set","refer":"tag"}}}"#, #"{"deletePolicy":"newest"}"#, #"{"deletePolicy":5}"#,
        #"{"indexed":"title"}"#, #"{"indexed":[5]}"#, #"{"upsert":"no"}"#, #"{"field":{}}"#, #"{"collection":"other"}"#,
    ])
    func `a bad schema is refused with a hint`(text: String) throws {
        let error = #expect(throws: ControlError.self) { try setting(text) }
        #expect(error?.code == .schemaInvalid)
        #expect(error?.hint.isEmpty == false)
    }

    @Test func `what a newer agent wrote is shown as it is`() throws {
        let text =
            #"{"collection":"note","fields":{"a":"graph","b":{"type":"set","weight":[1.0]}},"deletePolicy":"vote","indexed":[],"upsert":true,"quota":{"n":1}}"#
        let schema = try JSONDecoding.value(SchemaEntry.self, from: Array(text.utf8), unknownKeys: .ignore)
        #expect(String(decoding: JSONEncoding.bytes(schema), as: UTF8.self) == text)
    }

    @Test func `normalisation twins are two fields`() throws {
        let schema = try setting("{\"fields\":{\"caf\u{E9}\":\"set\",\"cafe\u{301}\":\"list\"}}")
        #expect(schema.fields.map(\.type) == [.set, .list])
    }

    @Test(arguments: [
        (#"{"latestOnly":true}"#, StreamSettings(latestOnly: true)),
        (#"{"retainSeconds":60}"#, StreamSettings(retention: .seconds(60))),
        (#"{"latestOnly":false,"retainSeconds":null}"#, StreamSettings(latestOnly: false, retention: .forever)),
    ])
    func `stream settings read back`(text: String, settings: StreamSettings) throws {
        #expect(
            try JSONDecoding.value(StreamSettings.self, from: Array(text.utf8), unknownKeys: .refuse) == settings)
        #expect(String(decoding: JSONEncoding.bytes(settings), as: UTF8.self) == text)
    }

    @Test(arguments: ["{}", #"{"retainSeconds":0}"#, #"{"latestOnly":null}"#, #"{"latest":true}"#])
    func `other stream settings are refused`(text: String) {
        #expect(throws: ControlError.self) {
            try JSONDecoding.value(StreamSettings.self, from: Array(text.utf8), unknownKeys: .refuse)
        }
    }
}
