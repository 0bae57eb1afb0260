import ControlAPI
import ControlServer
import Foundation
import SyncAgent
import SyncModel
import Testing

/// The secrets of an agent are in no log, in no metric and in no core file.
@Suite(.timeLimit(.minutes(20))) struct SecretTests {
    /// The private keys in the agent's directory and the key of its daily tags, in the forms in which they could be written out.
    private func keys(of live: LiveAgent) async throws -> [String] {
        let file = try String(contentsOfFile: live.directory + "/identity.pem", encoding: .utf8)
        var secrets = [try #require(try await live.agent.discoveryKeys()?.announced)]
        // Before the 32 bytes of a P-256 key stand 36 of PKCS #8.
        for (label, start) in [("PRIVATE KEY", 36), ("LANYARD SIGNING KEY", 0)] {
            let begin = try #require(file.range(of: "-----BEGIN \(label)-----\n"))
            let text = file[begin.upperBound...].prefix { $0 != "-" }.filter { $0 != "\n" }
            secrets.append(Array(try #require(Data(base64Encoded: String(text))).dropFirst(start).prefix(32)))
        }
        #expect(secrets.allSatisfy { $0.count == 32 })
        // Within longer base64 they would stand at one of three places.
        return secrets.flatMap { bytes in
            [bytes.map { String(format: "%02x", $0) }.joined(), "\(bytes.prefix(8))".filter { $0 != "[" && $0 != "]" }]
                + (0..<3).map { String(Data(bytes.dropFirst($0)).base64EncodedString().prefix(36)) }
        }
    }

    @Test func `keys and tickets are in no log, however detailed, and in no metric`() async throws {
        let place = try TemporaryDirectory()
        let file = place.path + "/lanyardd.toml"
        try Data("log-level = \"trace\"\n".utf8).write(to: URL(fileURLWithPath: file))
        try await LiveAgent.with(file: file) { desk async throws in
            try await LiveAgent.with(named: "attic", file: file) { attic async throws in
                let ticket = try await desk.agent.invite(space: "home", role: .writer, expiresSeconds: 60).ticket
                _ = try await attic.agent.join(ticket: ticket)
                try await desk.converge(with: attic)
                #expect(await RoleChangeTests.refusal { try await desk.agent.join(ticket: ticket) } != nil)
                let key = try await desk.agent.newRecoveryKey(space: "home").key
                _ = try await desk.agent.setRecoveryKey(space: "home", RecoveryKeyRequest(recoveryKey: key))
                // "lanyard2", 16 bytes of the inviter's key, and then those of the secret, in base32.
                var secrets = [String(ticket.dropFirst(35).prefix(20)), String(key.suffix(20))]
                for live in [desk, attic] { secrets += try await keys(of: live) }
                _ = try await desk.agent.revoke(space: "home", device: "attic", RevocationRequest(recoveryKey: key))
                try await attic.until { agent async throws in
                    try await agent.status(space: nil).warnings.contains { $0.code == "revoked" }
                }
                for live in [desk, attic] {
                    let log = try String(contentsOfFile: live.directory + "/agent.log", encoding: .utf8)
                    #expect(log.contains(" debug "), "the log is not detailed")
                    let metrics = try await MetricsReader(agent: live.agent).read().text(.openMetrics)
                    for text in [log, metrics].map({ $0.lowercased() }) {
                        #expect(secrets.allSatisfy { !text.contains($0.lowercased()) })
                    }
                }
            }
        }
    }

    /// Has a shell leave a core file, which shows that this system writes one, and then an agent crash.
    private static let crash = """
        cd "$1"; ulimit -c unlimited
        bash -c 'kill -SEGV $$'
        echo "shell $(ls | grep -c '^core')"; rm -f core*
        exec 3< <(exec "$2" --data-dir data --no-mdns --listen 127.0.0.1:0 2>&1); agent=$!
        while read -r line <&3; do case $line in *"The agent runs."*) break;; esac; done
        kill -SEGV $agent; wait $agent
        echo "agent $? $(ls | grep -c '^core')"
        """

    /// True where the system writes core files into the directory of the program. Where it does not, an agent leaves none anyway.
    private static var leavesCoreFiles: Bool {
        let pattern = try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
        return pattern?.hasPrefix("core") == true
    }

    @Test func `an agent that dies leaves no core file`() async throws {
        let place = try TemporaryDirectory()
        let program = Bundle.main.bundleURL.appending(path: "lanyardd").path
        let run = try await CommandRun.program(
            "/bin/bash", ["-c", Self.crash, "crash", place.path, program],
            environment: ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"])
        #expect(run.output == "shell \(Self.leavesCoreFiles ? 1 : 0)\nagent 139 0\n", "\(run.errors)")
    }
}
