import SyncModel
import Testing

@Suite struct JSONValueTests {
    @Test func `integers and other numbers stay what they are`() throws {
        #expect(try JSONValue(text: "5") == .integer(5))
        #expect(try JSONValue(text: "5.0") == .double(5))
        #expect(try JSONValue(text: "-0") == .integer(0))
        #expect(try JSONValue(text: "-0.0").text == "0.0")
        #expect(try JSONValue(text: "9223372036854775807").text == "9223372036854775807")
        #expect(try JSONValue(text: "1e3").text == "1000.0")
    }

    @Test(arguments: ["9223372036854775808", "1e400", "-1e999"])
    func `numbers that nobody could hold are refused`(text: String) {
        #expect(throws: JSONValueError.numberOutOfRange) { try JSONValue(text: text) }
        #expect(throws: JSONValueError.numberOutOfRange) { try JSONValue.number(Double.nan) }
    }

    @Test(arguments: ["", "[1,]", "{\"a\" 1}", "01", "\"\\ud800\"", "nul", "[1] 2", "\"\u{1}\"", "{1:2}", "1.", "-"])
    func `what is not JSON is refused`(text: String) {
        #expect { try JSONValue(text: text) } throws: { error in
            if case .syntax = error as? JSONValueError { true } else { false }
        }
    }

    @Test func `nesting ends at its bound`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        let deepest = try JSONValue(text: nested(64))
        #expect(deepest.depth == 64)
        #expect(try JSONValue(canonicalBytes: deepest.canonicalBytes) == deepest)
        #expect(throws: JSONValueError.tooDeep) { try JSONValue(text: nested(65)) }
        #expect(throws: CodecError.outOfRange(field: "json.depth")) {
            try JSONValue(canonicalBytes: [UInt8](repeating: 0x23, count: 65))
        }
    }

    @Test func `a key that comes twice is refused, twins in another normal form are two keys`() throws {
        #expect(throws: JSONValueError.repeatedKey("a")) { try JSONValue(text: "{\"a\":1,\"a\":2}") }
        let twins = try JSONValue(text: "{\"\u{e9}\":1,\"e\u{301}\":2}")
        #expect(twins["\u{e9}"] == 1)
        #expect(twins["e\u{301}"] == 2)
    }

    @Test func `escapes are read and only the needed ones written`() throws {
        let value = try JSONValue(text: #""\u00e9\n\ud83d\ude00\/\u0001""#)
        #expect(value == "é\n😀/\u{1}")
        #expect(value.text == #""é\n😀/\u0001""#)
    }

    @Test(arguments: 0..<20) func `bytes and texts keep every value, and bytes keep the order`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let values = (0..<60).map { _ in random.json(depth: 3) }
        for value in values {
            #expect(try JSONValue(canonicalBytes: value.canonicalBytes) == value)
            #expect(try JSONValue(text: value.text) == value)
            // It ends by itself, whatever follows.
            var reader = ByteReader(value.canonicalBytes + [0xff, 0x01])
            #expect(try JSONValue(reading: &reader) == value)
        }
        for (left, right) in zip(values, values.shuffled(using: &random)) {
            #expect((left < right) == left.canonicalBytes.lexicographicallyPrecedes(right.canonicalBytes))
        }
    }

    @Test func `no other bytes stand for the same value`() {
        for bytes: [UInt8] in [
            [0x15, 0x00], [0x16, 0x00, 0x01], [0x13, 0x00 ^ 0xff], [0x22, 0x01, 0x03, 0x00], [0x22, 0xff, 0x00],
        ] {
            #expect(throws: CodecError.self) { try JSONValue(canonicalBytes: bytes) }
        }
        #expect(throws: CodecError.self) { try JSONValue(canonicalBytes: [0x21] + [UInt8](repeating: 0xff, count: 8)) }
        #expect(throws: CodecError.self) {
            try JSONValue(canonicalBytes: [0x24, 0x22, 0x62, 0, 1, 0x22, 0x61, 0, 1, 0])
        }
    }
}

extension SeededGenerator {
    mutating func json(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &self) {
        case 0: return .null
        case 1: return .bool(chance(50))
        case 2: return .integer(chance(50) ? Int64.random(in: -300...300, using: &self) : Int64(bitPattern: next()))
        case 3:
            let number = Double(bitPattern: next())
            return (try? .number(chance(50) ? Double(Int.random(in: -9...9, using: &self)) / 4 : number)) ?? .null
        case 4, 5:
            let scalars = (0..<Int.random(in: 0..<4, using: &self)).compactMap { _ in
                Unicode.Scalar(chance(70) ? UInt32(next() % 4) + (chance(50) ? 0 : 97) : UInt32(next() % 0x11_0000))
            }
            return .text(String(String.UnicodeScalarView(scalars)))
        case 6: return .array((0..<Int.random(in: 0..<4, using: &self)).map { _ in json(depth: depth - 1) })
        default:
            let keys = Set((0..<Int.random(in: 0..<4, using: &self)).map { _ in ExactString("k\(next() % 9)") })
            let members = keys.sorted().map { JSONValue.Member(key: $0, value: json(depth: depth - 1)) }
            return (try? .members(members)) ?? .null
        }
    }
}
