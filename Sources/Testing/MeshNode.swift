import LanyardClient
public import Lanyard
import Synchronization

/// A device of a ``Mesh``.
public final class MeshNode: Sendable {
    /// The number in the mesh, from 0.
    public let number: Int
    /// The data of the device, which is gone after the test.
    public let directory: String
    /// The id of the device.
    public let device: String
    /// The connection to its agent, which outlives a crash and a restart.
    public let lanyard: Lanyard
    /// The address at which its agent listens.
    let address: HostPort

    private let program: String
    private let process: Mutex<AgentProcess?>

    private init(
        number: Int, directory: String, device: String, lanyard: Lanyard, address: HostPort, program: String,
        process: AgentProcess
    ) {
        self.number = number
        self.directory = directory
        self.device = device
        self.lanyard = lanyard
        self.address = address
        self.program = program
        self.process = Mutex(process)
    }

    deinit { kill() }

    /// True unless it crashed.
    public var isRunning: Bool { process.withLock { $0 != nil } }

    var client: LanyardClient { lanyard.client }

    static func start(_ number: Int, program: String, in place: String) async throws -> MeshNode {
        let directory = "\(place)/\(number)"
        let address = try HostPort(parsing: "127.0.0.1:\(try FreePort.find())")
        let process = try AgentProcess(program, directory: directory, name: "device\(number)", address: address)
        let client = LanyardClient(socketPath: "\(directory)/control.sock")
        try await process.untilReady(client)
        return MeshNode(
            number: number, directory: directory, device: try await client.status().device.id,
            lanyard: try await Lanyard.connect(socketPath: client.socketPath), address: address, program: program,
            process: process)
    }

    func kill() { process.withLock { $0.take() }?.kill() }

    func restart() async throws {
        if isRunning { return }
        let agent = try AgentProcess(program, directory: directory, name: "device\(number)", address: address)
        process.withLock { $0 = agent }
        try await agent.untilReady(client)
    }

    // MARK: State

    /// The state of the space, as other devices should come to have it.
    struct State: Sendable {
        let digest: String
        let vector: String
        let isComplete: Bool
        /// The ids of the devices that it has a session with.
        let connected: Set<String>
    }

    func state() async throws(ControlError) -> State {
        let status = try await client.status(space: lanyard.space)
        let peers = try await client.peers().filter { $0.state == .connected }
        guard let space = status.spaces.first else {
            throw ControlError(.unknownSpace, "Device \(number) has no space \(lanyard.space).", hint: "Use home.")
        }
        return State(
            digest: space.digest, vector: "\(space.versionVector)", isComplete: space.incomplete == 0,
            connected: Set(peers.compactMap(\.id)))
    }
}
