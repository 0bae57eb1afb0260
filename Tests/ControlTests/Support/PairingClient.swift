import ControlAPI
import LanyardClient
import Synchronization

/// A client that pairs, as `lanyard pair` does, and the lines it was given.
final class PairingClient: Sendable {
    /// The lines ended before the one that was waited for.
    struct Ended: Error { let lines: [PairingLine] }

    private let lines: AsyncStream<PairingLine>
    private let seen: Mutex<[PairingLine]>
    private let task: Task<Void, any Error>

    init(_ server: LiveServer, _ device: String? = nil, role: Role? = nil, until: Timestamp? = nil) {
        let (lines, see) = AsyncStream<PairingLine>.makeStream()
        self.lines = lines
        seen = Mutex([])
        task = Task {
            defer { see.finish() }
            try await server.client.pair(PairRequest(device: device, role: role, until: until)) { see.yield($0) }
        }
    }

    /// Waits for a line that `find` takes; those before it are passed over. Throws what ended the pairing, if it was no line.
    func first<Found: Sendable>(_ find: (PairingLine) -> Found?) async throws -> Found {
        for await line in lines {
            seen.withLock { $0.append(line) }
            if let found = find(line) { return found }
        }
        try await task.value
        throw Ended(lines: seen.withLock(\.self))
    }

    func waiting() async throws {
        try await first { if case .waiting = $0 { () } else { nil } }
    }

    /// The devices of which one is to be chosen, once they have these ids.
    func choices(_ ids: Set<String>) async throws -> [PairingDevice] {
        try await first { line in
            if case .choose(let devices) = line, Set(devices.compactMap(\.id)) == ids { devices } else { nil }
        }
    }

    func code() async throws -> (code: String, peer: PairingPeer) {
        try await first { if case .code(let code, let peer) = $0 { (code, peer) } else { nil } }
    }

    func confirmed() async throws {
        try await first { if case .confirmed = $0 { () } else { nil } }
    }

    func paired() async throws -> (device: String, name: String, role: Role) {
        let line = try await pairedLine()
        return (line.device, line.name, line.role)
    }

    func pairedLine() async throws -> (device: String, name: String, role: Role, joined: Bool) {
        try await first { line in
            if case .paired(let device, let name, let role, let joined) = line {
                (device, name, role, joined)
            } else {
                nil
            }
        }
    }

    func failed() async throws -> ControlError {
        try await first { if case .failed(let error) = $0 { error } else { nil } }
    }

    /// The client goes away.
    func leave() async {
        task.cancel()
        _ = try? await task.value
    }
}
