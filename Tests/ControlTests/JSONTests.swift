import ControlAPI
import Testing

@Suite struct JSONTests {
    @Test(arguments: [
        "0", "-0", "1.0", "1e5", "-1.25E-3", "true", "null", "\"\"", "\"\\u00e9\\ud83d\\ude00\"", "[]", "{}",
        "[1,2,[3]]", "{\"a\":{\"b\":null}}", "\"héllo\"", " [ 1 , 2 ] ", "123456789012345678901234567890.5",
    ])
    func `what is JSON passes`(text: String) throws {
        let trimmed = text.drop { $0 == " " }
        #expect(try JSONText(text).description.hasPrefix(String(trimmed.prefix(1))))
    }

    @Test(arguments: [
        "", " ", "tru", "01", "1.", ".5", "1e", "+1", "-", "'a'", "\"a", "\"\t\"", "\"\\x\"", "\"\\u12\"", "[1,]",
        "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "1 2", "[", "NaN", "\"\\ud800\"", "\"\\udc00\"",
        "\"\\ud800x\"", "// no\n1",
    ])
    func `what is not JSON is refused`(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONText(text) }
    }

    @Test(
        arguments: [[0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xE2, 0x82]] as [[UInt8]])
    func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) {
        #expect(throws: JSONSyntaxError.self) { try JSONText([0x22] + bytes + [0x22]) }
    }

    @Test func `nesting is bounded`() throws {
        _ = try JSONText(String(repeating: "[", count: 128) + String(repeating: "]", count: 128))
        #expect(throws: JSONSyntaxError.self) {
            try JSONText(String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000))
        }
    }

    @Test func `a payload keeps its bytes, but for line breaks between tokens`() throws {
        #expect(
            try JSONText(" {\"b\":1.0e+05,\n\"a\":\"\\u0041\"}\r\n").description == "{\"b\":1.0e+05, \"a\":\"\\u0041\"}"
        )
    }

    @Test func `an error says where`() {
        #expect(throws: JSONSyntaxError(offset: 5, reason: "a value is missing")) { try JSONText("{\"a\":") }
    }

    private struct Sample: Codable, Equatable {
        let name: String
        let count: Int?
        let payload: JSONText
        let list: [UInt64]
        let flag: Bool
    }

    @Test func `values are written in declared order, with null for what is absent`() throws {
        let sample = Sample(
            name: "é\"\\\n\u{1}", count: nil, payload: try JSONText("[1.50]"), list: [.max], flag: true)
        let text = String(decoding: JSONEncoding.bytes(sample), as: UTF8.self)
        #expect(
            text == #"{"name":"é\"\\\n\u0001","count":null,"payload":[1.50],"list":[18446744073709551615],"flag":true}"#
        )
        #expect(try JSONDecoding.value(Sample.self, from: Array(text.utf8), unknownKeys: .refuse) == sample)
    }

    @Test(arguments: [
        (#"{"name":"a","payload":1,"list":[],"flag":true,"nmae":1}"#, ErrorCode.unknownKey),
        (#"{"name":"a","name":"b","payload":1,"list":[],"flag":true}"#, .malformedJSON),
        (#"{"name":"a","list":[],"flag":true}"#, .invalidArgument),
        (#"{"name":1,"payload":1,"list":[],"flag":true}"#, .invalidArgument),
        (#"{"name":"a","payload":1,"list":[-1],"flag":true}"#, .invalidArgument),
        (#"[]"#, .invalidArgument), (#"{"#, .malformedJSON),
    ])
    func `a request that does not fit is refused with a code`(text: String, code: ErrorCode) {
        let error = #expect(throws: ControlError.self) {
            try JSONDecoding.value(Sample.self, from: Array(text.utf8), unknownKeys: .refuse)
        }
        #expect(error?.code == code)
    }

    @Test func `an answer may have keys this version does not know`() throws {
        let answer = try JSONDecoding.value(
            VersionResponse.self, from: Array(#"{"version":"9","controlAPI":2,"new":[{}]}"#.utf8), unknownKeys: .ignore)
        #expect(answer.version == "9")
    }

    @Test func `the fast writer of event lines agrees with the encoder`() throws {
        let event = EventLine(
            dot: DotText(replica: "R.1", counter: 12), stream: "a \"quoted\" stream", type: nil,
            payload: try JSONText("{\"x\":1.10}"), time: Timestamp(millisecondsSinceEpoch: 1), device: "D",
            position: .canonical("k@1"), redelivered: true)
        var writer = JSONWriter()
        event.write(to: &writer)
        #expect(writer.bytes == JSONEncoding.bytes(event))
        #expect(try JSONDecoding.value(EventLine.self, from: writer.bytes, unknownKeys: .refuse) == event)
    }
}

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_763_699_311_123, "2025-11-21T04:28:31.123Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func `a moment has one text`(milliseconds: Int64, text: String) {
        #expect(Timestamp(millisecondsSinceEpoch: milliseconds).description == text)
        #expect(Timestamp(text)?.millisecondsSinceEpoch == milliseconds)
    }

    @Test func `moments out of range are clamped`() {
        #expect(Timestamp(millisecondsSinceEpoch: .max).description == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(millisecondsSinceEpoch: .min).description == "0000-01-01T00:00:00.000Z")
    }

    @Test(arguments: ["2025-02-30T00:00:00.000Z", "2025-11-21 04:28:31.123Z", "2025-11-21T04:28:31Z", ""])
    func `other texts are not moments`(text: String) { #expect(Timestamp(text) == nil) }

    @Test(arguments: [
        "2025-11-21T04:28:31.123Z", "2025-11-21T05:28:31.123+01:00", "2025-11-20T22:58:31.123456789-05:30",
    ])
    func `a moment is read in every zone`(text: String) throws {
        #expect(Timestamp(given: text)?.millisecondsSinceEpoch == 1_763_699_311_123)
        let json = Array(#"{"until":"\#(text)"}"#.utf8)
        let request = try JSONDecoding.value(InviteRequest.self, from: json, unknownKeys: .refuse)
        #expect(request.until?.millisecondsSinceEpoch == 1_763_699_311_123)
    }

    @Test func `seconds and their parts may be left out`() {
        #expect(Timestamp(given: "2025-11-21T04:28:31Z")?.millisecondsSinceEpoch == 1_763_699_311_000)
        #expect(Timestamp(given: "2025-11-21T04:28:31.5Z")?.millisecondsSinceEpoch == 1_763_699_311_500)
        #expect(Timestamp(given: "2025-11-21T04:28Z")?.millisecondsSinceEpoch == 1_763_699_280_000)
    }

    @Test(arguments: [
        "", "Z", "2025-11-21", "2025-11-21T04:28:31", "2025-11-21T04:28:31+1:00", "2025-11-21T04:28:31+24:00",
        "2025-11-21T04:28:31.Z", "2025-11-21T04:28:31,5Z", "2025-11-21T04:28:31.x5Z", "2025-02-30T00:00:00Z",
        "2025-11-21 04:28:31Z", "2025-11-21T04:28:60Z", "2025-11-21T04:28:31.1234567891Z",
    ])
    func `a moment without a zone, or that is none, is not read`(text: String) {
        #expect(Timestamp(given: text) == nil)
    }
}
