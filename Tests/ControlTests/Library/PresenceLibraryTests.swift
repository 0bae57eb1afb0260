import ControlAPI
import Foundation
import Lanyard
import LanyardTesting
import Testing

/// Rooms of the library between real agents.
@Suite(.timeLimit(.minutes(20))) struct PresenceLibraryTests {
    private static let program = Bundle.main.bundleURL.appending(path: "lanyardd").path

    private struct Cursor: Codable, Hashable, Sendable {
        var name = ""
        var offset = 0
    }

    /// A room's sequence ended.
    private struct Stop: Error {}

    /// Waits until a list fulfils a condition, and returns it.
    @discardableResult
    private func wait<Value>(
        _ room: Presence<Value>, until isThere: ([Present<Value>]) -> Bool
    ) async throws -> [Present<Value>] {
        for try await people in room.people where isThere(people) { return people }
        throw Stop()
    }

    @Test func `two devices see each other's values, and nothing of one that left`() async throws {
        let mesh = try await Mesh(2, program: Self.program)
        let ada = try await mesh[0].lanyard.presence(Cursor.self, in: "note:1")
        let bob = try await mesh[1].lanyard.presence(Cursor.self, in: "note:1")
        try await ada.set(Cursor(name: "Ada", offset: 12))
        try await bob.set(Cursor(name: "Bob", offset: 3))
        for (room, own) in [(ada, 0), (bob, 1)] {
            let people = try await wait(room) { $0.count == 2 }
            #expect(Set(people.map(\.value)) == [Cursor(name: "Ada", offset: 12), Cursor(name: "Bob", offset: 3)])
            #expect(people.filter(\.isMine).map(\.device) == [mesh[own].device])
            #expect(people.filter(\.isThisDevice).map(\.device) == [mesh[own].device])
            #expect(people.allSatisfy { !$0.deviceName.isEmpty })
        }
        let left = ContinuousClock.now
        ada.leave()
        try await wait(bob) { $0.map(\.value.name) == ["Bob"] }
        #expect(ContinuousClock.now - left < .seconds(10))
        // The sequence of a room that was left ends.
        for try await _ in ada.people {}
        try await bob.set(nil)
        try await wait(bob) { $0.isEmpty }
    }

    @Test func `of a flood of values the last one is shown`() async throws {
        let mesh = try await Mesh(2, program: Self.program)
        let ada = try await mesh[0].lanyard.presence(Cursor.self, in: "t")
        let bob = try await mesh[1].lanyard.presence(Cursor.self, in: "t")
        for offset in 1...400 { try await ada.set(Cursor(name: "Ada", offset: offset)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for offset in 401...500 { group.addTask { try await ada.set(Cursor(name: "Ada", offset: offset)) } }
            try await group.waitForAll()
        }
        try await ada.set(Cursor(name: "Ada", offset: 501))
        try await wait(bob) { $0.map(\.value.offset) == [501] }
    }

    @Test func `a room joins again after its agent was away, and sets its value again`() async throws {
        let mesh = try await Mesh(2, program: Self.program)
        let ada = try await mesh[0].lanyard.presence(Cursor.self, in: "t")
        let bob = try await mesh[1].lanyard.presence(Cursor.self, in: "t")
        try await ada.set(Cursor(name: "Ada", offset: 1))
        let before = try await wait(bob) { !$0.isEmpty }
        try await wait(ada) { !$0.isEmpty }
        mesh.crash(0)
        // Without an agent nothing is known to be present.
        try await wait(ada) { $0.isEmpty }
        // Kept until the agent is back.
        try await ada.set(Cursor(name: "Ada", offset: 2))
        try await mesh.restart(0)
        let after = try await wait(bob) { $0.map(\.value.offset) == [2] }
        #expect(after.map(\.session) != before.map(\.session))
        try await wait(ada) { $0.contains { $0.isMine && $0.value.offset == 2 } }
    }

    @Test func `values of another type are left out, and one that is too large is refused`() async throws {
        try await LiveServer.with { server async throws in
            let home = try await server.library()
            let room = try await home.presence(Cursor.self, in: "t")
            let other = try await home.presence(Int.self, in: "t")
            try await other.set(7)
            try await room.set(Cursor(name: "Ada", offset: 1))
            let people = try await wait(room) { !$0.isEmpty }
            #expect(people.map(\.value.name) == ["Ada"] && people[0].isMine)
            #expect(try await wait(other) { !$0.isEmpty }.map(\.value) == [7])
            let large = Cursor(name: String(repeating: "x", count: 1_024), offset: 2)
            let error = await #expect(throws: ControlError.self) { try await room.set(large) }
            #expect(error?.code == .tooLarge)
            #expect(try await wait(room) { !$0.isEmpty }.map(\.value.offset) == [1])
            let name = await #expect(throws: ControlError.self) { try await home.presence(Int.self, in: "a/b") }
            #expect(name?.code == .invalidName)
            room.leave()
            other.leave()
        }
    }

    @Test func `a room without an agent is an error at once`() async throws {
        let mesh = try await Mesh(1, program: Self.program)
        mesh.crash(0)
        let error = await #expect(throws: ControlError.self) {
            try await mesh[0].lanyard.presence(Cursor.self, in: "t")
        }
        #expect(error?.code == .agentNotRunning)
    }
}
