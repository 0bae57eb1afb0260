import ControlAPI
import Glibc
import LanyardClient

/// The file of `lanyard doctor --bundle`: what a person who helps asks for first, in one tar archive.
///
/// A bundle holds what the agent says of itself and its peers, and its log. Contents of the space stay out, names of files
/// too. Parts that cannot be had (the agent is down, the log may not be read) are named in `left-out.json`.
struct DiagnosticBundle {
    let checks: [DoctorCheck]
    let global: GlobalOptions

    func save(_ file: String, replaces: Bool) async throws {
        Interruption.explain(
            "It was stopped; there is no bundle.", hint: "Make it again: lanyard doctor --bundle FILE",
            asJSON: global.json)
        let place = OutputPlace(file, fileName: "lanyard-doctor.tar")
        let output = try FileOutput(directory: place.directory, name: place.name, replaces: replaces, mode: 0o600)
        let archive = ExportArchive(spoolDirectory: place.directory) { bytes throws(ControlError) in
            try output.write(bytes)
        }
        let (parts, leftOut) = await collected()
        for part in parts { try archive.add(part.name, part.bytes) }
        try archive.add("left-out.json", JSONEncoding.bytes(leftOut))
        try archive.finish()
        try output.finish()
        let answer = BundleAnswer(
            file: place.path, bytes: archive.byteCount, files: parts.map(\.name), leftOut: leftOut)
        try global.print(answer) { _ in
            global.quiet ? "" : "\(shown(place.path))  \(ByteAmount.text(answer.bytes))\n"
        }
        for part in leftOut { global.note("Without \(part.file): \(shown(part.reason))") }
        global.note("It names devices and addresses. It holds no contents and no keys.")
    }

    private struct Part {
        let name: String
        let bytes: [UInt8]
    }

    private typealias Source = (name: String, read: () async throws(ControlError) -> [UInt8])

    /// Returns the files of the bundle, and those that could not be had.
    private func collected() async -> ([Part], [LeftOut]) {
        var parts = [Part(name: "doctor.json", bytes: JSONEncoding.bytes(checks)), machine]
        var leftOut: [LeftOut] = []
        for source in agentSources + logSources {
            do throws(ControlError) {
                parts.append(Part(name: source.name, bytes: try await source.read()))
            } catch {
                leftOut.append(LeftOut(file: source.name, reason: error.message))
            }
        }
        return (parts, leftOut)
    }

    private var agentSources: [Source] {
        let global = global
        return [
            (
                "status.json",
                { () async throws(ControlError) in
                    var status = try await global.client().status()
                    // Names of files are contents.
                    for index in status.transfers.indices { status.transfers[index].name = nil }
                    return JSONEncoding.bytes(status)
                }
            ),
            ("why.json", { () async throws(ControlError) in JSONEncoding.bytes(try await global.client().why()) }),
            ("peers.json", { () async throws(ControlError) in JSONEncoding.bytes(try await global.client().peers()) }),
            (
                "devices.json",
                { () async throws(ControlError) in
                    JSONEncoding.bytes(try await global.client().devices(space: global.space))
                }
            ),
            (
                "configuration.toml",
                { () async throws(ControlError) in Array(try await global.client().configuration().toml.utf8) }
            ),
            ("metrics.txt", { () async throws(ControlError) in try await global.client().metrics() }),
        ]
    }

    private var logSources: [Source] {
        let directory = global.location.dataDirectory
        let present: Source = (
            LogFile.name,
            { () async throws(ControlError) in
                guard var log = LogFile(directory: directory) else { throw Self.unreadable(directory) }
                return log.newest(lines: .max)
            }
        )
        // Only a long log has an earlier file.
        guard var previous = LogFile(directory: directory, isPrevious: true) else { return [present] }
        let bytes = previous.newest(lines: .max)
        return [present, ("\(LogFile.name).1", { () async throws(ControlError) in bytes })]
    }

    /// Returns the error for the log that could not be opened just now.
    private static func unreadable(_ directory: String) -> ControlError {
        let reason = String(cString: strerror(errno))
        return ControlError(
            .notFound, "The log in \(directory) cannot be read: \(reason).",
            hint: "Run the command as root or as the agent's user.")
    }

    /// The versions of this command, of the kernel and of the distribution.
    private var machine: Part {
        var names = utsname()
        uname(&names)
        let kernel = withUnsafeBytes(of: &names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let processor = withUnsafeBytes(of: &names.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let system = (try? FileBytes.read("/etc/os-release", limit: 65_536)) ?? []
        let head = "lanyard \(LanyardVersion.current)\nkernel \(kernel)\nprocessor \(processor)\n\n"
        return Part(name: "machine.txt", bytes: Array(head.utf8) + system)
    }
}

/// A file that a bundle does not have.
private struct LeftOut: Encodable {
    let file: String
    let reason: String
}

/// The saved bundle, as JSON.
private struct BundleAnswer: Encodable {
    let file: String
    let bytes: UInt64
    let files: [String]
    let leftOut: [LeftOut]
}
