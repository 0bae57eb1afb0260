import Lanyard
import LanyardClient
import Synchronization

/// Several real agents on this machine for the time of a test: paired with each other, each with data of its own.
///
/// ```swift
/// let mesh = try await Mesh(3)
/// try await mesh.isolate(0)
/// try await mesh[0].lanyard.save(Todo(title: "Milk"))
/// try await mesh.heal()
/// try await mesh.converged()
/// #expect(try await mesh[2].lanyard.query(Todo.self).count() == 1)
/// ```
///
/// Each device is a process `lanyardd` in a temporary directory. It listens on the loopback interface, uses no mDNS, and ends
/// with the mesh, also when the test's process is killed. The program is the one that `LANYARDD` names, else the first one on
/// the `PATH`.
public final class Mesh: Sendable {
    private let nodes: [MeshNode]
    private let place: TemporaryPlace
    private let apart = Mutex<Set<Pair>>([])

    /// Two devices that are apart; the order does not matter.
    private struct Pair: Hashable {
        let low: Int
        let high: Int

        init(_ one: Int, _ other: Int) { (low, high) = (min(one, other), max(one, other)) }

        /// Both directions.
        var sides: [(here: Int, there: Int)] { [(low, high), (high, low)] }
    }

    /// Starts `count` agents, pairs them, and returns when each is connected to each.
    ///
    /// - Parameter program: the path of `lanyardd`; nil: found as above.
    /// - Throws: `agent_not_running` where there is no such program, or it ends at once, with its last words.
    public init(_ count: Int, program: String? = nil) async throws {
        precondition(count >= 1, "a mesh has at least one device")
        let program = try program ?? AgentProgram.find()
        let place = try TemporaryPlace()
        let started = try await withThrowingTaskGroup(of: MeshNode.self) { group in
            for number in 0..<count {
                group.addTask { try await MeshNode.start(number, program: program, in: place.path) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        self.place = place
        nodes = started.sorted { $0.number < $1.number }
        for node in nodes.dropFirst() {
            _ = try await node.client.join(ticket: try await nodes[0].client.invite().ticket)
            for other in nodes where other.number != node.number { _ = try await node.client.addPeer(other.address) }
        }
        try await converged()
    }

    /// The devices, counted from 0.
    public subscript(number: Int) -> MeshNode { nodes[number] }

    /// The number of devices.
    public var count: Int { nodes.count }

    // MARK: Faults

    /// Ends the sessions between two devices, and lets none begin. Each still hears of the other's changes from devices that
    /// both reach.
    public func partition(_ one: Int, from other: Int) async throws {
        let pair = Pair(one, other)
        apart.withLock { _ = $0.insert(pair) }
        for (here, there) in pair.sides where nodes[here].isRunning {
            _ = try await nodes[here].client.block(device: nodes[there].device)
        }
        try await until("devices \(one) and \(other) are apart", within: .seconds(10)) { states in
            pair.sides.allSatisfy { states[$0.here]?.connected.contains(self.nodes[$0.there].device) != true }
        }
    }

    /// Cuts a device off from all others.
    public func isolate(_ number: Int) async throws {
        for other in nodes.indices where other != number { try await partition(number, from: other) }
    }

    /// Ends all partitions. The devices connect by themselves; ``converged(within:)`` waits for what follows.
    public func heal() async throws {
        for pair in apart.withLock(\.self) {
            for (here, there) in pair.sides where nodes[here].isRunning {
                _ = try await nodes[here].client.unblock(device: nodes[there].device)
            }
            apart.withLock { _ = $0.remove(pair) }
        }
    }

    /// Kills the agent of a device with SIGKILL. Its data stays as the agent left it.
    public func crash(_ number: Int) { nodes[number].kill() }

    /// Starts the agent of a crashed device again with its data, and returns when it answers. Partitions that were made or healed
    /// meanwhile hold for it, too.
    public func restart(_ number: Int) async throws {
        try await nodes[number].restart()
        let pairs = apart.withLock(\.self)
        let blocked = Set(try await nodes[number].client.devices().filter { $0.state == "blocked" }.map(\.id))
        for other in nodes.indices where other != number {
            let isApart = pairs.contains(Pair(number, other))
            if isApart == blocked.contains(nodes[other].device) { continue }
            if isApart {
                _ = try await nodes[number].client.block(device: nodes[other].device)
            } else {
                _ = try await nodes[number].client.unblock(device: nodes[other].device)
            }
        }
    }

    // MARK: Waiting

    /// Returns when all running devices have the same changes and show the same, and each is connected to each that it is not
    /// apart from. Throws `timed_out` with the devices that differ. Devices without a way between them never converge.
    public func converged(within bound: Duration = .seconds(10)) async throws {
        let pairs = apart.withLock(\.self)
        try await until("the devices have the same", within: bound) { states in
            guard Set(states.values.map(\.digest)).count <= 1, Set(states.values.map(\.vector)).count <= 1 else {
                return false
            }
            return states.allSatisfy { number, state in
                state.isComplete
                    && states.keys.allSatisfy { other in
                        other == number || pairs.contains(Pair(number, other))
                            || state.connected.contains(self.nodes[other].device)
                    }
            }
        }
    }

    /// Looks at the running devices until the condition holds. An acknowledgement that arrives signals nothing, so they are asked
    /// again every few milliseconds.
    private func until(
        _ sentence: String, within bound: Duration, _ condition: ([Int: MeshNode.State]) -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + bound
        while true {
            var states: [Int: MeshNode.State] = [:]
            for node in nodes where node.isRunning { states[node.number] = try await node.state() }
            if condition(states) { return }
            guard ContinuousClock.now < deadline else {
                let list = states.sorted { $0.key < $1.key }.map { number, state in
                    "device \(number) shows \(state.digest.prefix(8)) and has \(state.connected.count) sessions"
                }
                throw ControlError(
                    .timedOut,
                    "It did not come true within \(bound) that \(sentence): \(list.joined(separator: ", ")).",
                    hint: "Ask a device what is in the way: mesh[0].lanyard.client.why()")
            }
            try await Task.sleep(for: .milliseconds(4))
        }
    }
}
