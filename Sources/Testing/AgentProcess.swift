import ControlAPI
import Foundation
import Glibc
import LanyardClient
import Synchronization

/// An agent as a process of its own, which ends with this one.
final class AgentProcess: Sendable {
    /// Held while descriptors are made that children must not inherit, and while a child is made.
    private static let spawning = Mutex(())

    private let process: Process
    /// The agent's standard input: it stops when this ends, that is, with the test's process.
    private let life: FileHandle
    private let output: String

    init(_ program: String, directory: String, name: String, address: HostPort) throws(ControlError) {
        output = "\(directory).log"
        var ends: [CInt] = [-1, -1]
        // No other child may inherit the writing end, or the agent would outlive the test's process.
        let isMade = Self.spawning.withLock { _ in pipe(&ends) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0 }
        guard isMade else {
            throw ControlError(
                .agentNotRunning, "The agent of \(name) cannot be started: there are no file descriptors left.",
                hint: "Raise the limit: ulimit -n shows it.")
        }
        let input = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        life = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = [
            "--data-dir", directory, "--name", name, "--no-mdns", "--listen", address.description, "--log-level",
            "notice",
            "--until-input-ends",
        ]
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            _ = FileManager.default.createFile(atPath: output, contents: nil)
            let log = try FileHandle(forWritingTo: URL(filePath: output))
            process.standardInput = input
            process.standardOutput = log
            process.standardError = log
            try Self.spawning.withLock { _ in try process.run() }
        } catch {
            throw ControlError(
                .agentNotRunning, "The agent of \(name) cannot be started: \(error).", hint: AgentProgram.hint)
        }
    }

    /// Returns when the agent answers and is ready. Throws `agent_not_running` with its last words if it ends before, or is not
    /// ready within 30 s.
    func untilReady(_ client: LanyardClient) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            if let readiness = try? await client.readiness(), readiness.ready { return }
            guard process.isRunning, ContinuousClock.now < deadline else {
                let words = (try? String(contentsOfFile: output, encoding: .utf8))?.suffix(1_000) ?? ""
                throw ControlError(
                    .agentNotRunning, "The agent ended or does not get ready: \(words)", hint: AgentProgram.hint)
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Kills the agent, and returns when it has ended: after some milliseconds.
    func kill() {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}

/// The program of an agent.
enum AgentProgram {
    static let hint = "Install Lanyard, or name its agent: LANYARDD=.build/release/lanyardd swift test"

    /// Throws `agent_not_running` where there is none.
    static func find() throws(ControlError) -> String {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["LANYARDD"], !named.isEmpty {
            if FileManager.default.isExecutableFile(atPath: named) { return named }
            throw ControlError(.agentNotRunning, "LANYARDD names no program: \(named).", hint: hint)
        }
        for directory in (environment["PATH"] ?? "").split(separator: ":") {
            let program = "\(directory)/lanyardd"
            if FileManager.default.isExecutableFile(atPath: program) { return program }
        }
        throw ControlError(.agentNotRunning, "There is no lanyardd on the PATH.", hint: hint)
    }
}

/// A directory that is gone with this value; in memory where the machine has such a place.
final class TemporaryPlace: Sendable {
    let path: String

    init() throws(ControlError) {
        let place = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(place)/lanyard-mesh.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ControlError(
                .fileUnwritable, "No directory can be made in \(place).", hint: "Is the disk full, or not writable?")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A TCP port of the loopback interface that is free.
enum FreePort {
    /// Below the ports that Linux gives to connections, and to listeners that name none: no other program is given it before the
    /// agent has it, or while the agent is crashed.
    private static let range: ClosedRange<UInt16> = 20_000...32_767
    /// The ports that agents of this process were given: one that is being started may not listen yet.
    private static let given = Mutex<Set<UInt16>>([])

    /// Throws `unreachable` where there is none.
    static func find() throws(ControlError) -> Int {
        for _ in 0..<100 {
            let port = UInt16.random(in: range)
            if isFree(port), given.withLock({ $0.insert(port).inserted }) { return Int(port) }
        }
        throw ControlError(
            .unreachable, "No port of the loopback interface is free.", hint: "End programs that hold many.")
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
