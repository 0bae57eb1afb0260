import Foundation
import SyncModel
import Testing

@Suite struct JSONSyntaxTests {
    @Test(arguments: [
        "0", "-0", "1e5", "1E+5", "1.5e-3", "-0.0", "123456789012345678901234567890", "1e400", "\"\"", "\"a\"",
        "\"\\u0000\"", "\"\\ud83d\\ude00\"", "\"\\\\\\\"\\/\\b\\f\\n\\r\\t\"", "\"\u{7f}\"", "\"é😀\"", "true", "false",
        "null", "[]", "{}", " [ ] ", "\t{\r\n}\n", "[1,2]", "{\"a\":1,\"a\":2}", "[[[[]]]]", "{\"\":{\"\":[]}}",
        "[\"a\",{\"b\":[null]}]",
    ]) func `is a JSON text`(text: String) {
        #expect(JSONSyntax.isValid(Array(text.utf8)))
    }

    @Test(arguments: [
        "", " ", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "1 2", "NaN", "Infinity", "tru", "truee", "nul",
        "True",
        "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"",
        "\"\\ud800x\"", "\"\n\"", "\"\u{0}\"", "'a'", "[", "]", "[1,]", "[,1]", "[1 2]", "[1}", "{", "}", "{1:2}",
        "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\" 1}", "{,}", "{\"a\":1]", "[]]", "{}{}", "[]x", "// c\n1",
        "\u{feff}1", "\u{a0}1", "1\0",
    ]) func `is no JSON text`(text: String) {
        #expect(!JSONSyntax.isValid(Array(text.utf8)))
    }

    @Test(
        arguments: [
            [0xff], [0x22, 0xff, 0x22], [0x22, 0xc3, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22],
            [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xf0, 0x80, 0x80, 0x80, 0x22], [0x22, 0xe2, 0x82],
            [0x22, 0x80, 0x22],
        ] as [[UInt8]]) func `bytes that are no UTF-8 are no JSON text`(bytes: [UInt8])
    {
        #expect(!JSONSyntax.isValid(bytes))
    }

    @Test func `nesting is bounded, on both kinds of level`() {
        func nested(_ depth: Int, _ open: String, _ close: String) -> [UInt8] {
            Array((String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8)
        }
        #expect(JSONSyntax.isValid(nested(Limits.jsonDepth, "[", "]")))
        #expect(!JSONSyntax.isValid(nested(Limits.jsonDepth + 1, "[", "]")))
        #expect(JSONSyntax.isValid(nested(Limits.jsonDepth / 2, "{\"a\":[", "]}")))
        #expect(!JSONSyntax.isValid(nested(Limits.jsonDepth / 2, "{\"a\":[", "}]")))
        #expect(!JSONSyntax.isValid([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)))
    }

    @Test(arguments: 0..<20) func `agrees with a slow, obvious reader on random texts and their mutations`(seed: UInt64)
    {
        var random = SeededGenerator(seed: seed)
        var agreedValid = 0
        for _ in 0..<500 {
            var text = Array(randomText(&random, depth: 4).utf8)
            if random.chance(70), !text.isEmpty { mutate(&text, &random) }
            let isValid = JSONSyntax.isValid(text)
            #expect(isValid == ObviousJSON.accepts(text), "\(String(decoding: text, as: UTF8.self))")
            if isValid { agreedValid += 1 }
            // Foundation's reader takes some texts that are none (a comma and a space before `]`), and refuses numbers
            // that it cannot hold; it must take every other text that we take.
            if isValid, !text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
                let value = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
                #expect(value != nil, "\(String(decoding: text, as: UTF8.self))")
            }
        }
        #expect(agreedValid > 50)
    }

    private func mutate(_ text: inout [UInt8], _ random: inout SeededGenerator) {
        let index = Int(random.next() % UInt64(text.count))
        switch random.next() % 4 {
        case 0: text.remove(at: index)
        case 1: text.insert(Array("{}[],:\"\\0e.-u".utf8)[Int(random.next() % 13)], at: index)
        case 2: text[index] = UInt8(truncatingIfNeeded: random.next())
        default: text = Array(text.prefix(index))
        }
    }

    private func randomText(_ random: inout SeededGenerator, depth: Int) -> String {
        let space = ["", " ", "\n", "\t"][Int(random.next() % 4)]
        switch random.next() % (depth > 0 ? 7 : 5) {
        case 0: return space + ["true", "false", "null"][Int(random.next() % 3)]
        case 1: return ["0", "-1", "12.5", "1e9", "-0.1E-2"][Int(random.next() % 5)] + space
        case 2, 3: return randomString(&random)
        case 4: return ["[]", "{}", "[ ]"][Int(random.next() % 3)]
        case 5:
            let items = (0..<random.next() % 4).map { _ in randomText(&random, depth: depth - 1) }
            return "[" + items.joined(separator: space + ",") + "]"
        default:
            let items = (0..<random.next() % 4).map { _ in
                randomString(&random) + space + ":" + randomText(&random, depth: depth - 1)
            }
            return "{" + items.joined(separator: ",") + "}"
        }
    }

    private func randomString(_ random: inout SeededGenerator) -> String {
        let parts = ["a", "é", "😀", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\\\", "/", "\u{7f}"]
        return "\"" + (0..<random.next() % 4).map { _ in parts[Int(random.next() % 9)] }.joined() + "\""
    }
}
