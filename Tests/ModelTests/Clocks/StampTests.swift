import SyncModel
import Testing

@Suite struct StampTests {
    private static let tenYears: Int64 = 10 * 365 * 86_400_000
    private static let today: Int64 = 1_750_000_000_000

    @Test(arguments: 0..<10) func `a new stamp is above everything held, whatever the clock says`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var greatest = Stamp.zero
        for _ in 0..<2_000 {
            let shift = [0, -Self.tenYears, Self.tenYears, -Self.today * 2][Int(random.next() % 4)]
            let wall = Self.today + shift + Int64(random.next() % 5)
            let stamp = try #require(Stamp.next(after: greatest, wallMilliseconds: wall))
            #expect(stamp > greatest)
            if stamp.milliseconds != max(wall, 0) { #expect(stamp.rawValue == greatest.rawValue + 1) }
            greatest = stamp
        }
    }

    @Test func `a full counter carries into the milliseconds`() throws {
        let full = Stamp(rawValue: 5 << 16 | 0xffff)
        let next = try #require(Stamp.next(after: full, wallMilliseconds: 5))
        #expect(next.rawValue == 6 << 16)
        #expect(next.milliseconds == 6)
    }

    @Test(arguments: [Int64.min, -1, 0]) func `a clock before 1970 still gives growing stamps`(wall: Int64) throws {
        let first = try #require(Stamp.next(after: .zero, wallMilliseconds: wall))
        #expect(first.rawValue == 1)
    }

    @Test(arguments: [Int64.max, 1 << 48, Stamp.wallLimitMilliseconds])
    func `no clock leads beyond the limit`(wall: Int64) throws {
        let stamp = try #require(Stamp.next(after: .zero, wallMilliseconds: wall))
        #expect(stamp.milliseconds == Stamp.wallLimitMilliseconds - 1)
        #expect(stamp.isReachable(from: .zero))
    }

    @Test func `at the end of time there is no next stamp`() {
        #expect(Stamp.next(after: Stamp(rawValue: .max), wallMilliseconds: 0) == nil)
        #expect(Stamp.next(after: Stamp(rawValue: .max), wallMilliseconds: .max) == nil)
        #expect(Stamp.next(after: Stamp(rawValue: .max - 1), wallMilliseconds: 0) == Stamp(rawValue: .max))
    }

    @Test func `a leap to the end of time waits, an honest step there does not`() throws {
        let far = Stamp(rawValue: UInt64(Stamp.wallLimitMilliseconds) << 16)
        #expect(!Stamp(rawValue: .max).isReachable(from: .zero))
        #expect(!Stamp(rawValue: .max).isReachable(from: Stamp(rawValue: .max - 2)))
        #expect(!far.isReachable(from: .zero))
        #expect(Stamp(rawValue: far.rawValue - 1).isReachable(from: .zero))
        for held in [far, Stamp(rawValue: far.rawValue - 1), Stamp(rawValue: .max - 1)] {
            let honest = try #require(Stamp.next(after: held, wallMilliseconds: .max))
            #expect(honest.isReachable(from: held))
            // Whoever holds the context holds at least what the author held.
            #expect(honest.isReachable(from: honest))
        }
    }
}
