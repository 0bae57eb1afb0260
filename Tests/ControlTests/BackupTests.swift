import ControlAPI
import ControlServer
import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import SyncStore
import Testing

@Suite(.timeLimit(.minutes(20))) struct BackupTests {
    /// Commands against one agent, in a directory of their own.
    private struct Shell {
        let live: LiveAgent
        let socket: String
        let directory: String

        var data: String { directory + "/data" }
        var saved: String { directory + "/saved" }
        var keys: [UInt8] { get throws { try bytes(live.directory + "/identity.pem") } }

        func callAsFunction(_ arguments: String..., input: String = "") async throws -> CommandRun {
            try await CommandRun.lanyard(arguments, socket: socket, input: input)
        }

        func restore(_ file: String, _ options: String...) async throws -> CommandRun {
            try await CommandRun.lanyard(["restore", file, "--data-dir", data] + options)
        }

        func names(_ path: String) -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
        }

        func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

        func write(_ bytes: [UInt8], to path: String) throws {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        }

        func mode(_ path: String) throws -> Int {
            try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        }
    }

    /// An agent with an object and an attachment that is too large for the database.
    private func withShell(_ body: (Shell) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in
            let files = try TemporaryDirectory()
            try await server.live.put("note/n", #"{"title":"kept"}"#)
            try await server.live.attach(Self.bytes, named: "large", to: "note/n")
            try await body(Shell(live: server.live, socket: server.socketPath, directory: files.path))
        }
    }

    private static let bytes = [UInt8](repeating: 7, count: 300_000)

    private func attachment(_ live: LiveAgent) async throws -> AttachmentEntry {
        let query = AttachmentListQuery(space: "home", limit: 10)
        return try #require(try await live.agent.listAttachments(query).entries.first)
    }

    private func code(_ run: CommandRun) -> String? {
        (try? JSONDecoding.value(ErrorResponse.self, from: Array(run.errors.utf8), unknownKeys: .ignore))?
            .controlError.code.rawValue
    }

    // MARK: There and back

    @Test func `what is saved is put back, and only its owner may read it`() async throws {
        try await withShell { lanyard in
            let run = try await lanyard("backup", lanyard.saved)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("keys"), "whoever saves it is told what is in it")
            #expect(try lanyard.mode(lanyard.saved) == 0o600)
            let restored = try await lanyard.restore(lanyard.saved, "--json")
            #expect(restored.exitCode == 0, "\(restored.errors)")
            let answer = try #require(try restored.json() as? [String: Any])
            #expect(answer["dataDirectory"] as? String == lanyard.data)
            #expect((answer["device"] as? [String: Any])?["shortID"] as? String == lanyard.live.shortID)
            #expect(
                lanyard.names(lanyard.data) == ["agent.lock", "blobs", "identity.pem", "lanyard.sqlite", "restored"])
            let blob = "blobs/" + (try await attachment(lanyard.live).record.hash)
            for file in ["identity.pem", blob] {
                #expect(
                    try lanyard.bytes("\(lanyard.data)/\(file)") == lanyard.bytes("\(lanyard.live.directory)/\(file)"))
            }
            for file in ["identity.pem", "lanyard.sqlite", blob] {
                #expect(try lanyard.mode("\(lanyard.data)/\(file)") == 0o600)
            }
            #expect(try lanyard.mode(lanyard.data) == 0o700 && lanyard.mode(lanyard.data + "/blobs") == 0o700)
            // The device goes on there.
            await lanyard.live.stop()
            try await LiveAgent.with(in: lanyard.data) { restored async throws in
                #expect(restored.device == lanyard.live.device)
                let object = try await restored.agent.object(space: "home", try ObjectName(parsing: "note/n"))
                #expect(object.fields.description == #"{"title":"kept"}"#)
                #expect(object.attachments?.map(\.state) == [.present])
            }
        }
    }

    @Test func `a backup is a tar archive, and its checksum can be checked by hand`() async throws {
        try await withShell { lanyard in
            #expect(try await lanyard("backup", lanyard.saved, "--json").exitCode == 0)
            let list = try await CommandRun.program("/bin/tar", ["-tf", lanyard.saved])
            let blob = try await attachment(lanyard.live).record.hash
            #expect(
                list.lines == [
                    "backup.json", "identity.pem", "blobs/\(blob)", "lanyard.sqlite", "checksum.json",
                ])
            let checksum = try await CommandRun.program("/bin/tar", ["-xOf", lanyard.saved, "checksum.json"])
            let said = try #require(try checksum.json() as? [String: Any])
            let count = try #require(said["bytes"] as? Int)
            let sum = try await CommandRun.program(
                "/bin/sh", ["-c", "head -c \(count) '\(lanyard.saved)' | sha256sum"])
            #expect(String(sum.output.prefix(64)) == said["sha256"] as? String)
        }
    }

    @Test func `standard output and standard input work`() async throws {
        try await withShell { lanyard in
            let script = """
                "$0" backup - --socket "$1" -q | "$0" restore - --data-dir "$2" -q
                """
            let run = try await CommandRun.program(
                "/bin/bash",
                ["-c", "set -o pipefail; " + script, CommandRun.lanyardPath, lanyard.socket, lanyard.data],
                environment: ["HOME": "/nonexistent", "PATH": "/usr/bin:/bin"])
            #expect(run.exitCode == 0 && run.output.isEmpty && run.errors.isEmpty, "\(run.errors)")
            #expect(try lanyard.bytes(lanyard.data + "/identity.pem") == lanyard.keys)
        }
    }

    @Test func `what was left out is told, and not put back`() async throws {
        try await withShell { lanyard in
            let blob = lanyard.live.directory + "/blobs/" + (try await attachment(lanyard.live).record.hash)
            try FileManager.default.removeItem(atPath: blob)
            try FileManager.default.createDirectory(atPath: blob, withIntermediateDirectories: false)
            let run = try await lanyard("backup", lanyard.saved)
            #expect(run.exitCode == 0 && run.errors.contains("1 attachment could not be read"), "\(run.errors)")
            let restored = try await lanyard.restore(lanyard.saved)
            #expect(restored.exitCode == 0 && restored.output.contains("1 of its attachments"), "\(restored.errors)")
            #expect(lanyard.names(lanyard.data + "/blobs").isEmpty)
        }
    }

    // MARK: Refused

    @Test func `a file that is there stays, unless it is to be replaced`() async throws {
        try await withShell { lanyard in
            try lanyard.write([1], to: lanyard.saved)
            let refused = try await lanyard("backup", lanyard.saved, "--json")
            #expect(refused.exitCode == 4 && code(refused) == "already_exists")
            #expect(try lanyard.bytes(lanyard.saved) == [1])
            #expect(try await lanyard("backup", lanyard.saved, "--force").exitCode == 0)
            #expect(try await lanyard.restore(lanyard.saved).exitCode == 0)
        }
    }

    @Test func `a backup that ends in its middle leaves no file`() async throws {
        try await withShell { lanyard in
            let whole = try await answered(lanyard)
            let path = lanyard.directory + "/half.sock"
            let size = String(whole.count, radix: 16)
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\(size)\r\n"
            let listener = try SilentListener(path: path, answer: Array(head.utf8) + whole.prefix(whole.count / 2))
            let run = try await CommandRun.lanyard(["backup", lanyard.saved, "--json"], socket: path)
            listener.close()
            #expect(run.exitCode == 5 && code(run) == "connection_lost", "\(run.errors)")
            #expect(lanyard.names(lanyard.directory) == ["half.sock"])
        }
    }

    @Test func `a directory that has data is not touched, or moved aside`() async throws {
        try await withShell { lanyard in
            #expect(try await lanyard("backup", lanyard.saved).exitCode == 0)
            #expect(try await lanyard.restore(lanyard.saved).exitCode == 0)
            try lanyard.write([9], to: lanyard.data + "/identity.pem")
            let refused = try await lanyard.restore(lanyard.saved, "--json")
            #expect(refused.exitCode == 4 && code(refused) == "already_exists")
            #expect(
                lanyard.names(lanyard.data) == ["agent.lock", "blobs", "identity.pem", "lanyard.sqlite", "restored"])
            let forced = try await lanyard.restore(lanyard.saved, "--force", "--json")
            let aside = try #require((try forced.json() as? [String: Any])?["movedTo"] as? String)
            #expect(try lanyard.bytes(aside + "/identity.pem") == [9])
            #expect(lanyard.names(aside) == ["blobs", "identity.pem", "lanyard.sqlite", "restored"])
            #expect(try lanyard.bytes(lanyard.data + "/identity.pem") == lanyard.keys)
            #expect(try lanyard.mode(aside) == 0o700)
        }
    }

    @Test func `an agent that runs keeps its directory`() async throws {
        try await withShell { lanyard in
            #expect(try await lanyard("backup", lanyard.saved).exitCode == 0)
            try FileManager.default.createDirectory(atPath: lanyard.data, withIntermediateDirectories: true)
            let lock = open(lanyard.data + "/agent.lock", O_RDWR | O_CREAT, 0o600)
            defer { close(lock) }
            #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
            let refused = try await lanyard.restore(lanyard.saved, "--force", "--json")
            #expect(refused.exitCode == 4 && code(refused) == "already_running")
            #expect(lanyard.names(lanyard.data) == ["agent.lock"])
        }
    }

    @Test func `a newer backup is refused by its version`() async throws {
        try await withShell { lanyard in
            let whole = try await answered(lanyard)
            let device = BackupHeader.Device(id: lanyard.live.device, shortID: lanyard.live.shortID, name: "desk")
            for (schema, version) in [(BackupFormat.schemaVersion + 1, 1), (1, BackupFormat.version + 1)] {
                // As a later version would begin it.
                let header = JSONEncoding.bytes(
                    BackupHeader(
                        lanyardBackup: version, schema: schema, device: device,
                        time: Timestamp(millisecondsSinceEpoch: 0), estimatedBytes: 370_005))
                let entry = TarEntry(BackupFormat.header, size: UInt64(header.count))
                try lanyard.write(entry.header + header + entry.padding + whole.dropFirst(1_024), to: lanyard.saved)
                let refused = try await lanyard.restore(lanyard.saved, "--json")
                #expect(refused.exitCode == 4 && code(refused) == "version_mismatch", "\(refused.errors)")
                #expect(lanyard.names(lanyard.directory) == ["saved"])
            }
        }
    }

    /// A backup as the route answers it.
    private func answered(_ shell: Shell) async throws -> [UInt8] {
        try await Requester(socketPath: shell.socket)("POST", "/v1/backup").body
    }

    @Test func `what is cut off or changed is refused, wherever that is, and nothing is restored`() async throws {
        try await withShell { lanyard in
            #expect(try await lanyard("backup", lanyard.saved).exitCode == 0)
            let whole = try lanyard.bytes(lanyard.saved)
            for count in [0, 1, 511, 512, 1_500, 2_048, whole.count / 2, whole.count - 3_000, whole.count - 1_025] {
                try lanyard.write(Array(whole.prefix(count)), to: lanyard.directory + "/cut")
                let run = try await lanyard.restore(lanyard.directory + "/cut", "--json")
                #expect(["truncated", "not_an_archive"].contains(code(run)), "\(count): \(run.errors)")
                #expect(run.exitCode == 1)
                #expect(lanyard.names(lanyard.data).allSatisfy { $0 == "agent.lock" }, "\(count)")
            }
            // Closely in the first entries, then here and there, and in the checksum at the end.
            let places =
                Array(stride(from: 0, to: 4_096, by: 101)) + stride(from: 4_096, to: whole.count, by: whole.count / 16)
                + stride(from: whole.count - 2_000, to: whole.count - 1_024, by: 101)
            for place in places where place < whole.count - 1_024 {
                var bytes = whole
                bytes[place] ^= 0x20
                try lanyard.write(bytes, to: lanyard.directory + "/changed")
                let run = try await lanyard.restore(lanyard.directory + "/changed", "--json")
                #expect(run.exitCode != 0, "\(place)")
                #expect(lanyard.names(lanyard.data).allSatisfy { $0 == "agent.lock" }, "\(place)")
            }
        }
    }

    @Test func `other files are no backup, nor is a file that is not there`() async throws {
        try await withShell { lanyard in
            try lanyard.write(TarEntry("x", size: 0).header + TarEntry.end, to: lanyard.saved)
            let other = try await lanyard.restore(lanyard.saved, "--json")
            #expect(other.exitCode == 1 && code(other) == "not_an_archive", "\(other.errors)")
            #expect(try await lanyard.restore(lanyard.directory + "/none").exitCode == 3)
            #expect(try await lanyard.restore(lanyard.directory).exitCode == 1)
            #expect(!FileManager.default.fileExists(atPath: lanyard.data))
        }
    }

    @Test func `a restore that was stopped in its middle is done again`() async throws {
        try await withShell { lanyard in
            #expect(try await lanyard("backup", lanyard.saved).exitCode == 0)
            // Stopped while it wrote: only what nobody looked at yet is there.
            let staged = lanyard.data + "/restoring/blobs"
            try FileManager.default.createDirectory(atPath: staged, withIntermediateDirectories: true)
            try lanyard.write([1], to: staged + "/rest")
            #expect(try await lanyard.restore(lanyard.saved).exitCode == 0)
            #expect(
                lanyard.names(lanyard.data) == ["agent.lock", "blobs", "identity.pem", "lanyard.sqlite", "restored"])
            // Stopped while files took their places.
            try FileManager.default.removeItem(atPath: lanyard.data + "/identity.pem")
            try FileManager.default.createDirectory(atPath: staged, withIntermediateDirectories: true)
            #expect(try await lanyard.restore(lanyard.saved).exitCode == 4)
            #expect(try await lanyard.restore(lanyard.saved, "--force").exitCode == 0)
            #expect(try lanyard.bytes(lanyard.data + "/identity.pem") == lanyard.keys)
        }
    }

    // MARK: The route

    @Test func `the socket's group may not have the keys`() async throws {
        try await LiveAgent.with { live async throws in
            let responder = ControlResponder(agent: live.agent, logger: Logger(label: "test"))
            let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/v1/backup")
            for (origin, status) in [(ControlRequest.Origin.group, 403), (.memory, 200)] {
                let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
                #expect(await responder.respond(to: request, over: origin).status.code == status)
            }
        }
    }

    @Test func `commands know the newest schema that the agent opens`() {
        #expect(BackupFormat.schemaVersion == Schema.current.version)
    }
}
