import SyncModel
import Testing

/// Items come in frames that know nothing of them.
@Suite struct StateItemCutterTests {
    private static func announcement(_ number: Int) -> [UInt8] {
        let id = ExactString(String(repeating: "x", count: number % 200 + 1))
        return StateItem.announcement(
            StateAnnouncement(key: ObjectKey(collection: "notes", id: id), touched: VersionVector())
        ).canonicalBytes
    }

    @Test(arguments: [1, 2, 3, 7, 64, 1_000, 100_000])
    func `items are whole wherever frames end`(size: Int) throws {
        let items = (0..<300).map(Self.announcement)
        let bytes = items.flatMap(\.self)
        var cutter = StateItemCutter()
        var found: [[UInt8]] = []
        var offset = 0
        while offset < bytes.count {
            let end = min(bytes.count, offset + size)
            found += try cutter.take(Array(bytes[offset..<end]))
            offset = end
        }
        #expect(found == items)
        #expect(cutter.isBetweenItems)
    }

    @Test func `what is no item is refused before it is kept`() throws {
        func refused(_ bytes: [UInt8]) -> Bool {
            var cutter = StateItemCutter()
            do { _ = try cutter.take(bytes) } catch { return true }
            return false
        }
        #expect(refused([0]))
        #expect(refused([13, 1]))
        // An announcement of 5 MiB, and a length that does not end.
        #expect(refused([6, 0x80, 0x80, 0xc0, 0x02]))
        #expect(refused([7] + [UInt8](repeating: 0xff, count: 12)))
        #expect(!refused([7, 0x80, 0x80, 0xc0, 0x02]))
    }

    @Test func `random bytes never trap`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2_000 {
            var cutter = StateItemCutter()
            for _ in 0..<4 {
                guard (try? cutter.take(random.bytes(Int.random(in: 0..<40, using: &random)))) != nil else { break }
            }
        }
    }
}
