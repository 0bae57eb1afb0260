import SyncModel
import Testing

/// Objects as they would be with the void work of a device, and what taking it over writes.
@Suite struct WorkToAcceptTests {
    /// An admin, a device that was revoked, and another member.
    private struct Mesh {
        var admin: Desk
        var thief: Desk
        var other: Desk
        var acceptances: [WorkToAccept.Acceptance] = []
        /// The counter from which on the thief's operations are void.
        private(set) var end: UInt64 = 0

        init(_ json: String? = nil) throws {
            let desks = Desk.among(3, schema: try CollectionSchema(WrittenHistory.schema))
            (admin, thief, other) = (desks[0], desks[1], desks[2])
            if let json { try admin.put(json) }
            thief.hear(admin)
            other.hear(admin)
            end = thief.origin.dot.counter
        }

        func isVoid(_ dot: Dot) -> Bool { dot.replica == thief.replica && dot.counter >= end }

        /// The work that the admin's agent finds.
        var work: WorkToAccept? {
            WorkToAccept(
                on: Desk.key, of: thief.replica.device,
                admin.log.compactMap { entry in
                    entry.operation.objectAction.map { _, action in
                        PastOperation(origin: entry.origin, action: action, wallMilliseconds: 0)
                    }
                },
                from: nil, acceptances: acceptances, members: admin.members, isVoid: isVoid, isOffered: isVoid)
        }

        /// The admin takes it.
        /// - Returns: what that was.
        @discardableResult
        mutating func accept() throws -> WorkToAccept.Change {
            admin.hold(thief, from: end)
            let work = try #require(work)
            let version = admin.json == nil ? nil : admin.version
            for write in work.writes(to: Desk.key, at: version, admin.schema) {
                try admin.write(write)
                guard case .accept(let said) = write else { continue }
                let last = try #require(admin.log.last)
                acceptances.append(.init(dot: last.origin.dot, stamp: last.origin.stamp, work: said))
            }
            return work.change
        }
    }

    private func json(_ text: String) throws -> JSONValue { try JSONValue(text: text) }

    @Test func `edits of every type are taken, what others wrote stays, and nothing is taken twice`() throws {
        var mesh = try Mesh(#"{"t":"ab","k":1,"s":[1],"l":[1],"title":"first"}"#)
        try mesh.thief.edit("t", .insert(at: 2, "c"))
        try mesh.thief.edit([("k", .increment(3)), ("s", .add(.integer(2))), ("l", .insert(at: 1, .integer(2)))])
        try mesh.thief.edit([("title", .set("second")), ("note", .set("new"))])
        try mesh.other.edit([("t", .insert(at: 0, "x")), ("k", .increment(10)), ("place", .set("here"))])
        mesh.admin.hear(mesh.other)
        #expect(try mesh.accept() == .edit)
        let merged = try json(
            #"{"k":14,"l":[1,2],"note":"new","place":"here","s":[1,2],"t":"xabc","title":"second"}"#)
        #expect(mesh.admin.json == merged)
        #expect(mesh.work == nil, "all of it was accepted")
    }

    @Test func `without the statement it would be taken twice, so the statement is what tells`() throws {
        var mesh = try Mesh(#"{"k":1}"#)
        try mesh.thief.edit("k", .increment(3))
        try mesh.accept()
        mesh.acceptances = []
        try mesh.accept()
        #expect(mesh.admin.json == (try json(#"{"k":7}"#)))
    }

    @Test func `an object that exists in void work only begins a life of its own`() throws {
        var mesh = try Mesh()
        try mesh.thief.put(#"{"t":"mine","k":2}"#)
        try mesh.thief.edit("t", .insert(at: 4, "!"))
        mesh.admin.hold(mesh.thief, from: mesh.end)
        #expect(mesh.admin.json == nil)
        #expect(try mesh.accept() == .create)
        #expect(mesh.admin.json == (try json(#"{"k":2,"t":"mine!"}"#)))
        #expect(mesh.work == nil)
        let birth = try #require(mesh.admin.log.last { $0.origin.dot.replica == mesh.admin.replica })
        guard case .editObject(let edit) = birth.operation else { Issue.record("no birth"); return }
        #expect(edit.life == .birth, "the admin's own life, not the void one")
    }

    @Test func `a void deletion deletes`() throws {
        var mesh = try Mesh(#"{"title":"gone"}"#)
        try mesh.thief.delete()
        mesh.admin.hold(mesh.thief, from: mesh.end)
        #expect(mesh.admin.json != nil)
        #expect(try mesh.accept() == .delete)
        #expect(mesh.admin.json == nil)
        #expect(mesh.work == nil)
    }

    @Test func `edits bring nothing back of an object that was deleted by one who knew them`() throws {
        var mesh = try Mesh(#"{"title":"first"}"#)
        try mesh.thief.edit("title", .set("second"))
        // Knowing the edit, so that no policy lets the object live again.
        mesh.admin.hold(mesh.thief, from: mesh.end)
        try mesh.admin.delete()
        #expect(try #require(mesh.work).change == .gone)
        #expect(mesh.work?.writes(to: Desk.key, at: nil, mesh.admin.schema) == [])
    }

    @Test func `work that changes nothing for a reader writes nothing`() throws {
        var mesh = try Mesh(#"{"title":"same"}"#)
        try mesh.thief.edit([("title", .set("other"))])
        try mesh.thief.edit([("title", .set("same"))])
        #expect(try mesh.accept() == .nothing)
        #expect(mesh.acceptances.isEmpty)
    }

    @Test func `of work that comes later only what is new is taken, also where it builds on what was taken`() throws {
        var mesh = try Mesh(#"{"t":"a","k":0}"#)
        try mesh.thief.edit([("t", .insert(at: 1, "bc")), ("k", .increment(3))])
        try mesh.accept()
        #expect(mesh.admin.json == (try json(#"{"k":3,"t":"abc"}"#)))
        try mesh.admin.edit("title", .set("by the admin"))
        // Inside the text that was taken, of which the thief knows only its own.
        try mesh.thief.edit([("t", .insert(at: 2, "-")), ("k", .increment(2))])
        #expect(try mesh.accept() == .edit)
        #expect(mesh.admin.json == (try json(#"{"k":5,"t":"ab-c","title":"by the admin"}"#)))
        #expect(mesh.work == nil)
    }

    @Test func `the statement names each history from the first operation to the last`() throws {
        var mesh = try Mesh(#"{"k":0}"#)
        try mesh.thief.edit([("k", .increment(1)), ("title", .set("a"))])
        mesh.admin.hold(mesh.thief, from: mesh.end)
        let work = try #require(mesh.work)
        #expect(work.isWhole)
        let last = try #require(mesh.thief.log.last)
        #expect(
            work.work.stretches == [
                .init(
                    incarnation: mesh.thief.replica.incarnation, start: mesh.end,
                    end: last.origin.dot.counter + last.operation.span)
            ])
        #expect(work.work.covers(Dot(replica: mesh.thief.replica, counter: mesh.end)))
        #expect(!work.work.covers(Dot(replica: mesh.other.replica, counter: mesh.end)))
        #expect(!work.work.covers(Dot(replica: mesh.thief.replica, counter: mesh.end - 1)))
    }
}
