import ControlAPI
import Testing

@Suite struct ValueRuleTests {
    @Test(arguments: [
        "{}", #"{"a":null}"#, #"{"n":9223372036854775807,"m":-9223372036854775808,"d":1.5e300,"z":-0}"#,
        "{\"caf\u{E9}\":1,\"cafe\u{301}\":2}", #"{"":1}"#, #"{"a/b":1,"~":2,"\u0000":3}"#, #"{"e":1e-400}"#,
    ])
    func `what JSON can say passes`(text: String) throws { try ValueRule.checkFields(try JSONText(text)) }

    @Test(arguments: [
        ("[]", ErrorCode.typeMismatch), ("1", .typeMismatch), ("null", .typeMismatch), (#""a""#, .typeMismatch),
        (#"{"a":1,"a":1}"#, .malformedJSON), (#"{"x":{"a":1,"b":2,"\u0061":3}}"#, .malformedJSON),
        (#"{"n":9223372036854775808}"#, .numberOutOfRange), (#"{"n":[-9223372036854775809]}"#, .numberOutOfRange),
        (#"{"n":1e309}"#, .numberOutOfRange), (#"{"n":123456789012345678901234567890}"#, .numberOutOfRange),
    ])
    func `what would be lost on the way is refused`(text: String, code: ErrorCode) throws {
        let value = try JSONText(text)
        let error = #expect(throws: ControlError.self) { try ValueRule.checkFields(value) }
        #expect(error?.code == code)
        #expect(error?.hint.isEmpty == false)
    }

    @Test func `the bounds are 64 levels and 1 MiB`() throws {
        func fields(depth: Int) throws -> JSONText {
            try JSONText(
                String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth))
        }
        try ValueRule.checkFields(try fields(depth: 64))
        let deep = try fields(depth: 65)
        #expect(throws: ControlError.self) { try ValueRule.checkFields(deep) }
        func fields(bytes: Int) throws -> JSONText {
            try JSONText(#"{"a":""# + String(repeating: "x", count: bytes - 8) + #""}"#)
        }
        try ValueRule.checkFields(try fields(bytes: ControlLimits.valueBytes))
        let large = try fields(bytes: ControlLimits.valueBytes + 1)
        let error = #expect(throws: ControlError.self) { try ValueRule.checkFields(large) }
        #expect(error?.code == .tooLarge)
    }

    @Test func `bad bytes have codes of their own`() {
        for (bytes, code) in [
            (Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8), ErrorCode.invalidUTF8),
            (Array("{".utf8), .malformedJSON),
            (Array(repeating: UInt8(ascii: "["), count: 200), .tooDeep),
        ] {
            let error = #expect(throws: JSONSyntaxError.self) { try JSONText(bytes) }
            #expect(error.map { ControlError(malformed: $0).code } == code)
        }
    }

    // MARK: Lines

    @Test(
        arguments: [
            (#"{"title":"a"}"#, nil, #"{"title":"a"}"#), (#"{"id":"x","title":"a"}"#, "x", #"{"title":"a"}"#),
            (#"{ "b" : 1.0 , "id":"x","a":[ 1 ]}"#, "x", #"{"b":1.0,"a":[ 1 ]}"#), (#"{"id":"x"}"#, "x", "{}"),
            ("{}", nil, "{}"),
            (#"{"id":"x","collection":"c","fields":{"id":"y"},"version":"r:1"}"#, "x", #"{"id":"y"}"#),
            (#"{"id":"x","fields":{"a":1}}"#, "x", #"{"fields":{"a":1}}"#),
        ] as [(String, String?, String)])
    func `a line may name its object`(text: String, id: String?, fields: String) throws {
        let put = try ObjectPut(line: try JSONText(text), collection: "c")
        #expect(put.id == id)
        #expect(put.fields.description == fields)
    }

    @Test(arguments: [
        (#"{"id":5}"#, ErrorCode.invalidArgument), (#"{"id":null}"#, .invalidArgument),
        (#"{"id":"a/b"}"#, .invalidName),
        (#"{"id":""}"#, .invalidName), ("[1]", .typeMismatch), (#"{"id":"a","id":"b"}"#, .malformedJSON),
        (#"{"id":"x","collection":"d","fields":{},"version":"r:1"}"#, .invalidArgument),
    ])
    func `a line with a bad name is refused`(text: String, code: ErrorCode) throws {
        let line = try JSONText(text)
        let error = #expect(throws: ControlError.self) { try ObjectPut(line: line, collection: "c") }
        #expect(error?.code == code)
    }

    // MARK: Names, conditions, versions, decisions

    @Test func `an object is named by its collection and id`() throws {
        let name = try ObjectName(parsing: "note/n 1")
        #expect(name.collection == "note" && name.id == "n 1")
        #expect(try ObjectName(parsing: "n/caf\u{E9}") != ObjectName(parsing: "n/cafe\u{301}"))
        for (text, code) in [
            ("note", ErrorCode.invalidArgument), ("note/", .invalidName), ("/n", .invalidName), ("a/b/c", .invalidName),
            ("a/b\n", .invalidName), ("a/" + String(repeating: "x", count: 257), .invalidName),
            (String(repeating: "x", count: 129) + "/a", .invalidName),
        ] {
            let error = #expect(throws: ControlError.self) { try ObjectName(parsing: text) }
            #expect(error?.code == code)
        }
        _ = try ObjectName(parsing: "a/" + String(repeating: "x", count: 256))
    }

    @Test(arguments: ["r:1", "A-B.0001:18446744073709551615"])
    func `versions read back`(text: String) throws { #expect(try DotText(parsing: text).description == text) }

    @Test(arguments: ["", "r", "r:", ":1", "r:x", "r:-1", "r:+1", "r:18446744073709551616"])
    func `other texts are no versions`(text: String) {
        let error = #expect(throws: ControlError.self) { try DotText(parsing: text) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func `decisions read back`() throws {
        for text in ["keep", "delete", "dismiss", "title=Milk", "cfg/n=5"] {
            let resolution = try Resolution(parsing: text)
            let read = try JSONDecoding.value(
                Resolution.self, from: JSONEncoding.bytes(resolution), unknownKeys: .refuse)
            #expect(read == resolution)
        }
        #expect(throws: ControlError.self) { try Resolution(parsing: "Keep") }
    }

    @Test func `a value of more parts than one write plans is refused by their number`() throws {
        let many = Array(repeating: "1", count: ControlLimits.valueParts - 1).joined(separator: ",")
        try ValueRule.check(try JSONText("[\(many)]"))
        #expect(throws: ControlError.self) { try ValueRule.check(try JSONText("[[\(many)]]")) }
    }
}
