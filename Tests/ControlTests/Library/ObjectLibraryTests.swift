import ControlAPI
import Lanyard
import LanyardClient
import Testing

/// Structs as objects, through the library and a real agent.
@Suite(.timeLimit(.minutes(20))) struct ObjectLibraryTests {
    @Test func `a struct is saved, found and read back with all its fields`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            var todo = Todo(
                title: "Milk", tags: ["shop", "home"], steps: ["go", "buy", "go"], priority: .high, due: 2.5)
            todo.place = Todo.Place(city: "Graz", floor: 3)
            todo.opened = 2
            todo.note = "é or e\u{301}"
            todo.helpers = ["Ada", "Bob"]
            todo.isShown = true
            let saved = try await home.save(todo)
            #expect(saved == todo)
            #expect(try await home.object(Todo.self, id: todo.id) == todo)
            #expect(try await home.query(Todo.self).all() == [todo])
            #expect(try await home.object(Todo.self, id: "other") == nil)
        }
    }

    @Test func `the schema follows from the struct, and an index is used`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await home.save(Todo(title: "Milk"))
            _ = try await home.save(Album(about: "t1"))
            let types = Dictionary(
                uniqueKeysWithValues: try await server.client.schema(of: "todos").fields.map {
                    ($0.name, $0.type.rawValue)
                })
            #expect(
                types == [
                    "title": "register", "done": "register", "tags": "set", "steps": "list", "priority": "register",
                    "due": "register", "place": "dictionary", "opened": "counter", "note": "text",
                    "helpers": "orderedSet", "isShown": "local",
                ])
            #expect(try await server.client.schema(of: "album").fields.first?.refers == "todos")
            let condition = try ObjectCondition(parsing: "title = Milk")
            let count = try await server.client.countObjects("todos", where: condition)
            #expect(count.count == 1 && count.index == "title")
        }
    }

    @Test func `only what the application changed is sent`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            var mine = try await home.save(Todo(title: "Milk", tags: ["a", "b"]))
            try await server.live.edit("todos/\(mine.id)", "title=Butter", "opened+=3", "tags.add=c", "extra=1")
            mine.done = true
            mine.opened += 2
            mine.tags.remove("a")
            mine = try await home.save(mine)
            #expect(mine.title == "Butter" && mine.done && mine.opened == 5 && mine.tags == ["b", "c"])
            let entry = try await server.client.object(ObjectName(parsing: "todos/\(mine.id)"))
            #expect(entry.fields.description.contains(#""extra":1"#), "a field that the struct does not have stays")
        }
    }

    @Test func `an older copy that is saved undoes nothing`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let first = try await home.save(Todo(title: "Milk"))
            var (mine, older) = (first, first)
            mine.title = "Butter"
            try await home.save(&mine)
            older.done = true
            try await home.save(&older)
            #expect(older.title == "Butter" && older.done)
            let version = try await server.client.object(ObjectName(parsing: "todos/\(first.id)")).version
            try await home.save(older)
            #expect(try await server.client.object(ObjectName(parsing: "todos/\(first.id)")).version == version)
        }
    }

    @Test func `a value that was made is saved twice, and others' changes in between stay`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            var todo = Todo(title: "Milk")
            todo.opened = 1
            _ = try await home.save(todo)
            try await server.live.edit("todos/\(todo.id)", "title=Butter", "opened+=10")
            todo.opened += 1
            let saved = try await home.save(todo)
            #expect(saved.title == "Butter" && saved.opened == 12)
        }
    }

    @Test func `a value that goes on after its save sends what it changed since, however often`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            var todo = Todo(title: "Milk")
            todo.opened = 1
            try await home.save(todo)
            try await server.live.edit("todos/\(todo.id)", "title=Butter", "opened+=10", "note=ab")
            todo.opened = 2
            try await home.save(todo)
            todo.done = true
            todo.note = "x"
            let saved: Todo = try await home.save(todo)
            #expect(saved.title == "Butter" && saved.opened == 12 && saved.done)
            #expect(saved.note == "xab")
        }
    }

    @Test func `a value that is made under an id that is there changes what differs from the defaults`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            var first = Todo(id: "well-known", title: "Milk")
            first.helpers = ["Ada", "Bob"]
            first.opened = 3
            try await home.save(first)
            var second = Todo(id: "well-known", done: true)
            second.helpers = ["Cleo"]
            second.opened = 1
            let saved: Todo = try await home.save(second)
            #expect(saved.title == "Milk" && saved.done && saved.opened == 4)
            #expect(Set(saved.helpers) == ["Ada", "Bob", "Cleo"])
            let same: Todo = try await home.save(Todo(id: "well-known"))
            #expect(same == saved)
        }
    }

    @Test func `a save without a change returns the object as it is`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            var todo: Todo = try await home.save(Todo(title: "Milk"))
            try await server.live.edit("todos/\(todo.id)", "title=Butter")
            try await home.save(&todo)
            #expect(todo.title == "Butter")
            try await server.live.delete("todos/\(todo.id)")
            let error = await #expect(throws: ControlError.self) { try await home.save(&todo) }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `an id of another collection's value creates an object of its own`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let todo: Todo = try await home.save(Todo(title: "Milk"))
            _ = try await home.save(Album(id: todo.id, about: todo.id)) as Album
            #expect(try await home.object(Album.self, id: todo.id)?.about == todo.id)
            #expect(try await home.reload(todo)?.title == "Milk")
        }
    }

    @Test func `nested values are read with what they lack, and are saved by their parts`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let old = try await home.save(OldTodo(title: "Milk")) as OldTodo
            var todo = try #require(try await home.object(Todo.self, id: old.id))
            todo.place.floor = 3
            try await home.save(&todo)
            #expect(todo.place == Todo.Place(city: "", floor: 3))
            var project = Project(state: .done(by: "Ada"), votes: ["a": 1])
            try await home.save(&project)
            project.state = .closed(why: "done")
            project.votes["b"] = 2
            project.plan.begun = .done(by: "Bob")
            try await home.save(&project)
            try await server.live.edit("project/\(project.id)", "plan/budget.unset")
            #expect(try await home.reload(project) == project)
            let types = try await server.client.schema(of: "project").fields
            #expect(types.first { $0.name == "state" }?.type == .register)
            #expect(types.first { $0.name == "votes" }?.type == .dictionary)
        }
    }

    @Test func `elements of a list keep what the struct does not have`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let new =
                try await home.save(
                    LaterProject(steps: [.init(text: "a", who: "Ada"), .init(text: "b", who: "Bob")])) as LaterProject
            var old = try #require(try await home.object(Project.self, id: new.id))
            old.steps.removeFirst()
            old.steps.append(Project.Step(text: "c"))
            try await server.live.edit("project/\(new.id)", #"steps.insert@0={"text":"z","who":"Zoe"}"#)
            try await home.save(&old)
            let after = try #require(try await home.reload(new))
            #expect(after.steps.map(\.text) == ["z", "b", "c"])
            #expect(after.steps.map(\.who) == ["Zoe", "Bob", nil])
        }
    }

    @Test func `numbers of other applications are removed from sets, and counters below zero are read`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            var project = try await home.save(Project(sizes: [1])) as Project
            try await server.live.edit("project/\(project.id)", "sizes.add=2.0", "stock-=1")
            project = try #require(try await home.reload(project))
            #expect(project.sizes == [1, 2] && project.stock == 0)
            project.sizes.remove(2)
            try await home.save(&project)
            #expect(project.sizes == [1])
        }
    }

    @Test func `what would not merge as it looks is refused before anything is written`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            func refusal<Object: LanyardObject>(_ object: Object) async -> ControlError? {
                await #expect(throws: ControlError.self) { try await home.save(object) as Object }
            }
            #expect(await refusal(EarlyStock())?.message.contains("counter stock") == true)
            #expect(await refusal(NestedCounter())?.message.contains("statistics/plays") == true)
            #expect(await refusal(OddKeys())?.message.contains("values") == true)
            #expect(try await server.client.collections().isEmpty)
        }
    }

    @Test func `an object that is saved twice in a transaction is written once`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let read = try await home.save(Todo(title: "Milk")) as Todo
            try await home.transaction { writes in
                var todo = read
                todo.opened += 1
                try writes.save(todo)
                todo.opened += 1
                todo.note = "two"
                try writes.save(todo)
            }
            #expect(try await home.reload(read)?.opened == 2)
            #expect(try await home.reload(read)?.note == "two")
            let error = await #expect(throws: ControlError.self) {
                try await home.transaction { writes in
                    try writes.delete(read)
                    try writes.save(read)
                }
            }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test func `an application that begins on two devices apart has no conflicts`() async throws {
        try await LiveServer.with { server async throws in
            try await LiveServer.with(named: "attic") { other async throws in
                let (here, there) = (try await server.library(), try await other.library())
                try await here.save(Todo(title: "Milk"))
                try await there.save(Todo(title: "Butter"))
                try await server.live.pair(with: other.live)
                #expect(try await here.conflicts(of: Todo.self).isEmpty)
                #expect(try await there.query(Todo.self).count() == 2)
            }
        }
    }

    @Test func `texts and lists merge with what came meanwhile`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            var todo = Todo(steps: ["one", "two", "three"])
            todo.note = "The quick fox"
            todo.helpers = ["Ada", "Bob", "Cleo"]
            let read = try await home.save(todo)
            try await server.live.edit(
                "todos/\(todo.id)", "note.insert@13= jumps", "steps.insert@0=zero", "steps.delete@3:1",
                "helpers.move@2:0")
            var mine = read
            mine.note = "The quick brown fox"
            mine.steps.insert("two and a half", at: 2)
            mine.helpers.append("Dan")
            try await home.save(&mine)
            #expect(mine.note == "The quick brown fox jumps")
            #expect(mine.steps == ["zero", "one", "two", "two and a half"])
            #expect(mine.helpers == ["Cleo", "Ada", "Bob", "Dan"])
        }
    }

    @Test func `fields that are lacking or null have their defaults, and are not written by reading`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await server.live.put("todos/t1", #"{"title":"Milk","done":null}"#)
            var todo = try #require(try await home.object(Todo.self, id: "t1"))
            #expect(todo.title == "Milk" && !todo.done && todo.tags.isEmpty && todo.due == nil && todo.opened == 0)
            todo.title = "Butter"
            try await home.save(todo)
            let entry = try await server.client.object(ObjectName(parsing: "todos/t1"))
            #expect(entry.fields.description == #"{"done":null,"title":"Butter"}"#)
        }
    }

    @Test func `an older version of a struct works beside a newer one`() async throws {
        try await LiveServer.with { server async throws in
            let (old, new) = (try await server.library(), try await server.library())
            var first = try await old.save(OldTodo(title: "Milk"))
            var second = try #require(try await new.object(Todo.self, id: first.id))
            second.opened = 4
            try await new.save(&second)
            first.title = "Butter"
            try await old.save(&first)
            #expect(try await new.reload(second)?.opened == 4)
            #expect(try await new.reload(second)?.title == "Butter")
        }
    }

    @Test func `a struct that wants another type for a field is refused with the field`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await home.save(Todo(title: "Milk"))
            let error = await #expect(throws: ControlError.self) { try await home.save(OtherTodo()) }
            #expect(error?.code == .typeMismatch)
            #expect(error?.message.contains("field title of todos is a register") == true)
            #expect(error?.hint.contains("lanyard schema set todos") == true)
            await #expect(throws: ControlError.self) {
                _ = try await Lanyard.connect(socketPath: server.socketPath, types: OtherTodo.self)
            }
        }
    }

    @Test func `an object that does not fit is named, or skipped`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await home.save(Todo(title: "Milk"))
            try await server.live.put("todos/odd", #"{"title":7}"#)
            let error = await #expect(throws: ControlError.self) { try await home.query(Todo.self).all() }
            #expect(error?.code == .typeMismatch)
            #expect(error?.message.contains("todos/odd") == true && error?.message.contains("field title") == true)
            #expect(error?.message.contains("7") == false, "contents stay out of messages")
            let (skipped, skip) = AsyncStream<ControlError>.makeStream()
            let rest = try await home.query(Todo.self).skippingUnreadable { skip.yield($0) }.all()
            #expect(rest.map(\.title) == ["Milk"])
            skip.finish()
            #expect(await skipped.reduce(into: []) { $0.append($1.code) } == [.typeMismatch])
        }
    }

    @Test func `a deleted object is refused, and is gone`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            var todo = try await home.save(Todo(title: "Milk"))
            #expect(try await home.delete(todo))
            #expect(try await !home.delete(todo))
            #expect(try await home.reload(todo) == nil)
            todo.title = "Butter"
            let error = await #expect(throws: ControlError.self) { try await home.save(todo) }
            #expect(error?.code == .objectDeleted)
            todo.note = "A text is merged with what is there."
            let merged = await #expect(throws: ControlError.self) { try await home.save(todo) }
            #expect(merged?.message.contains("times") == false, "there is nothing to merge with")
        }
    }

    @Test func `a transaction is done whole or not at all`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let (kept, deleted) = (
                try await home.save(Todo(title: "Kept")), try await home.save(Todo(title: "Deleted"))
            )
            try await home.transaction { writes in
                var kept = kept
                kept.done = true
                try writes.save(kept)
                try writes.delete(deleted)
                try writes.emit(Played(track: "t7"))
            }
            #expect(try await home.query(Todo.self).all().map(\.done) == [true])
            let error = await #expect(throws: ControlError.self) {
                try await home.transaction { writes in
                    try writes.save(Todo(title: "Another"))
                    var deleted = deleted
                    deleted.title = "Back"
                    try writes.save(deleted)
                }
            }
            #expect(error?.code == .objectDeleted)
            #expect(try await home.query(Todo.self).count() == 1)
        }
    }

    @Test func `two devices that change one object apart keep both changes`() async throws {
        try await LiveServer.with { server async throws in
            try await LiveServer.with(named: "attic") { other async throws in
                try await server.live.pair(with: other.live)
                let (here, there) = (try await server.library(), try await other.library())
                var mine = Todo(title: "Milk")
                mine.note = "ab"
                try await here.save(&mine)
                try await server.live.converge(with: other.live)
                var theirs = try #require(try await there.object(Todo.self, id: mine.id))
                try await server.live.apart(from: other.live) {
                    mine.opened += 1
                    mine.note = "xab"
                    theirs.opened += 1
                    theirs.note = "aby"
                    theirs.tags = ["t"]
                    try await here.save(&mine)
                    try await there.save(&theirs)
                }
                let (first, second) = (try await here.reload(mine), try await there.reload(theirs))
                #expect(first == second)
                #expect(first?.opened == 2 && first?.note == "xaby" && first?.tags == ["t"])
            }
        }
    }
}
