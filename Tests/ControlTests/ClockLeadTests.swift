import ControlAPI
import Testing

/// A clock that was ahead once leaves stamps that are.
@Suite struct ClockLeadTests {
    private static let now: Int64 = 1_800_000_000_000
    private static let day: Int64 = 86_400_000

    private func lead(_ milliseconds: Int64) -> ClockLead? {
        ClockLead(newest: Self.now + milliseconds, now: Self.now)
    }

    @Test func `stamps far ahead of this clock are named, with the day on which that ends`() throws {
        let year = try #require(lead(364 * Self.day + 5_000))
        #expect(year.warning.code == "changes_ahead")
        #expect(year.warning.message == "The newest change here is dated 364 days ahead of this device's clock.")
        #expect(year.warning.hint.contains("not decided by time until 2028-01-14."))
        let check = ClockLead.check(year)
        #expect(check.state == .warning && check.detail.hasPrefix("the newest change here is dated 364 days"))
        #expect(lead(3 * 3_600_000)?.sentence.contains("3 hours ahead") == true)
        #expect(lead(90_000)?.sentence.contains("1 minute ahead") == true)
    }

    @Test func `what clocks differ by anyway is not named`() {
        #expect(lead(60_000) == nil && lead(0) == nil && lead(-400 * Self.day) == nil)
        #expect(ClockLead(newest: .min, now: .max) == nil)
        #expect(ClockLead.check(nil).state == .ok)
    }
}
