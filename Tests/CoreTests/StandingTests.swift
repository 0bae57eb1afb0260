import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// How far members have what a node holds, by their own last word.
@Suite struct StandingTests {
    private func appended(_ segment: VerifiedSegment) -> Input {
        .appended(StoreChange(segments: [segment], stateDigest: .zero, additions: []))
    }

    private func standing(_ device: Int, _ talk: Conversation) -> MemberStanding? {
        talk.core.standings.first { $0.device == Conversation.devices[device].id }
    }

    @Test func `a member that has said nothing is unknown, however little there is to send`() {
        let talk = Conversation(members: 3)
        #expect(talk.core.standings.map(\.state) == [.unknown, .unknown])
        #expect(talk.core.isInStepWithConnected)
        let blind = Conversation(members: 3, faults: [.takeSilenceForInStep])
        #expect(blind.core.standings.map(\.state) == [.inStep, .inStep], "the planted bug would be seen")
    }

    @Test func `a member is behind by what it did not hold when it left, and in step once it says so`() {
        var talk = Conversation(members: 3)
        var author = Author(0)
        let first = author.write()
        talk.hear(appended(first))
        let id = talk.accept(1)
        #expect(standing(1, talk)?.state == .unknown, "it has not said what it holds")
        talk.hear(.received(id, first.have, bytes: 100))
        #expect(standing(1, talk)?.state == .inStep && standing(1, talk)?.isConnected == true)
        talk.hear(.closed(id, code: "closed"))
        #expect(standing(1, talk)?.state == .inStep && standing(1, talk)?.isConnected == false)
        let more = author.write(3)
        talk.hear(appended(more))
        #expect(standing(1, talk)?.state == .behind(3))
        #expect(standing(1, talk)?.known?.next(of: author.replica) == 1)
        #expect(talk.core.isInStepWithConnected, "nobody is connected")
        let again = talk.accept(1)
        talk.hear(.received(again, more.have, bytes: 100))
        #expect(standing(1, talk)?.state == .inStep)
    }

    @Test func `the word of the present session replaces that of an earlier one`() {
        var talk = Conversation(members: 2)
        var author = Author(0)
        let (first, second) = (author.write(), author.write(2))
        talk.hear(appended(first))
        talk.hear(appended(second))
        let id = talk.accept(1)
        talk.hear(.received(id, second.have, bytes: 100))
        talk.hear(.closed(id, code: "closed"))
        // Put back to an earlier state meanwhile.
        let again = talk.accept(1)
        #expect(standing(1, talk)?.state == .unknown)
        talk.hear(.received(again, first.have, bytes: 100))
        #expect(standing(1, talk)?.state == .behind(2))
    }
}
