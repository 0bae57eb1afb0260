import LawHistories
import SyncModel
import Testing

/// The rules of deletion (Decisions/04), one small history each.
@Suite struct DeletionRuleTests {
    /// Two nodes that know each other and an object that both hold, then a deletion by 0 and, apart, an edit by 1.
    private struct Apart {
        var history = ObjectHistory.among(3)
        let life: Dot
        var deletion: Dot?
        var edit: Dot?

        init(_ policy: DeletePolicy, deletedAt: Int64 = 10, editedAt: Int64 = 20) {
            life = history.write(.birth, by: 0, at: 1)
            history.syncAll()
            deletion = history.write(.delete(policy), by: 0, at: deletedAt)
            edit = history.write(.edit(life), by: 1, at: editedAt)
            history.syncAll()
        }
    }

    @Test(arguments: DeletePolicy.allCases)
    func `a deletion that nobody contradicts deletes, by every policy`(_ policy: DeletePolicy) {
        var history = ObjectHistory.among(2)
        let life = history.write(.birth, by: 0)
        history.sync(0, to: 1)
        history.write(.edit(life), by: 1)
        history.write(.delete(policy), by: 1)
        history.syncAll()
        #expect(history.lives(at: 0).judgement == .deleted)
        #expect(history.lives(at: 0).isBarred == (policy == .deleteWins))
    }

    @Test func `deleteWins: the concurrent edit is dropped and listed, whichever came first`() throws {
        let apart = Apart(.deleteWins)
        for order in [apart.history.entries, apart.history.entries.reversedTail(2)] {
            let lives = ObjectHistory.lives(of: order)
            #expect(lives.judgement == .deleted)
            #expect(lives.lives.isEmpty)
            let edited = try #require(lives.deletions.first).edited
            #expect(edited.map(\.count) == [1])
            #expect(edited.map(\.replica) == [apart.history.replicas[1]])
            #expect(edited.map(\.lastWallMilliseconds) == [20])
        }
    }

    @Test func `deleteWins: an edit that the deletion knew is not listed`() {
        var history = ObjectHistory.among(2)
        let life = history.write(.birth, by: 0)
        history.sync(0, to: 1)
        history.write(.edit(life), by: 1)
        history.sync(1, to: 0)
        history.write(.delete(.deleteWins), by: 0)
        #expect(history.lives.deletions.flatMap(\.edited).isEmpty)
    }

    @Test func `updateWins: a concurrent edit keeps the object`() {
        let apart = Apart(.updateWins)
        #expect(apart.history.lives.judgement == .live([apart.life]))
    }

    @Test func `updateWins: writing to the deleted id begins a new life`() {
        var history = ObjectHistory.among(2)
        history.write(.birth, by: 0)
        history.write(.delete(.updateWins), by: 0)
        history.sync(0, to: 1)
        let second = history.write(.birth, by: 1)
        #expect(history.lives.judgement == .live([second]))
    }

    @Test func `lastWriterWins: the later of edit and deletion holds`() {
        #expect(Apart(.lastWriterWins, deletedAt: 10, editedAt: 20).history.lives.verdicts == [.stays])
        #expect(Apart(.lastWriterWins, deletedAt: 20, editedAt: 10).history.lives.verdicts == [.deleted])
    }

    @Test func `lastWriterWins: an edit that the deletion knew does not count, however late its clock`() {
        var history = ObjectHistory.among(2)
        let life = history.write(.birth, by: 0, at: 1)
        history.sync(0, to: 1)
        history.write(.edit(life), by: 1, at: 1_000_000)
        history.sync(1, to: 0)
        history.write(.delete(.lastWriterWins), by: 0, at: 5)
        #expect(history.lives.judgement == .deleted)
    }

    @Test func `ask: a concurrent edit leaves it undecided until somebody keeps`() {
        var apart = Apart(.ask)
        #expect(apart.history.lives.judgement == .undecided)
        apart.history.write(.keep, by: 2)
        #expect(apart.history.lives.judgement == .live([apart.life]))
    }

    @Test func `ask: or until somebody deletes`() {
        var apart = Apart(.ask)
        apart.history.write(.delete(.ask), by: 2)
        #expect(apart.history.lives.judgement == .deleted)
    }

    @Test func `ask: an edit that arrives after the decision to keep does not open the question again`() {
        var history = ObjectHistory.among(3)
        let life = history.write(.birth, by: 0)
        history.syncAll()
        history.write(.edit(life), by: 2)
        history.write(.edit(life), by: 1)
        history.write(.delete(.ask), by: 0)
        history.sync(1, to: 0)
        history.write(.keep, by: 0)
        #expect(history.lives.judgement == .live([life]))
    }

    @Test func `ask: keep and delete decided apart ask once more`() {
        var apart = Apart(.ask)
        apart.history.write(.keep, by: 1)
        apart.history.write(.delete(.ask), by: 2)
        apart.history.syncAll()
        #expect(apart.history.lives.judgement == .undecided)
        apart.history.write(.keep, by: 0)
        #expect(apart.history.lives.judgement == .live([apart.life]))
    }

    @Test func `ask: a kept object can be deleted again`() {
        var apart = Apart(.ask)
        apart.history.write(.keep, by: 2)
        apart.history.write(.delete(.ask), by: 2)
        #expect(apart.history.lives.judgement == .deleted)
    }

    @Test func `keeping raises no life that is dead`() {
        var history = ObjectHistory.among(3)
        history.write(.birth, by: 0)
        history.write(.delete(.ask), by: 0)
        history.syncAll()
        let second = history.write(.birth, by: 0)
        history.syncAll()
        history.write(.delete(.ask), by: 1)
        history.write(.edit(second), by: 2)
        history.syncAll()
        #expect(history.lives.judgement == .undecided)
        history.write(.keep, by: 0)
        #expect(history.lives.judgement == .live([second]))
    }

    @Test(arguments: DeletePolicy.allCases, DeletePolicy.allCases)
    func `of concurrent deletions the strictest judges`(_ first: DeletePolicy, _ second: DeletePolicy) {
        // The edit is later than one deletion and earlier than the other.
        var history = ObjectHistory.among(3)
        let life = history.write(.birth, by: 0, at: 1)
        history.syncAll()
        history.write(.delete(first), by: 0, at: 10)
        history.write(.edit(life), by: 2, at: 20)
        history.write(.delete(second), by: 1, at: 30)
        let expected: ObjectLives.Judgement =
            switch max(first, second) {
            case .updateWins: .live([life])
            case .ask: .undecided
            case .lastWriterWins, .deleteWins: .deleted
            }
        #expect(history.lives.judgement == expected)
    }

    @Test func `an edit later than both concurrent deletions keeps against lastWriterWins and ask`() {
        var history = ObjectHistory.among(3)
        let life = history.write(.birth, by: 0, at: 1)
        history.syncAll()
        history.write(.delete(.ask), by: 0, at: 10)
        history.write(.delete(.lastWriterWins), by: 1, at: 10)
        history.write(.edit(life), by: 2, at: 20)
        #expect(history.lives.judgement == .live([life]))
    }

    @Test func `a birth that knows the deletion is a life of its own, on every node`() {
        var history = ObjectHistory.among(2)
        history.write(.birth, by: 0)
        history.write(.delete(.deleteWins), by: 0)
        history.sync(0, to: 1)
        let second = history.write(.birth, by: 1)
        #expect(history.lives.judgement == .live([second]))
        // Also where the record is not held any more.
        #expect(ObjectHistory.lives(of: [history.entries.last!]).judgement == .live([second]))
    }

    @Test(arguments: DeletePolicy.allCases)
    func `a deletion ends a concurrent birth of a member, unless its policy lets that stay`(_ policy: DeletePolicy) {
        var history = ObjectHistory.among(2)
        history.write(.birth, by: 0, at: 1)
        let other = history.write(.birth, by: 1, at: 5)
        history.write(.delete(policy), by: 0, at: 10)
        let expected: Verdict? =
            switch policy {
            case .updateWins: .stays
            case .ask: .undecided
            case .lastWriterWins: .deleted
            case .deleteWins: nil
            }
        let lives = history.lives
        #expect(zip(lives.lives, lives.verdicts).first { $0.0.birth == other }?.1 == expected)
    }

    @Test(arguments: DeletePolicy.allCases)
    func `two meshes that merge do not kill each other's objects by old deletions`(_ policy: DeletePolicy) {
        var history = ObjectHistory(nodes: 2)
        history.write(.birth, by: 0, at: 1)
        history.write(.delete(policy), by: 0, at: 100)
        let other = history.write(.birth, by: 1, at: 1)
        history.write(.member(history.replicas[1].device), by: 0)
        history.write(.member(history.replicas[0].device), by: 1)
        history.syncAll()
        #expect(history.lives.judgement == .live([other]))
    }

    @Test func `a deletion ends what another incarnation of its device began without knowing it`() {
        var history = ObjectHistory(nodes: 2, devices: 1)
        history.write(.birth, by: 0)
        history.write(.delete(.deleteWins), by: 0)
        history.write(.birth, by: 1)
        #expect(history.lives.lives.isEmpty)
    }

    @Test func `an edit by a device that had not been let in is void`() {
        var history = ObjectHistory(nodes: 2)
        let life = history.write(.birth, by: 0)
        history.write(.member(history.replicas[1].device), by: 0)
        history.write(.delete(.updateWins), by: 0)
        // It heard of the life, but of no fact that lets it in.
        var early = history
        early.held(life, by: 1)
        early.write(.edit(life), by: 1)
        #expect(early.lives.judgement == .deleted)
        history.held(Dot(replica: life.replica, counter: life.counter + 1), by: 1)
        history.write(.edit(life), by: 1)
        #expect(history.lives.judgement == .live([life]))
    }

    @Test func `lives born apart are shown as one, in order of birth, and judged as one`() {
        var history = ObjectHistory.among(3)
        let second = history.write(.birth, by: 0, at: 20)
        let first = history.write(.birth, by: 1, at: 10)
        #expect(history.lives.judgement == .live([first, second]))
        // 2 knows both and deletes; 0 knows its own life only and edits that: the whole object stays.
        history.sync(0, to: 2)
        history.sync(1, to: 2)
        history.write(.delete(.updateWins), by: 2, at: 30)
        history.write(.edit(second), by: 0, at: 40)
        #expect(history.lives.judgement == .live([first, second]))
    }

    @Test func `an operation on a life that is not here is dropped`() {
        var history = ObjectHistory.among(2)
        let life = history.write(.birth, by: 0)
        history.sync(0, to: 1)
        history.write(.edit(life), by: 1)
        var player = ObjectPlayer()
        for entry in history.entries where entry.dot != life { player.apply(entry) }
        #expect(player.admissions.values.contains(.unknownLife))
        #expect(player.lives.isEmpty)
    }

    @Test func `applying again changes nothing`() {
        var history = Apart(.ask).history
        history.write(.keep, by: 0)
        #expect(ObjectHistory.lives(of: history.entries.flatMap { [$0, $0] }) == history.lives)
        #expect(ObjectHistory.lives(of: history.entries + history.entries) == history.lives)
    }
}

extension Array {
    /// The last elements in reverse order.
    fileprivate func reversedTail(_ length: Int) -> [Element] { dropLast(length) + suffix(length).reversed() }
}
