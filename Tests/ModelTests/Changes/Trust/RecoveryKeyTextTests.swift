import SyncModel
import Testing

/// The recovery key as a person writes it down and types it.
@Suite struct RecoveryKeyTextTests {
    private static let head = "lanyard-key1-"

    private func key() throws -> RecoveryKey { try #require(RecoveryKey(bytes: Array(0..<32))) }

    @Test func `a key reads back, whatever a person makes of case, blanks and hyphens`() throws {
        for _ in 0..<50 {
            let key = RecoveryKey()
            #expect(key.text.hasPrefix(Self.head) && key.text.utf8.count == 76)
            #expect(key.text.split(separator: "-").dropFirst(2).allSatisfy { $0.utf8.count == 7 })
            #expect(try RecoveryKey(text: key.text) == key)
        }
        let (key, text) = (try key(), try key().text)
        for typed in [
            text.uppercased(), text.lowercased(), "\n \(text)\t\n", String(text.map { $0 == "-" ? " " : $0 }),
            text.filter { $0 != "-" },
        ] {
            #expect(try RecoveryKey(text: typed) == key, "\(typed)")
        }
    }

    /// The groups, counted from 1, in which the character at this index of all 56 stands.
    private func groups(_ index: Int) -> ClosedRange<Int> { (index / 14 * 2 + 1)...(index / 14 * 2 + 2) }

    private func expectMistyped(
        _ characters: [UInt8], at index: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: RecoveryKey.TextError.mistyped(groups: groups(index)), sourceLocation: sourceLocation) {
            _ = try RecoveryKey(text: Self.head + String(decoding: characters, as: UTF8.self))
        }
    }

    @Test func `each wrong character and each swap of neighbours is found, and where`() throws {
        let characters = Array(try key().text.utf8.dropFirst(Self.head.utf8.count).filter { $0 != UInt8(ascii: "-") })
        #expect(characters.count == 56)
        for index in characters.indices {
            for other in Base32.alphabet + Array("018".utf8) where other != characters[index] {
                var wrong = characters
                wrong[index] = other
                expectMistyped(wrong, at: index)
            }
            guard index + 1 < characters.count, groups(index) == groups(index + 1),
                characters[index] != characters[index + 1]
            else { continue }
            var swapped = characters
            swapped.swapAt(index, index + 1)
            expectMistyped(swapped, at: index)
        }
    }

    @Test func `other texts are refused for what they are`() throws {
        let text = try key().text
        func error(_ text: String) -> RecoveryKey.TextError? {
            do throws(RecoveryKey.TextError) {
                _ = try RecoveryKey(text: text)
                return nil
            } catch {
                return error
            }
        }
        for other in ["", "lanyard2abc", "lanyard-key", "lanyard-keyx-AAAA", String(repeating: "A", count: 100_000)] {
            #expect(error(other) == .notAKey, "\(other.prefix(20))")
        }
        #expect(error(String(text.dropLast())) == .length(55))
        #expect(error(text + "A") == .length(57))
        #expect(error("lanyard-key2-" + text.dropFirst(Self.head.count)) == .otherVersion(2))
    }
}
