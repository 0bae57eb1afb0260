import SyncModel
import Testing

/// When a write is done at all: versions, existence, deletions, membership.
@Suite struct ConditionTests {
    private func desks(_ count: Int, policy: String, upsert: Bool = true) throws -> [Desk] {
        Desk.among(count, schema: try CollectionSchema(#"{"deletePolicy":"\#(policy)","upsert":\#(upsert)}"#))
    }

    @Test func `a write for another version is refused with the present one`() throws {
        var desk = Desk.among(1)[0]
        #expect(throws: ObjectRefusal.versionMismatch(current: nil)) {
            try desk.put("{}", ifVersion: Dot(replica: desk.replica, counter: 0))
        }
        try desk.put(#"{"a":1}"#)
        let first = try #require(desk.version)
        try desk.put(#"{"a":2}"#, ifVersion: first)
        let second = try #require(desk.version)
        #expect(second != first)
        #expect(throws: ObjectRefusal.versionMismatch(current: second)) { try desk.put(#"{"a":3}"#, ifVersion: first) }
        #expect(throws: ObjectRefusal.versionMismatch(current: second)) { try desk.delete(ifVersion: first) }
        let options = ObjectWrite.EditOptions(ifVersion: first)
        #expect(throws: ObjectRefusal.versionMismatch(current: second)) {
            try desk.write(.edit(Desk.key, [FieldEdit(path: ["a"], action: .set(3))], options))
        }
        try desk.delete(ifVersion: second)
        #expect(desk.json == nil)
    }

    @Test func `what must be absent is refused where it is`() throws {
        var desk = try desks(1, policy: "updateWins")[0]
        try desk.put("{}", ifAbsent: true)
        #expect(throws: ObjectRefusal.exists(version: desk.version)) { try desk.put("{}", ifAbsent: true) }
        try desk.delete()
        try desk.put(#"{"a":1}"#, ifAbsent: true)
        #expect(desk.json != nil)
    }

    @Test func `edit creates only when it is asked to`() throws {
        var desk = try desks(1, policy: "updateWins")[0]
        #expect(throws: ObjectRefusal.notFound) { try desk.edit("a", .set(1)) }
        try desk.edit("a", .increment(1), creating: true)
        try desk.delete()
        #expect(throws: ObjectRefusal.deleted) { try desk.edit("a", .set(1)) }
        try desk.edit("a", .set(1), creating: true)
        #expect(desk.json == (try JSONValue(text: #"{"a":1}"#)))
    }

    @Test func `without upsert only an explicit creation begins an object, and nothing recreates it`() throws {
        var desk = try desks(1, policy: "updateWins", upsert: false)[0]
        #expect(throws: ObjectRefusal.creationRequired) { try desk.put("{}") }
        #expect(throws: ObjectRefusal.creationRequired) { try desk.edit("a", .set(1), creating: true) }
        try desk.put("{}", ifAbsent: true)
        try desk.put(#"{"a":1}"#)
        try desk.delete()
        #expect(throws: ObjectRefusal.deleted) { try desk.put("{}") }
        #expect(throws: ObjectRefusal.deleted) { try desk.put("{}", ifAbsent: true) }
        #expect(throws: ObjectRefusal.deleted) { try desk.edit("a", .set(1), creating: true) }
    }

    @Test func `nothing is written to what deleteWins deleted`() throws {
        var desk = try desks(1, policy: "deleteWins")[0]
        try desk.put("{}")
        try desk.delete()
        #expect(throws: ObjectRefusal.deleted) { try desk.put("{}") }
        #expect(throws: ObjectRefusal.deleted) { try desk.put("{}", ifAbsent: true) }
        #expect(throws: ObjectRefusal.deleted) { try desk.edit("a", .set(1), creating: true) }
        #expect(throws: ObjectRefusal.deleted) { try desk.resolve(.field(["a"], 1)) }
    }

    @Test(arguments: ["updateWins", "lastWriterWins", "ask"])
    func `after any other deletion a put begins a new, empty life`(policy: String) throws {
        var desk = try desks(1, policy: policy)[0]
        try desk.put(#"{"a":1,"b":2}"#)
        try desk.delete()
        #expect(desk.json == nil)
        try desk.put(#"{"b":3}"#)
        #expect(desk.json == (try JSONValue(text: #"{"b":3}"#)))
        #expect(desk.object.lives.lives.count == 2)
    }

    @Test func `deleting what is deleted or unknown writes nothing`() throws {
        for policy in ["deleteWins", "updateWins"] {
            var desk = try desks(1, policy: policy)[0]
            #expect(try desk.delete().isEmpty)
            try desk.put("{}")
            let version = desk.version
            #expect(try desk.delete().operations.count == 1)
            #expect(try desk.delete().isEmpty)
            #expect(try desk.delete(ifVersion: version).isEmpty)
        }
    }

    @Test func `an undecided object takes a decision and nothing else`() throws {
        for keeps in [true, false] {
            var desks = try desks(2, policy: "ask")
            try desks[0].put(#"{"a":1}"#)
            desks[1].hear(desks[0])
            try desks[0].delete()
            try desks[1].put(#"{"a":2}"#)
            #expect(try desks[1].resolve(.keep).isEmpty)
            desks[0].hear(desks[1])
            #expect(throws: ObjectRefusal.undecided) { try desks[0].put("{}") }
            #expect(throws: ObjectRefusal.undecided) { try desks[0].edit("a", .set(1), creating: true) }
            #expect(throws: ObjectRefusal.undecided) { try desks[0].delete() }
            #expect(try desks[0].resolve(keeps ? .keep : .delete).operations.count == 1)
            #expect(try desks[0].resolve(keeps ? .keep : .delete).isEmpty)
            #expect(desks[0].json == (keeps ? try JSONValue(text: #"{"a":2}"#) : nil))
        }
    }

    @Test func `whoever is not known yet does not write to what others began`() throws {
        var founder = Desk(0)
        var stranger = Desk(1)
        try founder.put(#"{"a":1}"#)
        stranger.hear(founder)
        #expect(throws: ObjectRefusal.catchingUp) { try stranger.put(#"{"a":2}"#) }
        #expect(try stranger.put(#"{"a":1}"#).isEmpty)
        #expect(throws: ObjectRefusal.catchingUp) { try stranger.edit("a", .unset) }
        #expect(throws: ObjectRefusal.catchingUp) { try stranger.delete() }
    }

    @Test func `dismissing writes nothing that is shipped`() throws {
        var desk = Desk.among(1)[0]
        let written = try desk.resolve(.dismiss)
        #expect(written.dismisses && written.operations.isEmpty)
    }
}
