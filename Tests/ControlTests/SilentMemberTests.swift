import ControlAPI
import Testing

@Suite struct SilentMemberTests {
    private static let day: Int64 = 86_400_000
    private static let now: Int64 = 1_800_000_000_000

    private func member(
        _ name: String = "attic", silentDays: Int64?, waitingDays: Int64 = 100
    ) -> StatusResponse.Space.Stable.Member {
        .init(
            id: "BBBBBBB-X", shortID: "BBBBBBB", name: name,
            since: Timestamp(millisecondsSinceEpoch: Self.now - waitingDays * Self.day),
            lastSeen: silentDays.map { Timestamp(millisecondsSinceEpoch: Self.now - $0 * Self.day) })
    }

    private func warnings(_ member: StatusResponse.Space.Stable.Member) -> [StatusResponse.Warning] {
        SilentMember.warnings([member], now: Self.now)
    }

    @Test func `a member that has been silent for thirty days is asked about, and by name`() {
        #expect(warnings(member(silentDays: 29)).isEmpty)
        let found = warnings(member(silentDays: 41))
        #expect(found.map(\.code) == ["member_silent"])
        #expect(found.first?.message.hasPrefix("attic has been silent for 41 days.") == true)
        #expect(found.first?.hint.hasSuffix("lanyard devices retire attic") == true)
    }

    @Test func `who talks and is only slow is not asked about, however long something waits`() {
        #expect(warnings(member(silentDays: 0, waitingDays: 400)).isEmpty)
    }

    @Test func `one that was never met is silent since there is something to tell it`() {
        #expect(warnings(member(silentDays: nil, waitingDays: 31)).count == 1)
        #expect(warnings(member(silentDays: nil, waitingDays: 3)).isEmpty)
    }

    @Test func `a name that a shell would read is not put into a command`() {
        #expect(warnings(member("a; rm -rf", silentDays: 41)).first?.hint.hasSuffix("retire BBBBBBB") == true)
        #expect(warnings(member("--yes", silentDays: 41)).first?.hint.hasSuffix("retire BBBBBBB") == true)
        #expect(warnings(member("", silentDays: 41)).first?.hint.hasSuffix("retire BBBBBBB") == true)
    }

    @Test func `a clock that was set back makes nobody silent`() {
        #expect(warnings(member(silentDays: -500)).isEmpty)
    }
}
