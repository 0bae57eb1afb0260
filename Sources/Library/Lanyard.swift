public import ControlAPI
public import LanyardClient

/// A space of the agent on this machine: objects, events and attachments that every paired device has.
///
/// ```swift
/// let home = try await Lanyard.connect()
/// try await home.save(Todo(title: "Milk"))
/// for try await todos in home.query(Todo.self).where(\.done == false).sorted(by: \.title).live() { show(todos) }
/// ```
///
/// A value that may be copied and used by several tasks at once. Writes are durable on this machine when they return, and go
/// to the other devices by themselves, at once or when they are met again. A write whose answer is lost is asked for again
/// for a few seconds under a key that lets it be done only once. Where no agent answers, `agent_not_running` is thrown at once.
/// Sequences that follow, such as ``Query/live()``, wait for the agent and go on where they were.
///
/// Errors are `ControlError`s: a stable code, a sentence for a person, and the next step, which `"\(error)"` shows together. Calls
/// that run your code, and sequences, throw its errors as they are, and `CancellationError`.
public struct Lanyard: Sendable {
    /// The space; every device has `home`.
    public let space: String
    /// The requests below this library, for what it does not cover.
    public let client: LanyardClient
    /// The connection to the agent.
    public let connection: Connection
    let checked = CheckedTypes()

    /// Finds the agent on this machine and asks it for a sign of life.
    ///
    /// - Parameters:
    ///   - socketPath: the agent's control socket; nil: where `lanyard` looks for it (`LANYARD_SOCKET`, the data directory of
    ///     this user, the service's).
    ///   - space: the space to work in.
    ///   - waiting: the time for which an agent that does not answer is tried again; zero to throw at once.
    ///   - types: types whose schema is checked now; those of others are when they are first used.
    /// - Throws: `agent_not_running`, `forbidden`, `unreachable`, and what the check of a schema throws.
    public static func connect(
        socketPath: String? = nil, space: String = "home", waiting: Duration = .zero,
        types: (any LanyardObject.Type)...
    ) async throws(ControlError) -> Lanyard {
        let deadline = ContinuousClock.now + waiting
        while true {
            do throws(ControlError) {
                let client: LanyardClient
                if let socketPath {
                    client = LanyardClient(socketPath: socketPath)
                } else {
                    client = try LanyardClient.find()
                }
                let lanyard = Lanyard(client: client, space: space)
                _ = try await client.version()
                for type in types { try await lanyard.check(type) }
                return lanyard
            } catch {
                guard error.saysAgentIsLost, ContinuousClock.now < deadline else { throw error }
                do { try await Task.sleep(for: .milliseconds(100)) } catch { throw .unexpected(error) }
            }
        }
    }

    init(client: LanyardClient, space: String) {
        self.client = client
        self.space = space
        connection = Connection()
    }
}
