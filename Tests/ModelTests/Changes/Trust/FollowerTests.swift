import SyncModel
import Testing

/// The members that say to follow another founder.
@Suite struct FollowerTests {
    @Test func `a member that named another founder, and never this one, is found`() throws {
        let devices = try (1...4).map { try TestDevice($0) }
        var membership = Membership(own: devices[0].fact, sinceMilliseconds: 0)
        func add(_ author: Int, _ device: Int, naming founder: Int?) {
            let fact = devices[device].fact.following(founder.map { devices[$0].id })
            _ = membership.add(Membership.Addition(author: devices[author].id, fact: fact, wallMilliseconds: 0))
        }
        let own = devices[0].id
        add(0, 1, naming: 0)
        add(1, 0, naming: 0)
        // A member of a version before founders names none.
        add(0, 2, naming: 0)
        add(2, 0, naming: nil)
        #expect(membership.followers(besides: own).isEmpty)
        // It waits for its author, as the fact does.
        add(3, 1, naming: 3)
        #expect(membership.followers(besides: own).isEmpty)
        add(2, 3, naming: nil)
        #expect(membership.followers(besides: own) == [devices[3].id])
        #expect(membership.followers(besides: devices[3].id).sorted() == [devices[0].id, devices[1].id].sorted())
        add(3, 2, naming: 0)
        #expect(membership.followers(besides: own).isEmpty, "it follows this one now")
    }
}
