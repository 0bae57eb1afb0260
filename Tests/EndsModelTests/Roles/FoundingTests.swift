import EndsModel
import Testing

@Suite struct FoundingTests {
    private let founder = Story.founder
    private let joining = Story.owner
    private let thief = Story.thief

    private func says(
        _ author: Roles.Device, in founding: Roles.Device, _ kind: Roles.Fact.Kind, _ target: Roles.Device? = nil,
        _ role: Roles.Role = .none, to new: Roles.Device? = nil, byKey: Bool = false, _ foundings: inout Roles.Foundings
    ) {
        let past = Roles.FactSet.first(foundings.statements.count)
        let draft = Roles.Draft(Roles.Replica(author, 1), kind, target, role, past: past, isRecovery: byKey)
        foundings.statements.append(.init(founding, draft, newFounding: new))
    }

    private func place(_ device: Roles.Device, _ foundings: Roles.Foundings) -> Roles.Device {
        Roles.FoundingLaw(foundings, .standing).founding(of: device, .first(foundings.statements.count))
    }

    private func role(_ device: Roles.Device, in founding: Roles.Device, _ foundings: Roles.Foundings) -> Roles.Role {
        Roles.FoundingLaw(foundings, .standing).role(device, in: founding, .first(foundings.statements.count))
    }

    @Test func `a device that joins has the role that it was given, not the one that it had at home`() {
        var foundings = Roles.Foundings(devices: 4)
        let guest = Roles.Device(3)
        // The joining device is an admin at home, and has admitted another one there.
        says(joining, in: joining, .add, guest, .admin, &foundings)
        says(founder, in: founder, .add, joining, .writer, &foundings)
        #expect(place(joining, foundings) == joining, "one fact moves nobody")
        says(joining, in: joining, .yield, to: founder, &foundings)
        #expect(place(joining, foundings) == founder)
        #expect(role(joining, in: founder, foundings) == .writer)
        #expect(role(guest, in: founder, foundings) == .none)
        #expect(place(guest, foundings) == guest)
    }

    @Test func `two spaces that yield to each other become one`() {
        var foundings = Roles.Foundings(devices: 2)
        let nothing = Roles.FactSet()
        for (author, other) in [(founder, joining), (joining, founder)] {
            let replica = Roles.Replica(author, 1)
            foundings.statements.append(.init(author, Roles.Draft(replica, .add, other, .admin, past: nothing)))
            let own = Roles.FactSet([foundings.statements.count - 1])
            foundings.statements.append(.init(author, Roles.Draft(replica, .yield, past: own), newFounding: other))
        }
        #expect(place(founder, foundings) == place(joining, foundings))
    }

    @Test func `an admin that is a thief does not end a space with a recovery key`() {
        var foundings = Roles.Foundings(devices: 3)
        foundings.withKey = [founder]
        says(thief, in: thief, .yield, to: founder, &foundings)
        says(founder, in: founder, .add, thief, .admin, &foundings)
        says(thief, in: thief, .add, founder, .reader, &foundings)
        says(thief, in: founder, .yield, to: thief, &foundings)
        #expect(place(founder, foundings) == founder)
        // The key itself may.
        says(founder, in: founder, .yield, to: joining, byKey: true, &foundings)
        says(joining, in: joining, .add, founder, .admin, &foundings)
        #expect(place(founder, foundings) == joining)
    }

    @Test func `a yield that was never answered does not keep a device from joining elsewhere`() {
        var foundings = Roles.Foundings(devices: 3)
        says(joining, in: joining, .yield, to: thief, &foundings)
        says(joining, in: joining, .yield, to: founder, &foundings)
        says(founder, in: founder, .add, joining, .writer, &foundings)
        #expect(place(joining, foundings) == founder)
    }

    @Test func `meetings by chance give no role and lose no key`() {
        let found = Roles.searchFoundings(from: 1, count: 2_000, .standing)
        #expect(found == nil, "\(found?.fault ?? "")\n\(found?.foundings.description ?? "")")
    }

    @Test(arguments: Roles.PlantedBug.allCases.filter(\.isOfFounding))
    func `the check of foundings finds the planted bug`(bug: Roles.PlantedBug) {
        #expect(Roles.searchFoundings(from: 1, count: 2_000, .planted(bug)) != nil)
    }
}
