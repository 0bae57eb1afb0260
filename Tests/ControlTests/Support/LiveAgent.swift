import ControlAPI
import ControlServer
import Foundation
import NIOCore
import SyncAgent
import Synchronization
import Testing

/// An agent as `lanyardd` starts it, with a store in a directory of its own. It listens on the loopback interface at a free port,
/// and uses no mDNS.
final class LiveAgent: Sendable {
    let agent: Agent
    /// The data directory.
    let directory: String
    private let isStopped = Mutex(false)

    /// The place of the configuration file where a test has none.
    static let noFile = "/nowhere/lanyardd.toml"

    private init(
        named name: String, in directory: String, file: String?, listen: String?, pairingMilliseconds: Int64?,
        faults: AgentFaults, hasRead: @escaping @Sendable () -> Void
    ) async throws {
        let own: [ConfigurationLayer.Key: String] = [.dataDirectory: directory]
        let given = listen.map { own.merging([.listen: $0]) { _, flag in flag } } ?? own
        let usual: [ConfigurationLayer.Key: String] = [.mdns: "off", .name: name, .logLevel: "notice"]
        let read = { @Sendable () throws(ConfigurationError) -> AgentConfiguration in
            let layers = [
                ConfigurationLayer(given), try file.map(ConfigurationLayer.init(file:)) ?? ConfigurationLayer(),
                ConfigurationLayer(usual),
            ]
            var configuration = try AgentConfiguration(layers: layers, environment: [:], hostName: name)
            (configuration.file, configuration.filePlaces) = (file, [file ?? Self.noFile])
            if let pairingMilliseconds { configuration.pairingMilliseconds = pairingMilliseconds }
            configuration.faults = faults
            hasRead()
            return configuration
        }
        let configuration = try read()
        self.directory = directory
        agent = try await Agent.start(
            configuration, version: LanyardVersion.current,
            log: AgentLog(directory: directory, format: configuration.logFormat, echoes: false), reread: read)
    }

    /// Runs an agent for as long as `body`.
    ///
    /// - Parameters:
    ///   - directory: the data directory; nil: a fresh one that is gone afterwards.
    ///   - file: the configuration file; nil: there is none.
    ///   - listen: the address, as a flag gives it; nil: the file has it.
    ///   - pairingMilliseconds: the time that a pairing has; nil: the usual one.
    ///   - faults: planted bugs.
    ///   - hasRead: called at each reading of the configuration, on a thread that may wait, before anything comes of it.
    static func with<Value: Sendable>(
        named name: String = "desk", in directory: String? = nil, file: String? = nil,
        listen: String? = "127.0.0.1:0", pairingMilliseconds: Int64? = nil, faults: AgentFaults = [],
        hasRead: @escaping @Sendable () -> Void = {}, _ body: (LiveAgent) async throws -> Value
    ) async throws -> Value {
        try await AgentTurns.with {
            let temporary = try TemporaryDirectory()
            let live = try await LiveAgent(
                named: name, in: directory ?? temporary.path + "/data", file: file, listen: listen,
                pairingMilliseconds: pairingMilliseconds, faults: faults, hasRead: hasRead)
            let result: Result<Value, any Error>
            do { result = .success(try await body(live)) } catch { result = .failure(error) }
            await live.stop()
            return try result.get()
        }
    }

    /// Stops the agent, once.
    func stop() async {
        let wasStopped = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        if !wasStopped { await agent.stop() }
    }

    var device: String { "\(agent.device)" }
    var shortID: String { String(device.prefix(7)) }
    var address: HostPort { get throws { try HostPort(parsing: "127.0.0.1:\(agent.listenPort)") } }

    // MARK: Other devices

    /// Runs another agent that is paired with this one for as long as `body`; afterwards it is a member that is away.
    func withPeer<Value: Sendable>(
        named name: String = "attic", _ body: (LiveAgent) async throws -> Value
    ) async throws -> Value {
        try await LiveAgent.with(named: name) { peer async throws in
            try await pair(with: peer)
            let value = try await body(peer)
            await peer.stop()
            try await until { agent async throws in
                try await agent.peers().allSatisfy { $0.id != peer.device || $0.state != .connected }
            }
            return value
        }
    }

    /// Adds a member that is away, and has all that there was until now.
    func addAwayMember(named name: String) async throws -> LiveAgent { try await withPeer(named: name) { $0 } }

    /// Admits `other`, and returns when both hold the same.
    func pair(with other: LiveAgent) async throws {
        let ticket = try await agent.invite(space: "home", role: .writer, expiresSeconds: 60).ticket
        _ = try await other.agent.join(ticket: ticket)
        try await converge(with: other)
    }

    /// Returns when both hold the same changes, are connected, and know it of each other.
    func converge(with other: LiveAgent) async throws {
        try await until { agent async throws in
            let isConnected = try await agent.peers().contains { $0.id == other.device && $0.state == .connected }
            guard isConnected else { return false }
            let (here, there) = (try await agent.status(space: nil), try await other.agent.status(space: nil))
            return here.spaces[0].versionVector == there.spaces[0].versionVector
                && here.spaces[0].digest == there.spaces[0].digest
                && here.spaces[0].incomplete + there.spaces[0].incomplete == 0
                && here.spaces[0].standings.contains { $0.id == other.device && $0.state == .inStep }
                && there.spaces[0].standings.contains { $0.id == self.device && $0.state == .inStep }
        }
    }

    /// Returns when no device lacks anything of this one, nor this one of them.
    func untilInStep() async throws {
        try await until { agent async throws in try await agent.status(space: nil).spaces[0].inStep }
    }

    /// Runs `body` while neither of the two hears of the other's changes, and returns when they have met again.
    func apart(from other: LiveAgent, _ body: () async throws -> Void) async throws {
        _ = try await agent.block(space: "home", device: other.device)
        try await other.until { agent async throws in
            try await agent.peers().allSatisfy { $0.id != self.device || $0.state != .connected }
        }
        try await body()
        _ = try await agent.unblock(space: "home", device: other.device)
        try await converge(with: other)
    }

    /// Returns when the condition holds. It is looked at again after every change of peers, events and objects, and each tenth of
    /// a second, since an acknowledgement that arrives signals nothing.
    func until(_ condition: (Agent) async throws -> Bool) async throws {
        while true {
            let versions = (agent.peerSignal.version, agent.eventSignal.version, agent.objectSignal.version)
            if try await condition(agent) { return }
            try Task.checkCancellation()
            await withTaskGroup(of: Void.self) { [agent] group in
                group.addTask { await agent.peerSignal.wait(beyond: versions.0) }
                group.addTask { await agent.eventSignal.wait(beyond: versions.1) }
                group.addTask { await agent.objectSignal.wait(beyond: versions.2) }
                group.addTask { try? await Task.sleep(for: .milliseconds(100)) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    // MARK: Objects

    func put(_ name: String, _ fields: String) async throws {
        let name = try ObjectName(parsing: name)
        _ = try await agent.put(
            space: "home", try ObjectPut(collection: name.collection, id: name.id, fields: try JSONText(fields)))
    }

    func edit(_ name: String, _ operations: String...) async throws {
        let operations = try operations.map { try EditOperation(parsing: $0) }
        _ = try await agent.edit(space: "home", try ObjectEdit(ObjectName(parsing: name), operations))
    }

    func delete(_ name: String) async throws {
        _ = try await agent.delete(space: "home", try ObjectName(parsing: name), ifVersion: nil)
    }

    func setSchema(_ collection: String, _ schema: String) async throws {
        _ = try await agent.setSchema(
            space: "home", try SchemaEntry(setting: try JSONText(schema), of: collection))
    }

    /// Makes an object of `note` that waits for a decision: `peer` edited it while it was deleted here.
    func makeUndecided(_ id: String, with peer: LiveAgent) async throws {
        try await setSchema("note", #"{"deletePolicy":"ask"}"#)
        try await put("note/\(id)", #"{"n":0}"#)
        try await converge(with: peer)
        try await apart(from: peer) {
            try await delete("note/\(id)")
            try await peer.edit("note/\(id)", "n=1")
        }
    }

    // MARK: Attachments

    @discardableResult
    func attach(_ bytes: [UInt8], named name: String, to owner: String) async throws -> AttachmentEntry {
        let draft = AttachmentDraft(
            space: "home", owner: try ObjectName(parsing: owner), name: name, size: UInt64(bytes.count))
        let receiver = try await agent.beginAttaching(draft)
        try await receiver.append(ByteBuffer(bytes: bytes))
        return try await receiver.finish()
    }

    /// Makes an attachment of an object of this agent whose bytes were only on `name`, which is away.
    func attachElsewhere(
        _ bytes: [UInt8], named file: String, to owner: String, on name: String = "kitchen"
    ) async throws -> AttachmentEntry {
        _ = try await agent.setSpace("home", SpaceSettings(fetch: .onDemand))
        return try await withPeer(named: name) { peer async throws in
            let entry = try await peer.attach(bytes, named: file, to: owner)
            try await converge(with: peer)
            return entry
        }
    }

    /// Changes a byte of a blob that is too large for the database, behind the agent's back.
    func damage(_ entry: AttachmentEntry, at offset: UInt64) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: directory + "/blobs/" + entry.record.hash))
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: offset)
        try file.write(contentsOf: [byte ^ 1])
    }
}
