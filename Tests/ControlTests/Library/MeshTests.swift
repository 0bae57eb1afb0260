import ControlAPI
import Foundation
import Lanyard
import LanyardTesting
import Testing

/// Real agents in a test: partitions, crashes and what comes after them.
@Suite(.timeLimit(.minutes(20))) struct MeshTests {
    /// The agent beside the tests' own program.
    private static let program = Bundle.main.bundleURL.appending(path: "lanyardd").path

    @Test func `three devices and a partition`() async throws {
        let mesh = try await Mesh(3, program: Self.program)
        try await mesh[0].lanyard.save(Todo(title: "Milk"))
        try await mesh.converged()
        try await mesh.isolate(0)
        var todo = try #require(try await mesh[0].lanyard.query(Todo.self).first())
        todo.opened += 1
        try await mesh[0].lanyard.save(todo)
        var other = try #require(try await mesh[2].lanyard.query(Todo.self).first())
        other.opened += 2
        try await mesh[2].lanyard.save(other)
        #expect(try await mesh[1].lanyard.reload(todo)?.opened ?? 0 != 3)
        try await mesh.heal()
        try await mesh.converged()
        for number in 0..<mesh.count { #expect(try await mesh[number].lanyard.reload(todo)?.opened == 3) }
    }

    @Test func `a device that crashes has what it acknowledged, and hears of the rest`() async throws {
        let mesh = try await Mesh(2, program: Self.program)
        try await mesh[0].lanyard.save(Todo(title: "Milk"))
        mesh.crash(0)
        #expect(!mesh[0].isRunning)
        let error = await #expect(throws: ControlError.self) { try await mesh[0].lanyard.query(Todo.self).all() }
        #expect(error?.code == .agentNotRunning)
        try await mesh[1].lanyard.save(Todo(title: "Butter"))
        try await mesh.restart(0)
        try await mesh.converged()
        for number in 0..<mesh.count {
            let titles = try await mesh[number].lanyard.query(Todo.self).sorted(by: \.title).all().map(\.title)
            #expect(titles == ["Butter", "Milk"])
        }
    }

    @Test func `a partition that is made or healed while a device is away holds for it`() async throws {
        let mesh = try await Mesh(2, program: Self.program)
        mesh.crash(1)
        try await mesh.partition(0, from: 1)
        try await mesh.restart(1)
        try await mesh[0].lanyard.save(Todo(title: "Milk"))
        await #expect(throws: ControlError.self) { try await mesh.converged(within: .milliseconds(300)) }
        #expect(try await mesh[1].lanyard.query(Todo.self).count() == 0)
        mesh.crash(1)
        try await mesh.heal()
        try await mesh.restart(1)
        try await mesh.converged()
        #expect(try await mesh[1].lanyard.query(Todo.self).count() == 1)
    }

    @Test func `a save waits for the disks of other devices, if asked to`() async throws {
        let mesh = try await Mesh(3, program: Self.program)
        let todo = try await mesh[0].lanyard.save(Todo(title: "Milk"), durableOn: 3)
        for number in 1...2 { #expect(try await mesh[number].lanyard.reload(todo) != nil) }
        try await mesh[0].lanyard.emit(Played(track: "t1"), durableOn: 2)
        mesh.crash(1)
        mesh.crash(2)
        let error = await #expect(throws: ControlError.self) {
            try await mesh[0].lanyard.save(Todo(title: "Butter"), durableOn: 2, within: .milliseconds(100))
        }
        #expect(error?.code == .timedOut && error?.message.contains("1 of 2 devices") == true)
        #expect(try await mesh[0].lanyard.query(Todo.self).count() == 2, "the write stays")
        try await mesh.restart(1)
        let butter = try #require(try await mesh[0].lanyard.query(Todo.self).where(\.title == "Butter").first())
        try await mesh[0].lanyard.save(butter, durableOn: 2)
        #expect(try await mesh[1].lanyard.reload(butter) != nil)
    }

    @Test func `agents end with their mesh, and leave nothing`() async throws {
        var directory = ""
        do {
            let mesh = try await Mesh(1, program: Self.program)
            directory = mesh[0].directory
            #expect(FileManager.default.fileExists(atPath: directory))
        }
        #expect(!FileManager.default.fileExists(atPath: directory))
        let error = await #expect(throws: ControlError.self) { _ = try await Mesh(1, program: "/nowhere/lanyardd") }
        #expect(error?.code == .agentNotRunning && error?.message.contains("nowhere") == true)
    }
}
