import ControlAPI
import Foundation
import SyncCore
import SyncModel
import SyncSimulator
import SyncTransport
import Testing

/// Holds agents of today to what those of each version said: `Recorded/0.1` has the bytes of conversations of two agents of 0.1.
///
/// A version's recordings are made once, with `LANYARD_RECORDED=write`, and are evidence from then on: a peer of that version
/// still says exactly this. `LANYARD_RECORDED=again` makes those of the present version anew, as long as it is not released;
/// `LANYARD_RECORDED=add` makes those that the present version lacks, and leaves the others as they are.
@Suite(.serialized) struct RecordedTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let mode = ProcessInfo.processInfo.environment["LANYARD_RECORDED"]
    /// The major and minor number: the folder of this version.
    private static let version = LanyardVersion.current.split(separator: ".").prefix(2).joined(separator: ".")

    /// The recordings, as `0.1/session-1-meet.txt`.
    static let names: [String] = {
        let files = try? FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return (files ?? []).filter { $0.hasSuffix(".txt") }.sorted()
    }()

    private static func file(_ name: String) throws -> RecordedFile {
        try RecordedFile(try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8))
    }

    // MARK: Making them

    /// Returns the recordings of this version, by the names of their files.
    private static func recordings() throws -> [(name: String, file: RecordedFile)] {
        let sessions = try RecordedScenarios.sessions.map {
            ($0.name, try RecordedSession.record($0.title, $0.commands, version: LanyardVersion.current))
        }
        let codes = try RecordedCodes.Scenario.allCases.map { ($0.rawValue, try RecordedCodes.record($0)) }
        let tickets = try RecordedTickets.Scenario.allCases.map { ($0.rawValue, try RecordedTickets.record($0)) }
        let all = sessions + [("bulk-1-blobs", try RecordedBulk.record())] + codes + tickets
        return all.map { (name: $0.0 + ".txt", file: $0.1) }
    }

    @Test func `this version has its recordings`() throws {
        let own = Self.folder.appendingPathComponent(Self.version)
        let isThere = FileManager.default.fileExists(atPath: own.path)
        switch Self.mode {
        case "again", "write", "add":
            guard Self.mode != "write" || !isThere else {
                Issue.record(
                    """
                    \(own.path) is there: what a version said is recorded once. \
                    While \(Self.version) is not released: LANYARD_RECORDED=again
                    """)
                return
            }
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            for (name, file) in try Self.recordings() {
                let place = own.appendingPathComponent(name)
                if Self.mode == "add", FileManager.default.fileExists(atPath: place.path) { continue }
                try file.text.write(to: place, atomically: true, encoding: .utf8)
            }
        case let mode:
            #expect(mode == nil, "LANYARD_RECORDED is `write`, `again` or `add`")
            let files = Self.names.filter { $0.hasPrefix(Self.version + "/") }
            #expect(
                files.count >= 10,
                """
                \(own.path) has \(files.count) recordings. Make them: \
                LANYARD_RECORDED=write deploy/test --only unit --filter RecordedTests
                """)
        }
    }

    /// The sorts of recordings, by how their names begin.
    private static let sorts = ["session-", "bulk-", "codes-", "ticket-"]

    @Test func `each released version has recordings of every sort`() throws {
        let root = Self.folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let changes = try String(contentsOf: root.appendingPathComponent("deploy/CHANGELOG.md"), encoding: .utf8)
        let heading = /^## (\d+\.\d+)\.\d+/.anchorsMatchLineEndings()
        let released = Set(changes.matches(of: heading).map { String($0.1) })
        #expect(!released.isEmpty)
        for version in released.sorted() {
            for sort in Self.sorts {
                #expect(
                    Self.names.contains { $0.hasPrefix("\(version)/\(sort)") },
                    """
                    no recording \(version)/\(sort)… Make it while the program has this version: \
                    LANYARD_RECORDED=add deploy/test --only unit --filter RecordedTests
                    """)
            }
        }
    }

    @Test func `a recording is the same however often it is made, and reads back`() throws {
        let (once, again) = (try Self.recordings(), try Self.recordings())
        for (first, second) in zip(once, again) {
            #expect(first.file == second.file, "\(first.name) has chance in it")
            #expect(try RecordedFile(first.file.text) == first.file, "\(first.name) does not read back")
        }
    }

    @Test func `the recordings have every sort of talk`() throws {
        let frames = try Self.names.filter { $0.hasPrefix("0.1/") }.flatMap { try Self.file($0).frames }
        guard !frames.isEmpty else { return }
        let kinds = Set(frames.map { String($0.name.prefix { $0 != " " }) })
        for kind in [
            "hello", "have", "want", "changes", "prune", "ping", "pong", "goodbye", "acknowledgements",
            "acknowledgement",
            "state", "presence", "bulk", "holding", "hashes", "request", "chunk", "small", "offer", "commitment",
            "answer",
            "opening", "confirmed", "admitted", "ended", "join",
        ] { #expect(kinds.contains(kind), "no recording has \(kind)") }
    }

    // MARK: Reading them

    @Test(arguments: names) func `today's codecs read every frame, and write it with the same bytes`(name: String)
        throws
    {
        for frame in try Self.file(name).frames {
            #expect(try Self.rewritten(frame, of: name) == frame.bytes, "\(name): \(frame.name)")
        }
    }

    /// The bytes of a frame that was read and written again; nil if it is not understood.
    private static func rewritten(_ frame: RecordedFrame, of name: String) throws -> [UInt8]? {
        if name.contains("bulk-") { return try BulkFrameCodec.decode(frame.bytes).map(BulkFrameCodec.encode) }
        if name.contains("ticket-") { return RecordedTickets.rewritten(frame) }
        guard name.contains("codes-") else { return try FrameCodec.decode(frame.bytes).map(FrameCodec.encode) }
        guard let read = CodesFrames.decode(frame.bytes) else { return nil }
        if case .offer(let bytes) = read {
            let key = SimulatedDevice.all[frame.sender].fact.subjectPublicKeyInfo
            guard let offer = CodesOffer(bytes, key: key) else { return nil }
            return CodesFrames.encode(.offer(offer.encoded))
        }
        return CodesFrames.encode(read)
    }

    /// An agent of today at the place of one of a recording.
    struct Place: Sendable, CustomTestStringConvertible {
        let name: String
        let node: Int

        var testDescription: String { "\(name), node \(node + 1)" }
    }

    static let places: [Place] = names.flatMap { name in
        let speakers = (try? file(name).speakers) ?? []
        return speakers.map { Place(name: name, node: $0) }
    }

    private static func replay(_ file: RecordedFile, at place: Place) throws -> Replay {
        if place.name.contains("bulk-") { return try RecordedBulk.replay(file, at: place.node) }
        if place.name.contains("ticket-") { return try RecordedTickets.replay(file, at: place.node) }
        if place.name.contains("codes-") { return try RecordedCodes.replay(file, at: place.node) }
        return try RecordedSession.replay(file, at: place.node, version: LanyardVersion.current)
    }

    @Test(arguments: places) func `an agent of today comes to the same with a peer of then`(place: Place) throws {
        let file = try Self.file(place.name)
        let replay = try Self.replay(file, at: place)
        #expect(replay.faults == [])
        #expect(!file.outcomes(of: place.node).isEmpty)
        #expect(replay.outcomes == file.outcomes(of: place.node))
    }

    // MARK: These checks can fail

    @Test func `a frame whose field has another number is found`() throws {
        let file = try RecordedSession.record("", ["nodes 2", "put 1 milk whole", "pair 1 2"], version: "0")
        let have = try #require(file.frames.last { $0.name.hasSuffix(", complete") })
        // Field 2 of the frame, as if the kind had another number, and field 3 of its body: the entries of a vector.
        for (place, number) in [(0, UInt8(0x7a)), (try Self.place(of: 0x1a, in: have.bytes), UInt8(0x3a))] {
            var changed = have
            changed.bytes[place] = number
            let rewritten = try? Self.rewritten(changed, of: "session-")
            #expect(rewritten != .some(changed.bytes), "as if today's number were another one")
        }
    }

    /// Returns the first byte behind both digests' tags that is this tag.
    private static func place(of tag: UInt8, in bytes: [UInt8]) throws -> Int {
        // Tag and length of the body, space (18 bytes), vector digest (34 bytes).
        let start = bytes.count > 129 ? 3 : 2
        let place = start + 18 + 34
        try #require(bytes[place] == tag)
        return place
    }

    @Test func `a ticket's request whose proof has another bit is refused`() throws {
        var file = try RecordedTickets.record(.joined)
        #expect(try RecordedTickets.replay(file, at: 1).outcomes == file.outcomes(of: 1))
        file.lines = file.lines.map { line in
            guard case .frame(var frame) = line, frame.name == "join request" else { return line }
            frame.bytes[frame.bytes.count - 1] ^= 1
            return .frame(frame)
        }
        #expect(try RecordedTickets.replay(file, at: 1).outcomes != file.outcomes(of: 1))
    }

    @Test func `a peer that says less than was recorded is found`() throws {
        var file = try RecordedSession.record(
            "", ["nodes 2", "put 1 milk whole", "pair 1 2", "put 1 milk oat"], version: "0")
        let place = Place(name: "session-", node: 1)
        let whole = try Self.replay(file, at: place)
        #expect(whole.outcomes == file.outcomes(of: 1) && whole.faults.isEmpty)
        file.lines.removeAll { line in
            if case .frame(let frame) = line { frame.sender == 0 && frame.name.hasPrefix("changes") } else { false }
        }
        #expect(try Self.replay(file, at: place).outcomes != file.outcomes(of: 1))
    }
}
