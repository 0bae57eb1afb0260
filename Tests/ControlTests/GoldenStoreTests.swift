import ControlAPI
import ControlServer
import Crypto
import Foundation
import Logging
import Testing

/// The stores of released versions, as real agents of those versions left them, with what must be read from each.
/// `Tests/Golden/make` writes one, and says what is in it. A further version needs its folder and no line here.
@Suite(.timeLimit(.minutes(20))) struct GoldenStoreTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    private static let folder = tests.appending(path: "Golden")

    /// The names of the folders, which are versions.
    private static let versions: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { FileManager.default.fileExists(atPath: "\(folder.path)/\($0)/store.tar.gz") }.sorted()
    }()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: tests.deletingLastPathComponent().appending(path: path), encoding: .utf8)
    }

    private static func sha256(_ bytes: some DataProtocol) -> String {
        SHA256.hash(data: bytes).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }

    // MARK: What is kept

    @Test func `each released version has a golden store`() throws {
        let heading = /^## (\d+\.\d+)\.\d+/.anchorsMatchLineEndings()
        let released = try Self.text("deploy/CHANGELOG.md").matches(of: heading).map { String($0.1) }
        #expect(!released.isEmpty)
        #expect(Set(Self.versions).isSuperset(of: released), "make it before the release: Tests/Golden/make VERSION")
    }

    @Test func `no golden store was changed`() throws {
        var listed: [String: String] = [:]
        for line in try Self.text("Tests/Golden/SHA256SUMS").split(separator: "\n") {
            let words = line.split(separator: " ")
            try #require(words.count == 2, "\(line)")
            listed[String(words[1])] = String(words[0])
        }
        var found: [String: String] = [:]
        for version in Self.versions {
            for name in try FileManager.default.contentsOfDirectory(atPath: "\(Self.folder.path)/\(version)") {
                found["\(version)/\(name)"] = Self.sha256(
                    try Data(contentsOf: Self.folder.appending(path: "\(version)/\(name)")))
            }
        }
        #expect(found == listed, "the store of a released version stays as it was written")
    }

    // MARK: What is read

    /// A request and its answer, as a line of `answers.jsonl`.
    private struct Known {
        let path: String
        let status: Int
        /// Nil where the answer is no JSON, or was not kept.
        let answer: Any?
        let sha256: String?

        init(_ line: Substring) throws {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let keys = try #require(object as? [String: Any])
            path = try #require(keys["path"] as? String)
            status = try #require(keys["status"] as? Int)
            answer = keys["answer"]
            sha256 = keys["sha256"] as? String
        }

        /// True if new objects and events elsewhere do not change the answer.
        var isOfOneThing: Bool {
            path.contains("/objects/") || path.contains("/events?") || path.hasSuffix("/content")
        }
    }

    private static func known(_ version: String) throws -> [Known] {
        try text("Tests/Golden/\(version)/answers.jsonl").split(separator: "\n").map { try Known($0) }
    }

    /// Runs today's agent on the data directory for as long as `body`.
    private static func open(_ directory: String, _ body: (Requester, LiveAgent) async throws -> Void) async throws {
        try await LiveAgent.with(named: "golden", in: directory) { live async throws in
            let responder = ControlResponder(agent: live.agent, logger: Logger(label: "test"))
            try await body(Requester(responder), live)
        }
    }

    /// The founder of a space is an admin since there are roles; and the 16 bytes of the attachment that no record names
    /// any more are removed a day after the store was made.
    private static let intended = [
        #"/3/role was ["writer"] and is ["admin"]"#, "/usedBytes was [600057] and is [600041]",
    ]

    /// Asks everything again. A later version may answer more than was known, and never less, or otherwise.
    private static func compare(_ known: [Known], _ request: Requester, _ moment: String) async throws {
        for one in known {
            let answer = try await request("GET", one.path)
            #expect(answer.status == one.status, "\(moment): GET \(one.path): \(answer.text.prefix(300))")
            if let hash = one.sha256 { #expect(Self.sha256(answer.body) == hash, "\(moment): GET \(one.path)") }
            guard let expected = one.answer, answer.status == one.status else { continue }
            let found = try JSONSerialization.jsonObject(with: Data(answer.body))
            let differences = Self.differences(expected, found, at: "").filter { !Self.intended.contains($0) }
            #expect(differences.isEmpty, "\(moment): GET \(one.path): \(differences.joined(separator: "; "))")
        }
    }

    /// Returns the places at which `found` has not what `expected` has. Further keys of objects are no difference.
    private static func differences(_ expected: Any, _ found: Any, at place: String) -> [String] {
        if let expected = expected as? [String: Any], let found = found as? [String: Any] {
            return expected.sorted { $0.key < $1.key }.flatMap { key, value in
                found[key].map { differences(value, $0, at: "\(place)/\(key)") } ?? ["\(place)/\(key) is missing"]
            }
        }
        if let expected = expected as? [Any], let found = found as? [Any], expected.count == found.count {
            return zip(expected, found).enumerated().flatMap { index, pair in
                differences(pair.0, pair.1, at: "\(place)/\(index)")
            }
        }
        let (known, now) = (encoded(expected), encoded(found))
        return known == now ? [] : ["\(place) was \(known) and is \(now)"]
    }

    private static func encoded(_ value: Any) -> String {
        let data = try? JSONSerialization.data(withJSONObject: [value], options: .sortedKeys)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "\(value)"
    }

    @Test(arguments: versions)
    func `the store of a released version is read as it was, written to, and brought to another device`(
        version: String
    ) async throws {
        let place = try TemporaryDirectory()
        let directory = place.path + "/data"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let archive = "\(Self.folder.path)/\(version)/store.tar.gz"
        let unpacked = try await CommandRun.program("/usr/bin/tar", ["-xpzf", archive, "-C", directory])
        try #require(unpacked.exitCode == 0, "\(unpacked.errors)")
        let known = try Self.known(version)
        try #require(known.count > 20)

        try await Self.open(directory) { request, _ async throws in
            try await Self.compare(known, request, "opened by today's program")
        }
        try await Self.open(directory) { request, live async throws in
            try await Self.compare(known, request, "opened again")
            try await live.put("after/one", #"{"title":"written by today's program"}"#)
            try await live.attach([UInt8](repeating: 5, count: 200_000), named: "new.bin", to: "after/one")
            let emitted = try await request("POST", "/v1/spaces/home/streams/after/events", body: #"{"payload":1}"#)
            #expect(emitted.status == 200, "\(emitted.text)")
        }
        try await Self.open(directory) { request, live async throws in
            try await Self.compare(known.filter(\.isOfOneThing), request, "written to and opened again")
            let one = try await request("GET", "/v1/spaces/home/collections/after/objects/one")
            #expect(one.text.contains("written by today's program"), "\(one.text)")
            let events = try await request("GET", "/v1/spaces/home/streams/after/events")
            #expect(try events.value(EventPage.self).events.count == 1)
            // Changes were dropped from the log, so a part of it comes as state.
            try await LiveAgent.with(named: "fresh") { fresh async throws in
                let ticket = try await live.agent.invite(space: "home", role: .writer, expiresSeconds: 60).ticket
                _ = try await fresh.agent.join(ticket: ticket)
                // The bytes of one attachment are on neither of the two, so neither is ever in step.
                try await live.until { agent async throws in
                    let here = try await agent.status(space: nil).spaces[0]
                    let there = try await fresh.agent.status(space: nil).spaces[0]
                    return here.digest == there.digest && here.versionVector == there.versionVector
                        && here.objects == there.objects && here.events == there.events
                }
            }
        }
    }

    @Test func `a missing key, another value and a shorter list are differences, and a new key is none`() {
        let known: [String: Any] = ["a": 1, "b": ["x", "y"], "c": ["d": NSNull()]]
        func differences(_ found: [String: Any]) -> [String] { Self.differences(known, found, at: "") }
        #expect(differences(["a": 1, "b": ["x", "y"], "c": ["d": NSNull()], "e": 2]).isEmpty)
        #expect(differences(["a": 1, "b": ["x", "y"]]) == ["/c is missing"])
        #expect(differences(["a": "1", "b": ["x", "y"], "c": ["d": NSNull()]]).count == 1)
        #expect(differences(["a": 1, "b": ["x"], "c": ["d": 0]]).count == 2)
    }
}
