import ControlAPI
import ControlServer
import Foundation
import SyncAgent
import Testing

/// The routes of a pairing by typed codes, on one agent.
@Suite(.timeLimit(.minutes(20))) struct PairingRouteTests {
    private static let lines = [("Accept", "application/x-ndjson")]

    /// Runs `body` while a pairing is open, and returns the answer to the request that opened it.
    private func pairing(
        _ request: Requester, _ live: LiveAgent, headers: [(String, String)] = lines, body text: String = "{}",
        _ body: () async throws -> Void
    ) async throws -> Answer {
        let before = try await live.agent.pairing()?.id ?? 0
        let answer = Task { try await request("POST", "/v1/pairing", headers: headers, body: text) }
        try await live.until { agent async throws in try await agent.pairing()?.id ?? 0 > before }
        try await body()
        await live.agent.cancelPairing(before + 1)
        return try await answer.value
    }

    @Test(arguments: Road.allCases)
    func `a pairing is one, and its answer has a line for each thing that happens`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            let answer = try await pairing(request, live) {
                let second = try await request("POST", "/v1/pairing", headers: Self.lines, body: "{}")
                #expect(second.status == 409 && second.code == "already_pairing")
            }
            #expect(answer.status == 200 && answer.headers["content-type"] == "application/x-ndjson")
            let lines = try answer.text.split(separator: "\n").map {
                try JSONDecoding.value(PairingLine.self, from: Array($0.utf8), unknownKeys: .refuse)
            }
            guard case .waiting(let expires)? = lines.first, case .failed(let error)? = lines.last else {
                Issue.record("\(answer.text)")
                return
            }
            #expect(lines.count == 2 && error.code == .cancelled && !error.hint.isEmpty)
            let left = expires.millisecondsSinceEpoch - Int64(Date().timeIntervalSince1970 * 1_000)
            #expect((60_000...120_000).contains(left), "\(left)")
            // Nothing of the first is in the way of a second.
            let events = try await pairing(request, live, headers: [("Accept", "text/event-stream")]) {}
            #expect(events.headers["content-type"] == "text/event-stream")
            #expect(events.text.hasPrefix("data: {\"event\":\"waiting\""))
        }
    }

    @Test(arguments: Road.allCases)
    func `a code and a choice are for a pairing that runs`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            func put(_ path: String, _ body: String) async throws -> Answer {
                try await request("PUT", "/v1/pairing/\(path)", body: body)
            }
            func refuse(_ code: String) async throws {
                for text in ["123456", "123 456", " 12-34-56 "] {
                    let answer = try await put("code", "{\"code\":\"\(text)\"}")
                    #expect(answer.status == 409 && answer.code == code, "\(text)")
                }
                for text in ["", "12345", "1234567", "12345a", "１２３４５６", "+12345", "12.456"] {
                    #expect(try await put("code", "{\"code\":\"\(text)\"}").code == "invalid_argument", "\(text)")
                }
                for body in ["{}", #"{"code":123456}"#] {
                    #expect(try await put("code", body).code == "invalid_argument", "\(body)")
                }
                #expect(try await put("code", #"{"code":"123456","x":1}"#).code == "unknown_key")
            }
            try await refuse("not_pairing")
            #expect(try await put("device", #"{"device":"x"}"#).code == "not_pairing")
            _ = try await pairing(request, live) {
                // No code is shown yet.
                try await refuse("not_pairing")
                for device in ["x", "", live.device] {
                    let answer = try await put("device", "{\"device\":\"\(device)\"}")
                    #expect(answer.status == 404 && answer.code == "unknown_device", "\(device)")
                }
                #expect(try await live.agent.pairing()?.outcome == nil, "a refused code ends nothing")
            }
            try await refuse("not_pairing")
        }
    }

    @Test(arguments: Road.allCases)
    func `a request that makes no sense opens nothing`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            let long = String(repeating: "x", count: 260)
            for body in [
                #"{"role":"king"}"#, #"{"role":5}"#, #"{"device":""}"#, "{\"device\":\"\(long)\"}",
                #"{"device":5}"#, "[]",
            ] {
                let answer = try await request("POST", "/v1/pairing", headers: Self.lines, body: body)
                #expect(answer.status == 400 && answer.code == "invalid_argument", "\(body)")
                #expect(try !answer.value(ErrorResponse.self).controlError.hint.isEmpty, "\(body)")
            }
            #expect(try await request("POST", "/v1/pairing", body: #"{"devcie":"x"}"#).code == "unknown_key")
            #expect(try await live.agent.pairing() == nil)
            // The longest word, and one that looks like much else.
            let longest = String(repeating: "x", count: 259)
            for word in [longest, "hall.local", "1.2.3.4.5", "a:b", "[::1", "%", "\u{1B}[2J"] {
                let body = JSONEncoding.bytes(PairRequest(device: word))
                let answer = try await pairing(request, live, body: String(decoding: body, as: UTF8.self)) {}
                #expect(answer.status == 200, "\(word)")
            }
        }
    }

    /// The usual port is that of the guide; the agent of a developer may have it.
    @Test func `an IPv4 address alone means the usual port`() async throws {
        let host = "127.77.3.1"
        guard let listener = try TCPListener(host: host, port: AgentConfiguration.defaultPort) else { return }
        defer { listener.close() }
        try await LiveAgent.with { live async throws in
            let id = try await live.agent.openPairing(try PairingWish(PairRequest(device: host)))
            await listener.firstConnection()
            await live.agent.cancelPairing(id)
        }
    }

    @Test func `each line reads back as it was written`() throws {
        let peer = PairingPeer(id: "AAAA", shortID: "AAAAAAA", name: "hall")
        let found = PairingDevice(
            id: "AAAA", shortID: "AAAAAAA", name: "hall", address: "10.0.0.2:21817", via: "mdns", isMember: true)
        let silent = PairingDevice(
            id: nil, shortID: nil, name: "attic.local", address: "", via: "mdns", isMember: false)
        let error = ControlError(.wrongCode, "That is not the code.", hint: "Type it again.")
        let lines: [(PairingLine, String)] = [
            (.waiting(expires: Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)), ""),
            (.devices([]), #"{"event":"devices","devices":[]}"#),
            (
                .devices([found, silent]),
                #"{"event":"devices","devices":[{"id":"AAAA","shortID":"AAAAAAA","name":"hall","#
                    + #""address":"10.0.0.2:21817","via":"mdns","isMember":true},{"id":null,"shortID":null,"name":"attic.local","address":"","#
                    + #""via":"mdns","isMember":false}]}"#
            ),
            (
                .choose([found]),
                #"{"event":"choose","devices":[{"id":"AAAA","shortID":"AAAAAAA","name":"hall","#
                    + #""address":"10.0.0.2:21817","via":"mdns","isMember":true}]}"#
            ),
            (
                .code("012345", peer: peer),
                #"{"event":"code","code":"012345","peer":{"id":"AAAA","shortID":"AAAAAAA","name":"hall"}}"#
            ),
            (.confirmed, #"{"event":"confirmed"}"#),
            (
                .paired(device: "AAAA", name: "hall", role: .writer),
                #"{"event":"paired","device":"AAAA","name":"hall","role":"writer"}"#
            ),
            (
                .paired(device: "AAAA", name: "hall", role: .reader, joined: true),
                #"{"event":"paired","device":"AAAA","name":"hall","role":"reader","joined":true}"#
            ),
            (
                .failed(error),
                #"{"event":"failed","code":"wrong_code","message":"That is not the code.","hint":"Type it again."}"#
            ),
        ]
        for (line, text) in lines {
            let bytes = JSONEncoding.bytes(line)
            if !text.isEmpty { #expect(String(decoding: bytes, as: UTF8.self) == text) }
            #expect(try JSONDecoding.value(PairingLine.self, from: bytes, unknownKeys: .refuse) == line)
        }
        // Codes and events of a newer agent.
        let newer = #"{"event":"failed","code":"bored","message":"M","hint":"H"}"#
        let read = try JSONDecoding.value(PairingLine.self, from: Array(newer.utf8), unknownKeys: .ignore)
        #expect(read == .failed(ControlError(.internalFault, "M", hint: "H")))
        #expect(throws: (any Error).self) {
            try JSONDecoding.value(PairingLine.self, from: Array(#"{"event":"danced"}"#.utf8), unknownKeys: .ignore)
        }
    }
}

/// A socket of IPv4 that takes one connection.
private final class TCPListener: Sendable {
    private let descriptor: CInt

    /// Nil where another program has the port.
    init?(host: String, port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            Glibc.close(descriptor)
            guard code == EADDRINUSE else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
            return nil
        }
        guard listen(descriptor, 8) == 0 else { throw POSIXError(.EIO) }
    }

    func firstConnection() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                let peer = accept(descriptor, nil, nil)
                if peer >= 0 { Glibc.close(peer) }
                continuation.resume()
            }
        }
    }

    func close() { Glibc.close(descriptor) }
}
