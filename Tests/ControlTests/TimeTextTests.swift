import ControlAPI
import LanyardClient
import Testing

/// Times for people: relative or by the local clock; for programs RFC 3339 with its zone.
@Suite(.timeLimit(.minutes(20))) struct TimeTextTests {
    /// 2025-11-21 04:40:00 UTC, a Friday.
    private static let now = Timestamp(millisecondsSinceEpoch: 1_763_700_000_000)
    private static let hour: Int64 = 3_600_000
    private let times = TimeText(now: now, zoneOffset: { _ in 5 * hour + hour / 2 })

    private func before(_ milliseconds: Int64) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: Self.now.millisecondsSinceEpoch - milliseconds)
    }

    @Test func `an age up to six days, then the local day`() {
        #expect(times.age(before(1_999)) == "now" && times.age(before(-59_000)) == "now")
        #expect(times.age(before(2_000)) == "2 s ago" && times.age(before(5 * 60_000)) == "5 min ago")
        #expect(times.age(before(27 * Self.hour)) == "1 d 3 h ago")
        #expect(times.age(before(144 * Self.hour - 1)) == "5 d 23 h ago")
        // 22:40 in UTC on the 14th is the 15th where the reader is.
        #expect(times.age(before(150 * Self.hour)) == "2025-11-15")
        #expect(times.age(before(-24 * Self.hour)) == "2025-11-22 10:10:00", "a clock ahead does not read as now")
    }

    @Test func `since a time of today, a weekday, or a day`() {
        #expect(times.since(before(0)) == "since 10:10" && times.since(before(10 * Self.hour)) == "since 00:10")
        #expect(times.since(before(11 * Self.hour)) == "since Thursday")
        #expect(times.since(before(144 * Self.hour)) == "since 2025-11-15")
        #expect(times.exact(before(1)) == "2025-11-21 10:09:59")
        #expect(TimeText(now: Self.now).exact(Self.now) == "2025-11-21 04:40:00")
    }

    @Test(arguments: [
        (45, "45 s"), (60, "1 min"), (5_400, "90 min"), (43_200, "12 h"), (86_400, "1 d"), (90_000, "25 h"),
    ])
    func `a length of time that a person chose reads as it was chosen`(seconds: Int, text: String) {
        #expect(TimeText.interval(seconds: seconds) == text)
    }

    @Test func `until a time, in units that are not too few`() {
        #expect(times.until(before(-1)) == "within 1 s" && times.until(before(0)) == "now")
        #expect(times.until(before(-600_000)) == "within 10 min")
    }

    @Test func `history is told by the local clock, and in UTC to programs`() async throws {
        try await LiveServer.with { server async throws in
            let put = try ObjectPut(collection: "note", id: "n", fields: try JSONText(#"{"title":"a"}"#))
            _ = try await server.client.put(put)
            var entries: [HistoryEntry] = []
            try await server.client.readHistory(of: try ObjectName(parsing: "note/n")) { entries += $0 }
            let time = try #require(entries.first).time
            for (zone, offset) in [("XST-05:30", 5 * Self.hour + Self.hour / 2), ("YST12", -12 * Self.hour)] {
                let begin = TimeText(now: time, zoneOffset: { _ in offset }).exact(time) + "  "
                let run = try await CommandRun.lanyard(
                    ["history", "note/n"], socket: server.socketPath, environment: ["TZ": zone])
                #expect(run.lines.first?.hasPrefix(begin) == true, "\(run.output)")
                let json = try await CommandRun.lanyard(
                    ["history", "note/n", "--json"], socket: server.socketPath, environment: ["TZ": zone])
                #expect(json.output.contains("\"\(time)\""))
            }
        }
    }
}
