import ControlAPI
import Foundation
import Lanyard
import Synchronization
import Testing

/// Typed events, attachments, and steps that are undone.
@Suite(.timeLimit(.minutes(20))) struct EventLibraryTests {
    private struct Stop: Error {}

    @Test func `events come typed, in order, own ones included`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            for number in 1...3 { try await home.emit(Played(track: "t\(number)")) }
            var seen: [Played] = []
            for try await played in home.events(of: Played.self) {
                seen.append(played.value)
                if seen.count == 3 { try await home.emit(Played(track: "t4", seconds: 9)) }
                if seen.count == 4 { break }
            }
            #expect(seen.map(\.track) == ["t1", "t2", "t3", "t4"] && seen.last?.seconds == 9)
            var again: [String] = []
            for try await played in home.events(of: Played.self, follow: false) { again.append(played.value.track) }
            #expect(again == ["t1", "t2", "t3", "t4"])
        }
    }

    @Test func `a consumer is given again what it did not finish with`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            for number in 1...2 { try await home.emit(Played(track: "t\(number)")) }
            await #expect(throws: Stop.self) {
                for try await _ in home.events(of: Played.self, consumer: "c") { throw Stop() }
            }
            var seen: [String] = []
            for try await played in home.events(of: Played.self, consumer: "c") {
                #expect(played.redelivered == (played.value.track != "t3"))
                seen.append(played.value.track)
                // The next event is asked for behind this one: the first two are finished with then.
                if seen.count == 2 { try await home.emit(Played(track: "t3")) }
                if seen.count == 3 { break }
            }
            #expect(seen == ["t1", "t2", "t3"])
            var rest: [String] = []
            for try await played in home.events(of: Played.self, consumer: "c", follow: false) {
                rest.append(played.value.track)
            }
            #expect(rest == ["t3"])
        }
    }

    @Test func `several types of events share a stream, also for a consumer`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            try await home.emit(Finished(seconds: 1))
            try await home.emit(Skipped(track: "t1"))
            try await home.emit(Finished(seconds: 2))
            for consumer in [nil, "c"] {
                var seconds: [Int] = []
                for try await event in home.events(of: Finished.self, consumer: consumer, follow: false) {
                    seconds.append(event.value.seconds)
                }
                #expect(seconds == [1, 2])
            }
        }
    }

    @Test func `files are attached and written, whole or not at all`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let todo: Todo = try await home.save(Todo(title: "Picture"))
            let temporary = try TemporaryDirectory()
            let folder = temporary.path
            let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
            try Data(bytes).write(to: URL(filePath: folder + "/p.bin"))
            let entry = try await home.attach(file: folder + "/p.bin", to: todo)
            #expect(entry.record.name == "p.bin")
            try await home.write(entry, to: folder + "/out.bin")
            #expect(try Data(contentsOf: URL(filePath: folder + "/out.bin")) == Data(bytes))
            #expect(try await home.attachments(of: Todo.self)[todo.id]?.map(\.record.id) == [entry.record.id])
            let folderError = await #expect(throws: ControlError.self) {
                try await home.attach(file: folder, to: todo)
            }
            #expect(folderError?.code == .fileUnreadable)
            try await home.detach(entry)
            var gone = entry
            gone.state = .missing
            do {
                try await home.write(gone, to: folder + "/no.bin")
                Issue.record("what was taken off was written")
            } catch let error as ControlError {
                #expect(error.code == .unknownAttachment)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            #expect(names == ["out.bin", "p.bin"])
        }
    }

    @Test func `a program that is started before the agent waits for it, if asked to`() async throws {
        let place = try TemporaryDirectory()
        let path = place.path
        let error = await #expect(throws: ControlError.self) {
            _ = try await Lanyard.connect(socketPath: path + "/control.sock", waiting: .milliseconds(200))
        }
        #expect(error?.code == .agentNotRunning)
        let shown = try #require(error)
        #expect("\(shown)" == "\(shown.message) \(shown.hint)")
        // The program waits for an agent, not for the turn of this test.
        try await AgentTurns.with {
            let connecting = Task {
                try await Lanyard.connect(socketPath: path + "/control.sock", waiting: .seconds(600))
            }
            try await LiveServer.with(in: path) { _ async throws in
                let home = try await connecting.value
                #expect(try await home.query(Todo.self).count() == 0)
            }
        }
    }

    @Test func `a source that is shorter or longer than it said attaches nothing`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let todo = try await home.save(Todo(title: "Picture")) as Todo
            for size: UInt64 in [10, 1_000] {
                let chunks = AsyncStream<[UInt8]> { continuation in
                    continuation.yield([UInt8](repeating: 1, count: 100))
                    continuation.finish()
                }
                let error = await #expect(throws: ControlError.self) {
                    try await home.attach(chunks, to: todo, size: size)
                }
                #expect(error?.code == .fileChanged)
            }
            #expect(try await home.attachments(of: todo).isEmpty)
        }
    }

    @Test func `an event that does not fit ends the sequence with its name, or is skipped`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let odd = try await server.client.emit(try JSONText(#"{"track":7}"#), to: "played")
            try await home.emit(Played(track: "t1"))
            let error = await #expect(throws: ControlError.self) {
                for try await _ in home.events(of: Played.self, consumer: "c", follow: false) {}
            }
            #expect(error?.code == .typeMismatch && error?.message.contains("played, event") == true)
            let skipped = Mutex<[DotText]>([])
            let events = home.events(of: Played.self, consumer: "c", follow: false) { _, line in
                skipped.withLock { $0.append(line.dot) }
            }
            var seen: [String] = []
            for try await played in events { seen.append(played.value.track) }
            #expect(seen == ["t1"])
            #expect(skipped.withLock(\.self) == [try #require(odd.first)])
        }
    }

    @Test func `events are waited for while the agent is away`() async throws {
        let place = try TemporaryDirectory()
        let home = try await LiveServer.with(in: place.path) { server async throws in
            let home = try await server.library()
            try await home.emit(Played(track: "t1"))
            return home
        }
        let (tracks, track) = AsyncStream<String>.makeStream()
        let reader = Task {
            for try await played in home.events(of: Played.self) { track.yield(played.value.track) }
        }
        for await state in home.connection.states where state != .connected { break }
        try await LiveServer.with(in: place.path) { _ async throws in
            try await home.emit(Played(track: "t2"))
            for expected in ["t1", "t2"] {
                for await track in tracks {
                    #expect(track == expected)
                    break
                }
            }
        }
        reader.cancel()
        _ = try? await reader.value
    }

    // MARK: Attachments

    @Test func `bytes are attached and read back as they come`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let todo = try await home.save(Todo(title: "Picture"))
            let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 11) }
            let entry = try await home.attach(bytes, to: todo, name: "p.bin", mediaType: "application/x-test")
            #expect(entry.record.size == 3_000_000 && entry.record.name == "p.bin")
            var read: [UInt8] = []
            for try await chunk in home.bytes(of: entry) { read += chunk }
            #expect(read == bytes)
            #expect(try await home.attachments(of: todo).map(\.record.id) == [entry.record.id])
            for try await _ in home.bytes(of: entry) { break }
            #expect(try await home.detach(entry))
            #expect(try await home.attachments(of: todo).isEmpty)
        }
    }

    @Test func `bytes that fail in the middle attach nothing`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let todo = try await home.save(Todo(title: "Picture"))
            let chunks = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield([UInt8](repeating: 1, count: 100_000))
                continuation.finish(throwing: Stop())
            }
            await #expect(throws: Stop.self) { try await home.attach(chunks, to: todo) }
            #expect(try await home.attachments(of: todo).isEmpty)
            #expect(try await home.query(Todo.self).count() == 1)
        }
    }

    // MARK: Undo

    @Test func `a step is undone and done again, and what others wrote since stays`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let history = UndoHistory(home)
            var todo = Todo(title: "Milk")
            todo.note = "one two"
            try await home.save(&todo)
            let read = todo
            try await history.perform { writes in
                var todo = read
                todo.title = "Butter"
                todo.opened += 2
                todo.note = "one and two"
                try writes.save(todo)
            }
            try await server.live.edit("todos/\(todo.id)", "opened+=5", "note.insert@11= three", "done=true")
            try await history.undo()
            var now = try #require(try await home.reload(todo))
            #expect(now.title == "Milk" && now.opened == 5 && now.note == "one two three" && now.done)
            #expect(await !history.canUndo)
            try await history.redo()
            now = try #require(try await home.reload(todo))
            #expect(now.title == "Butter" && now.opened == 7 && now.note == "one and two three" && now.done)
        }
    }

    @Test func `a deletion that is undone brings the object back with its picture, and earlier steps are about it`()
        async throws
    {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let history = UndoHistory(home)
            let todo = try await home.save(Todo(title: "Milk"))
            try await home.attach([1, 2, 3], to: todo, name: "p")
            try await history.perform { writes in
                var todo = todo
                todo.title = "Butter"
                try writes.save(todo)
            }
            try await history.perform { try $0.delete(todo) }
            #expect(try await home.query(Todo.self).count() == 0)
            let outcome = try await history.undo()
            let id = try #require(outcome.renamed[todo.id])
            #expect(outcome.missing.isEmpty)
            let back = try #require(try await home.object(Todo.self, id: id))
            #expect(back.title == "Butter" && back.id != todo.id)
            var bytes: [UInt8] = []
            for attachment in try await home.attachments(of: back) {
                for try await chunk in home.bytes(of: attachment) { bytes += chunk }
            }
            #expect(bytes == [1, 2, 3])
            try await history.undo()
            #expect(try await home.object(Todo.self, id: id)?.title == "Milk")
            try await history.redo()
            try await history.redo()
            #expect(try await home.query(Todo.self).count() == 0)
        }
    }

    @Test func `an undone deletion brings back fields that the struct does not have`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let history = UndoHistory(home)
            var todo = Todo(title: "Milk", tags: ["a"])
            todo.note = "whole"
            try await home.save(&todo)
            let old = try #require(try await home.object(OldTodo.self, id: todo.id))
            try await history.perform { try $0.delete(old) }
            let outcome = try await history.undo()
            let id = try #require(outcome.renamed[todo.id])
            let back = try #require(try await home.object(Todo.self, id: id))
            #expect(back.title == "Milk" && back.tags == ["a"] && back.note == "whole")
        }
    }

    @Test func `steps that are undone at once are undone one after the other`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let history = UndoHistory(home)
            let todo = try await home.save(Todo(title: "Milk")) as Todo
            for _ in 0..<2 {
                let read = try #require(try await home.reload(todo))
                try await history.perform { writes in
                    var read = read
                    read.opened += 2
                    try writes.save(read)
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { try await history.undo() } }
                try await group.waitForAll()
            }
            #expect(try await home.reload(todo)?.opened == 0)
            #expect(await !history.canUndo)
        }
    }

    @Test func `undoing what another device deleted since goes on to the step before`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let history = UndoHistory(home)
            let (kept, deleted) = (try await home.save(Todo(title: "Kept")), try await home.save(Todo(title: "Gone")))
            for todo in [kept, deleted] {
                try await history.perform { writes in
                    var todo = todo
                    todo.done = true
                    try writes.save(todo)
                }
            }
            try await server.live.delete("todos/\(deleted.id)")
            try await history.undo()
            try await history.undo()
            #expect(try await home.query(Todo.self).all().map(\.done) == [false])
        }
    }
}
