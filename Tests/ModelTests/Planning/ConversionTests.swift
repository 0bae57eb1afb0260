import SyncModel
import Testing

/// Fields that go on in another type.
struct ConversionTests {
    private static let cases: [(put: String, to: FieldType, reads: String)] = [
        (#"["b","a","b"]"#, .set, #"["a","b"]"#), (#"["b","a","b"]"#, .orderedSet, #"["b","a"]"#),
        ("3", .counter, "3"), (#""milk""#, .text, #""milk""#), (#"{"a":1}"#, .register, #"{"a":1}"#),
    ]

    @Test(arguments: cases.indices)
    func `what is shown goes on in the new type, and in no other`(index: Int) throws {
        let (put, type, reads) = Self.cases[index]
        var desk = Desk(0)
        try desk.write(.put(Desk.key, .init(fields: [.init(key: "f", value: try JSONValue(text: put))])))
        try desk.write(.convert(Desk.key, field: "f", to: type))
        let value = desk.object.mergedField("f")
        #expect(value.parts.map(\.type) == [type])
        #expect(value.json(preferring: nil) == (try JSONValue(text: reads)))
        #expect(try desk.plan(.convert(Desk.key, field: "f", to: type)).operations.isEmpty, "once is enough")
    }

    @Test func `what does not fit stays as it is`() throws {
        var desk = Desk(0)
        try desk.write(.put(Desk.key, .init(fields: [.init(key: "f", value: .string("many"))])))
        #expect(throws: ObjectRefusal.typeMismatch(field: "f", expected: .counter)) {
            try desk.write(.convert(Desk.key, field: "f", to: .counter))
        }
        #expect(try desk.plan(.convert(Desk.key, field: "none", to: .set)).operations.isEmpty)
    }
}
