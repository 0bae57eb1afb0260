import ControlAPI
import SyncAgent
import Synchronization

/// The texts that clients follow or edit at present.
///
/// A room without readers is kept for a while, so that an edit against the version that a client read last finds its text. At
/// most `maximumIdle` of them, the last used ones.
final class TextRooms: Sendable {
    private static let maximumIdle = 64

    fileprivate struct Key: Hashable {
        let name: ObjectName
        let path: FieldPath
    }

    private struct State {
        var rooms: [Key: (room: TextRoom, users: Int)] = [:]
        /// The rooms without users; the one used last stands last.
        var idle: [Key] = []
    }

    private let agent: Agent
    private let state = Mutex(State())

    init(_ agent: Agent) { self.agent = agent }

    /// A use of a room, as long as it is held.
    final class Use: Sendable {
        let room: TextRoom
        private let rooms: TextRooms
        private let key: Key

        fileprivate init(_ room: TextRoom, _ rooms: TextRooms, _ key: Key) {
            self.room = room
            self.rooms = rooms
            self.key = key
        }

        deinit { rooms.leave(key) }
    }

    /// Returns the room of a text, for one use of it.
    func room(_ name: ObjectName, _ path: FieldPath) -> Use {
        let key = Key(name: name, path: path)
        return state.withLock { state in
            let room = state.rooms[key]?.room ?? TextRoom(agent, name, path)
            state.rooms[key] = (room, (state.rooms[key]?.users ?? 0) + 1)
            state.idle.removeAll { $0 == key }
            return Use(room, self, key)
        }
    }

    private func leave(_ key: Key) {
        state.withLock { state in
            guard let (room, users) = state.rooms[key] else { return }
            state.rooms[key] = (room, users - 1)
            guard users == 1 else { return }
            state.idle.append(key)
            if state.idle.count > Self.maximumIdle { state.rooms[state.idle.removeFirst()] = nil }
        }
    }
}

/// A text that one client follows.
struct TextReading: Sendable {
    let use: TextRooms.Use
    let unit: TextUnit
    /// The state that was read before the answer began, so that an error there has a status of its own.
    let begun: (line: TextLine, number: Int)

    /// Writes the text, and then each edit of it, until the agent stops or the task is cancelled.
    func write(to writer: inout StreamWriter) async throws {
        let room = use.room
        var (line, number) = begun
        try await writer.write(JSONEncoding.bytes(line))
        let signal = room.agent.objectSignal
        while !signal.isFinished, !Task.isCancelled {
            let version = signal.version
            guard let lines = try await room.lines(behind: number, unit: unit) else {
                (line, number) = try await room.whole()
                try await writer.write(JSONEncoding.bytes(line))
                continue
            }
            if lines.isEmpty {
                await signal.wait(beyond: version)
            } else {
                number += lines.count
                try await writer.write(lines.map { JSONEncoding.bytes($0) })
            }
        }
    }
}
