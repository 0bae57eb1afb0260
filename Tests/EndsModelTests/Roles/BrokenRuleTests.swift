import EndsModel
import Testing

/// Histories that broke drafts of the rules, each with what the rules that stand make of it.
@Suite struct BrokenRuleTests {
    private let founder = Story.founder
    private let owner = Story.owner
    private let thief = Story.thief
    private let accomplice = Story.accomplice
    private let other = Story.other
    private let second = Story.second

    @Test func `recovery revokes a thief, and with it falls what the thief's accomplice did`() {
        var story = Story.begun()
        story.says(thief, .add, accomplice, .admin)
        story.says(accomplice, .revoke, owner)
        #expect(story.role(owner) == .none)
        // The key does not know either fact.
        story.says(founder, .revoke, thief, knowing: [1], byKey: true)
        #expect(story.role(owner) == .admin)
        #expect(story.role(accomplice) == .none)
        #expect(story.role(thief) == .none)
    }

    @Test func `an accomplice of an accomplice does not revoke a device that recovery admitted again`() {
        var story = Story.begun()
        let admitted = story.says(thief, .add, accomplice, .admin)
        story.says(founder, .revoke, thief, knowing: [1], byKey: true)
        let back = story.says(founder, .readmit, owner, .admin, byKey: true)
        // X knows that A was admitted again, and acts as if it had not heard of its own loss.
        let added = story.says(accomplice, .add, second, .admin, knowing: [admitted, back])
        story.says(second, .revoke, owner, knowing: [added])
        #expect(story.role(owner) == .admin)
        #expect(story.role(second) == .none)
    }

    @Test func `a device that is lowered to writer goes on writing where it is`() {
        var story = Story.begun()
        let before = story.says(thief, .write)
        story.says(founder, .setRole, thief, .writer)
        let after = story.says(thief, .write)
        #expect(story.role(thief) == .writer)
        #expect(!story.isVoid(before))
        #expect(!story.isVoid(after))
        // What needs the higher role is void from there on.
        let admission = story.says(thief, .add, accomplice, .admin)
        #expect(story.isVoid(admission))
    }

    @Test func `an old replica of a device that was admitted again stays at its end`() {
        var story = Story.begun()
        story.says(thief, .write)
        story.says(founder, .revoke, thief)
        story.says(founder, .readmit, thief, .admin)
        let old = story.says(thief, .revoke, owner)
        #expect(story.role(owner) == .admin)
        #expect(story.isVoid(old))
        // A replica that begins behind the re-admission counts.
        story.says(thief, replica: 2, .revoke, owner)
        #expect(story.role(owner) == .none)
    }

    @Test func `a re-admission lowers also when its author is revoked meanwhile`() {
        var story = Story.begun()
        story.says(founder, .add, other, .admin)
        let begun = 2
        story.says(founder, .readmit, owner, .writer, knowing: [begun])
        story.says(other, .revoke, founder, knowing: [begun])
        #expect(story.role(founder) == .none)
        #expect(story.role(owner) == .writer)
    }

    @Test func `recovery's re-admission holds against a lowering that does not know it`() {
        var story = Story.begun()
        let added = story.says(founder, .add, accomplice, .admin)
        story.says(thief, .setRole, accomplice, .reader, knowing: [added])
        story.says(founder, .readmit, accomplice, .admin, knowing: [added], byKey: true)
        #expect(story.role(accomplice) == .admin)
    }

    @Test func `recovery's lowering brings back no device that an admin revoked`() {
        var story = Story.begun()
        let added = story.says(founder, .add, other, .admin)
        story.says(other, .revoke, owner, knowing: [added])
        story.says(founder, .setRole, owner, .reader, knowing: [added], byKey: true)
        #expect(story.role(owner) == .none)
    }

    @Test func `recovery's lowering of a device keeps the revocation by an admin that the device had admitted, too`() {
        var story = Story()
        let thiefAdded = story.says(founder, .add, thief, .admin)
        let added = story.says(founder, .add, accomplice, .admin)
        let twice = story.says(thief, .add, accomplice, .admin, knowing: [thiefAdded])
        story.says(accomplice, .revoke, thief, knowing: [twice])
        story.says(founder, .setRole, thief, .writer, knowing: [added], naming: .nothing, byKey: true)
        #expect(story.role(thief) == .none)
        #expect(story.role(thief, .beforeMends) == .writer, "the rule that this history broke")
    }

    @Test func `revoking an admin raises no device that the admin had lowered unaware of the key`() {
        var story = Story()
        let admitted = story.says(founder, .add, owner, .admin)
        story.says(owner, .setRole, thief, .writer, knowing: [admitted])
        let key = story.says(founder, .revoke, thief, knowing: [admitted], byKey: true)
        let back = story.says(founder, .readmit, thief, .admin, knowing: [key])
        #expect(story.role(thief) == .admin, "the key hides the lowering that does not know it")
        #expect(story.role(thief, .beforeMends) == .writer)
        story.says(founder, .revoke, owner, knowing: [back], naming: .nothing)
        #expect(story.role(thief) == .admin)
    }

    @Test func `an acknowledgement of void work brings it not to life`() {
        var story = Story.begun()
        let work = story.says(thief, .write)
        let revoked = story.says(founder, .revoke, thief, knowing: [1], naming: .nothing)
        #expect(story.isVoid(work))
        // The work arrives through A. F acknowledges that it holds it, and forgets by that.
        story.says(founder, .acknowledge, knowing: [work, revoked])
        #expect(story.isVoid(work))
        #expect(!story.isVoid(work, .beforeMends), "the rule that this history broke")
    }

    @Test func `an admin admitted later undoes nothing that all acknowledged`() {
        var story = Story.begun()
        let work = story.says(thief, .write)
        let all = [work]
        let acknowledged = [founder, owner, thief].map { story.says($0, .acknowledge, knowing: all) }
        let admitted = story.says(owner, .add, other, .admin, knowing: acknowledged)
        story.says(other, .revoke, thief, knowing: [admitted], naming: .nothing)
        #expect(story.role(thief) == .none)
        #expect(!story.isVoid(work))
        #expect(story.isVoid(work, .beforeMends), "the rule that this history broke")
        #expect(story.broken(.beforeMends).contains("k"))
        #expect(story.broken().isEmpty)
    }

    @Test func `the key on a device that acknowledged nothing undoes nothing that all acknowledged`() {
        var story = Story.begun()
        let work = story.says(thief, .write)
        let acknowledged = [founder, owner, thief].map { story.says($0, .acknowledge, knowing: [work]) }
        story.says(other, .readmit, other, .admin, knowing: acknowledged, byKey: true)
        story.says(other, .revoke, thief, naming: .nothing, byKey: true)
        #expect(story.role(thief) == .none)
        #expect(!story.isVoid(work))
        #expect(story.isVoid(work, .beforeMends), "the rule that this history broke")
    }

    @Test func `an admin that the key admits anywhere undoes nothing that all acknowledged`() {
        var story = Story()
        let begun = story.says(founder, .add, owner, .admin)
        let acknowledged = [founder, owner].map { story.says($0, .acknowledge, knowing: [begun]) }
        let admitted = story.says(other, .readmit, accomplice, .admin, knowing: acknowledged, byKey: true)
        story.says(accomplice, .revoke, founder, knowing: [admitted], naming: .nothing)
        #expect(story.role(founder) == .none)
        #expect(!story.isVoid(begun))
        #expect(story.isVoid(begun, .beforeMends), "the rule that this history broke")
        #expect(story.broken().isEmpty)
    }

    /// Known, and not cured by any rule: until the key is used, a thief that was revoked long ago revokes the others as if it
    /// had not heard, and work that they acknowledged and forgot meanwhile is void.
    @Test func `a thief's back-dated revocations hold until the key is used`() {
        var story = Story.begun()
        let revoked = story.says(founder, .revoke, thief)
        let work = story.says(owner, .write, knowing: [revoked])
        for device in [founder, owner] { story.says(device, .acknowledge) }
        story.says(thief, .revoke, owner, knowing: [1])
        #expect(story.role(owner) == .none)
        #expect(story.isVoid(work))
        var confirmed = story
        // The key names what its device holds of T, the back-dated fact too: that confirms it.
        confirmed.says(founder, .revoke, thief, byKey: true)
        #expect(confirmed.role(owner) == .none)
        story.says(founder, .revoke, thief, naming: .nothing, byKey: true)
        #expect(story.role(owner) == .admin)
        #expect(!story.isVoid(work))
        #expect(story.role(thief) == .none)
    }

    @Test func `admins that revoke each other, also in a circle, are all out until the key is used`() {
        var story = Story.begun()
        let begun = story.says(founder, .add, other, .admin)
        for (author, target) in [(owner, thief), (thief, other), (other, owner)] {
            story.says(author, .revoke, target, knowing: [begun])
        }
        for device in [owner, thief, other] { #expect(story.role(device) == .none) }
        #expect(story.role(founder) == .admin)
        story.says(founder, .readmit, owner, .admin, byKey: true)
        #expect(story.role(owner) == .admin)
        #expect(story.broken().isEmpty)
    }

    @Test func `an accomplice's add with a lesser role downgrades no admin`() {
        var story = Story.begun()
        story.says(thief, .add, owner, .reader, knowing: [1])
        #expect(story.role(owner) == .admin)
        #expect(story.role(owner, .planted(.leastAddHolds)) == .reader)
    }
}
