import SyncModel
import Testing

@Suite struct NameTests {
    @Test(arguments: ["a", "lights", "Küche", "日本", "a b", ".", "-", "🏠", String(repeating: "x", count: 128)])
    func `a name may be any text of up to 128 bytes`(name: String) {
        #expect(Name.isValid(name))
    }

    @Test(arguments: [
        "", "a/b", "/", "a\n", "\0", "\u{7f}", "\u{85}", "a\u{9f}", String(repeating: "x", count: 129),
        String(repeating: "ü", count: 65),
    ])
    func `empty names, slashes, control characters and long names are refused`(name: String) {
        #expect(!Name.isValid(name))
    }

    @Test func `bytes that are no UTF-8 are no name`() {
        for bytes in [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0x61, 0x80]] as [[UInt8]] {
            #expect(!Name.isValid(bytes))
            #expect(!Name.isText(bytes))
        }
        #expect(Name.isText([] as [UInt8]))
        #expect(Name.isText(Array("a/b".utf8)))
    }
}
