import ControlAPI
import Lanyard
import Testing

/// Queries by key paths, and lists that stay right.
@Suite(.timeLimit(.minutes(20))) struct QueryLibraryTests {
    private func fill(_ home: Lanyard) async throws {
        for (title, opened, due) in [("Milk", 3, nil), ("Butter", 1, 2.0), ("Bread", 2, 5.0)]
            as [(String, Int, Double?)]
        {
            var todo = Todo(title: title, tags: ["t\(opened)"], due: due)
            todo.opened = opened
            todo.place.city = "Graz"
            try await home.save(todo)
        }
    }

    @Test func `conditions name fields by key paths, also wrapped and nested ones`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await fill(home)
            func titles(_ condition: Where<Todo>) async throws -> [String] {
                try await home.query(Todo.self).where(condition).sorted(by: \.title).all().map(\.title)
            }
            #expect(try await titles(\.opened >= 2) == ["Bread", "Milk"])
            #expect(try await titles(\.opened == 1 || \.title == "Milk") == ["Butter", "Milk"])
            #expect(try await titles(\.due == nil) == ["Milk"])
            #expect(try await titles(\.due > 2) == ["Bread"])
            #expect(try await titles(!(\.due == nil) && \.title != "Bread") == ["Butter"])
            #expect(try await titles(.contains(\.tags, "t3")) == ["Milk"])
            #expect(try await titles(.contains(\.title, "rea")) == ["Bread"])
            #expect(try await titles(.hasPrefix(\.title, "B")) == ["Bread", "Butter"])
            #expect(try await titles(.isIn(\.title, ["Milk", "Bread"])) == ["Bread", "Milk"])
            #expect(try await titles(\.place.city == "Graz").count == 3)
            #expect(try await titles(\.priority == .low).count == 3)
            #expect(try await titles(Where("opened < 2")) == ["Butter"])
            let sorted = try await home.query(Todo.self).sorted(by: \.opened, descending: true).limit(2).all()
            #expect(sorted.map(\.opened) == [3, 2])
            #expect(try await home.query(Todo.self).where(\.opened > 1).count() == 2)
            #expect(try await home.query(Todo.self).sorted(by: .created).first()?.title == "Milk")
        }
    }

    @Test func `a computed property and a broken condition are refused when the query is run`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let queries = [
                home.query(Todo.self).where(\.isUrgent == true), home.query(Todo.self).sorted(by: \.isUrgent),
                home.query(Todo.self).where(\.isPopular == true), home.query(Todo.self).sorted(by: \.firstHelper),
                home.query(Todo.self).where(\.note.isEmpty == true), home.query(Todo.self).where(\.note.count > 3),
                home.query(Todo.self).where(Where("(opened = 1")),
            ]
            for query in queries {
                let error = await #expect(throws: ControlError.self) { try await query.all() }
                #expect(error?.code == .invalidArgument)
                #expect(error?.hint.isEmpty == false)
            }
        }
    }

    @Test func `an object is found by the default that it is read with`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await home.save(OldTodo(title: "Milk"))
            try await home.save(Todo(title: "Butter", done: true))
            func titles(_ condition: Where<Todo>) async throws -> [String] {
                try await home.query(Todo.self).where(condition).sorted(by: \.title).all().map(\.title)
            }
            #expect(try await titles(\.done == false) == ["Milk"])
            #expect(try await titles(\.done != false) == ["Butter"])
            #expect(try await titles(\.opened < 5) == ["Butter", "Milk"])
            #expect(try await titles(\.opened > 5) == [])
            #expect(try await titles(\.opened != 0) == [])
            #expect(try await titles(.isIn(\.priority, [.low])) == ["Butter", "Milk"])
            #expect(try await titles(.hasPrefix(\.note, "")) == ["Butter", "Milk"])
            #expect(try await titles(!(\.done == false)) == ["Butter"])
            #expect(try await home.query(Todo.self).where(\.done == false).count() == 1)
        }
    }

    @Test func `a live list follows saves, edits from elsewhere and deletions`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await fill(home)
            var lists = home.query(Todo.self).where(\.done == false).sorted(by: \.title).live().makeAsyncIterator()
            func shows(_ titles: [String]) async throws {
                while let list = try await lists.next() {
                    if list.map(\.title) == titles { return }
                }
                Issue.record("the list ended before it showed \(titles)")
            }
            try await shows(["Bread", "Butter", "Milk"])
            let apples = try await home.save(Todo(title: "Apples"))
            try await shows(["Apples", "Bread", "Butter", "Milk"])
            try await server.live.edit("todos/\(apples.id)", "title=Zucchini")
            try await shows(["Bread", "Butter", "Milk", "Zucchini"])
            var milk = try #require(try await home.query(Todo.self).where(\.title == "Milk").first())
            milk.done = true
            try await home.save(milk)
            try await shows(["Bread", "Butter", "Zucchini"])
            try await home.delete(apples)
            try await shows(["Bread", "Butter"])
        }
    }

    @Test func `a live list waits for an agent that is started again, and goes on`() async throws {
        let place = try TemporaryDirectory()
        let (lists, list) = AsyncStream<[String]>.makeStream()
        @Sendable func shows(_ titles: [String]) async {
            for await list in lists where list == titles { return }
            Issue.record("the list ended before it showed \(titles)")
        }
        let home = try await LiveServer.with(in: place.path) { try await $0.library() }
        #expect(home.connection.state == .connected)
        let reader = Task {
            defer { list.finish() }
            for try await todos in home.query(Todo.self).sorted(by: \.title).live() { list.yield(todos.map(\.title)) }
        }
        // Nothing answers now.
        for await state in home.connection.states where state != .connected { break }
        try await LiveServer.with(in: place.path) { _ async throws in
            try await home.save(Todo(title: "Milk"))
            await shows(["Milk"])
            #expect(home.connection.state == .connected)
        }
        try await LiveServer.with(in: place.path) { _ async throws in
            try await home.save(Todo(title: "Butter"))
            await shows(["Butter", "Milk"])
        }
        reader.cancel()
        _ = try? await reader.value
    }

    @Test func `a list that is not read any more gives its connection back`() async throws {
        try await LiveServer.with(connectionLimit: 2) { server async throws in
            let home = try await server.library()
            try await home.save(Todo(title: "Milk"))
            for _ in 0..<8 {
                for try await todos in home.query(Todo.self).live() where !todos.isEmpty { break }
                let task = Task {
                    for try await _ in home.query(Todo.self).where(\.done == true).live() {}
                }
                task.cancel()
                try await task.value
            }
            // Each of the sixteen held one of two connections.
            while await (try? home.client.version()) == nil { await Task.yield() }
        }
    }

    @MainActor @Test func `an observable list has the objects`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await home.save(Todo(title: "Milk"))
            let list = LiveList(home.query(Todo.self).sorted(by: \.title))
            try await server.live.until { _ in list.isLoaded }
            #expect(list.objects.map(\.title) == ["Milk"] && list.error == nil)
            try await home.save(Todo(title: "Butter"))
            try await server.live.until { _ in list.objects.count == 2 }
            #expect(list.objects.map(\.title) == ["Butter", "Milk"])
        }
    }
}
