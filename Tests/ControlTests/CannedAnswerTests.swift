import ControlAPI
import Foundation
import Testing

/// The texts of commands for answers that a real agent cannot be made to give at will.
@Suite(.timeLimit(.minutes(20))) struct CannedAnswerTests {
    private static let day: Int64 = 86_400_000

    /// Runs a command against a socket that answers everything with `answer`.
    ///
    /// - Returns: the run, and the requests that the command sent.
    private func lanyard(
        _ arguments: String..., answer: some Encodable
    ) async throws -> (run: CommandRun, requests: [String]) {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/control.sock"
        let listener = try SilentListener(path: path, value: answer)
        defer { listener.close() }
        let run = try await CommandRun.lanyard(arguments, socket: path)
        return (run, listener.requests)
    }

    // MARK: Devices that lack something

    private func standing(
        _ name: String, _ state: DeviceStanding.State, connected: Bool, unsent: Int? = nil, met: Bool = true
    ) -> DeviceStanding {
        let since = connected ? nil : Timestamp(millisecondsSinceEpoch: 100 * Self.day + Self.day / 2)
        return DeviceStanding(
            id: "\(name)-X", shortID: "BBBBBBB", name: name, state: state, connected: connected, unsent: unsent,
            awaySince: since, lastSeen: met ? since : nil)
    }

    /// The first line of `status`.
    ///
    /// - Parameter made: the sentence of the agent; nil: an agent of an older version, which makes none.
    private func sentence(_ standings: [DeviceStanding], made: String? = nil) async throws -> String? {
        let space = StatusResponse.Space(
            name: "home", id: String(repeating: "0", count: 32), digest: "0123456789abcdef",
            inStep: standings.allSatisfy { $0.state == .inStep }, standings: standings, sentence: made)
        let status = StatusResponse(
            device: .init(id: "AAAAAAA-X", shortID: "AAAAAAA", name: "desk"), uptimeSeconds: 7,
            discovery: .init(state: .off, instance: nil), spaces: [space],
            peers: .init(
                connected: standings.count { $0.connected }, discovered: standings.count, paired: standings.count),
            store: .init(bytes: 4_096, state: "ok"))
        return try await lanyard("status", answer: status).run.lines.first
    }

    @Test func `status says what was not yet sent to a connected device`() async throws {
        #expect(
            try await sentence([standing("phone", .behind, connected: true, unsent: 1)])
                == "Not in step with any device; 1 change not yet sent to phone.")
        #expect(
            try await sentence([standing("phone", .unknown, connected: true)])
                == "Not in step with any device; phone has not said yet what it holds.")
    }

    @Test func `status names the day since which a device is away`() async throws {
        let desktop = standing("desktop", .inStep, connected: true, unsent: 0)
        let tablet = standing("tablet", .inStep, connected: true, unsent: 0)
        #expect(
            try await sentence([standing("phone", .behind, connected: false, unsent: 12), desktop, tablet])
                == "In step with 2 of 3 devices; phone away since 1970-04-11, 12 changes unsent.")
        #expect(
            try await sentence([standing("phone", .inStep, connected: false, unsent: 0), desktop])
                == "In step with all 2 devices; phone away since 1970-04-11.")
    }

    @Test func `of many connected devices that lack something the first are named`() async throws {
        let many = ["e", "d", "c", "b", "a"].map { standing($0, .behind, connected: true, unsent: 2) }
        #expect(
            try await sentence(many)
                == "Not in step with any device; 2 changes not yet sent to a; 2 changes not yet sent to b; "
                + "2 changes not yet sent to c; and 2 more devices.")
    }

    @Test func `status shows the sentence of the agent, and makes one for an older agent`() async throws {
        let phone = standing("ph\u{202E}one", .inStep, connected: true, unsent: 0)
        #expect(
            try await sentence([phone], made: "All is well with ph\u{202E}one\u{1B}[2J.")
                == "All is well with ph\u{FFFD}one\u{FFFD}[2J.")
        #expect(try await sentence([phone]) == "In step with ph\u{FFFD}one.")
    }

    @Test func `why begins with the sentence of the agent, where there is one`() async throws {
        var answer = WhyResponse(inStep: true, chain: [.init(.discovery, ok: true, detail: "mDNS runs")], hint: "")
        #expect(try await lanyard("why", answer: answer).run.lines == ["ok  discovery  mDNS runs", "In step."])
        answer.sentence = "In step with ph\u{9B}one."
        #expect(
            try await lanyard("why", answer: answer).run.lines
                == ["In step with ph\u{FFFD}one.", "ok  discovery  mDNS runs"])
    }

    @Test func `wait says what each device lacks, those that are away first`() async throws {
        let answer = WaitResponse(
            inStep: false, waitedSeconds: 0.1,
            waitingFor: [
                standing("desktop", .behind, connected: true, unsent: 1),
                standing("phone", .behind, connected: false, unsent: 12),
            ])
        let run = try await lanyard("wait", "--timeout", "1s", answer: answer).run
        #expect(run.exitCode == 6)
        #expect(
            run.errors.contains(
                "Not in step after 0.1 s: phone away since 1970-04-11, 12 changes unsent; "
                    + "1 change not yet sent to desktop."), "\(run.errors)")
    }

    // MARK: History

    @Test func `blame of a change that is no longer kept has no time`() async throws {
        let milk = BlameEntry(
            field: try FieldPath(keys: ["list", "0"]), part: .value(try JSONText(Array(#""milk""#.utf8))),
            device: "AAAAAAA-X", time: nil, version: DotText(replica: "AAAAAAA-X.0000000000000001", counter: 7))
        // The names of devices are asked for, too; that answer is none, and short ids have to do.
        let text = try await lanyard("history", "note/n", "--field", "list", "--blame", answer: milk)
        #expect(text.run.output == "AAAAAAA  -" + String(repeating: " ", count: 20) + "list/0  milk\n")
        let json = try await lanyard("history", "note/n", "--field", "list", "--blame", "--json", answer: milk)
        let rows = try #require(try json.run.json() as? [[String: Any]])
        #expect(rows.map { $0.keys.sorted() } == [["device", "field", "time", "value", "version"]])
        #expect(rows.first?["time"] is NSNull)
    }

    // MARK: Attachments

    @Test(
        arguments: [
            (
                CompactResponse(freedBytes: 3 << 20, blobs: 2, strayFiles: 1),
                "3.0 MiB freed: 2 blobs and 1 stray file.\n"
            ),
            (
                CompactResponse(freedBytes: 3 << 20, blobs: 1, strayFiles: 2, changes: 5),
                "3.0 MiB freed: 5 changes, 1 blob and 2 stray files.\n"
            ), (CompactResponse(freedBytes: 0, blobs: 0, strayFiles: 0), "There was nothing to remove.\n"),
        ])
    func `compact says what it freed`(answer: CompactResponse, text: String) async throws {
        #expect(try await lanyard("compact", answer: answer).run.output == text)
    }

    @Test func `attach says the size before the first byte, where it is known`() async throws {
        let files = try TemporaryDirectory()
        let file = "\(files.path)/one.txt"
        try Data("hello".utf8).write(to: URL(fileURLWithPath: file))
        let entry = AttachmentEntry(
            record: AttachmentRecord(
                id: "7QXPBVDAW4SGEFIWSN2WJ3IKHA", name: "one.txt", mediaType: "text/plain", size: 5, width: nil,
                height: nil, hash: String(repeating: "0f", count: 32)),
            owner: "note/n", state: .present, progress: 1, fileName: "one.txt")
        func head(_ source: String) async throws -> String {
            let (run, requests) = try await lanyard("attach", "note/n", source, answer: entry)
            #expect(run.exitCode == 0, "\(run.errors)")
            // The answer came in place of `100 Continue`, so no byte of the body was sent.
            let head = try #require(requests.count == 1 ? requests[0].lowercased() : nil, "\(requests)")
            #expect(head.hasSuffix("\r\n\r\n") && head.contains("\r\nexpect: 100-continue\r\n"), "\(head)")
            return head
        }
        #expect(try await head(file).contains("\r\ncontent-length: 5\r\n"))
        let piped = try await head("-")
        #expect(!piped.contains("content-length") && piped.contains("\r\ntransfer-encoding: chunked\r\n"))
    }

    // MARK: Devices that are seen while this one pairs

    @Test func `pair says of each device how it was found, and an id only of one that pairs`() async throws {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/control.sock"
        let devices = [
            PairingDevice(
                id: "BBBBBBB-X", shortID: "BBBBBBB", name: "hall", address: "10.0.0.2:21817", via: "incoming",
                isMember: true),
            PairingDevice(
                id: nil, shortID: nil, name: "attic.local", address: "10.0.0.3:21817", via: "mdns", isMember: false),
            PairingDevice(
                id: nil, shortID: nil, name: "10.0.0.4", address: "10.0.0.4:21817", via: "address", isMember: false),
        ]
        let end = ControlError(.timedOut, "No device came.", hint: "Type it again.")
        let lines: [PairingLine] = [.devices(devices), .failed(end)]
        let body: [UInt8] = lines.map { JSONEncoding.bytes($0) + [0x0A] }.reduce([], +)
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: \(body.count)\r\n"
            + "Connection: close\r\n\r\n"
        let listener = try SilentListener(path: path, answer: Array(head.utf8) + body)
        defer { listener.close() }
        let run = try await CommandRun.lanyard(["pair"], socket: path)
        for expected in [
            "Pairs now: hall (BBBBBBB) at 10.0.0.2:21817, it called, a member already.",
            "On the network: attic.local at 10.0.0.3:21817, found by mDNS. It does not pair yet.",
            "On the network: 10.0.0.4 at 10.0.0.4:21817, at the address given. It does not pair yet.",
        ] { #expect(run.errors.contains(expected), "\(run)") }
    }
}
