import ControlAPI
import ControlServer
import Foundation
import NIOCore
import SyncAgent
import Testing

/// Many connections, slow readers, streams that end, and an address that cannot be had.
@Suite(.timeLimit(.minutes(20))) struct DashboardLoadTests {
    /// Opens connections that ask nothing or half a request, then asks as a browser does. It is a process of its own:
    /// this one has not so many descriptors.
    private static let crowd = """
        import resource, socket, sys
        host, port, count, cookie = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        crowd = []
        for number in range(count):
            crowd.append(socket.create_connection((host, port)))
            if number % 2: crowd[-1].sendall(b'GET / HTTP/1.1\\r\\nHost: ')
        asking = socket.create_connection((host, port))
        asking.sendall(f'GET /v1/version HTTP/1.1\\r\\nHost: {host}:{port}\\r\\nCookie: {cookie}\\r\\n\\r\\n'.encode())
        print(asking.recv(4096).split(b'\\r\\n')[0].decode())
        """

    @Test func `a thousand connections keep out neither a browser nor a command`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let cookie = try await dashboard.signIn()
            let run = try await CommandRun.program(
                "/usr/bin/python3", ["-c", Self.crowd, "127.0.0.1", "\(dashboard.access.port ?? 0)", "1000", cookie])
            #expect(run.output == "HTTP/1.1 200 OK\n", "\(run.errors)")
            #expect(dashboard.server.connectionCount <= 65)
            #expect(try await dashboard.live.agent.status(space: nil).warnings.isEmpty)
        }
    }

    @Test func `where all connections are in use another is told to come later`() async throws {
        try await LiveDashboard.with(connectionLimit: 2) { dashboard async throws in
            let cookie = try await dashboard.signIn()
            let streams = try (0..<2).map { _ in try dashboard.connected() }
            for stream in streams { _ = try await dashboard.follow(cookie, until: "\"disk\"", on: stream) }
            let refused = try await dashboard.request("GET", "/v1/version", [("Cookie", cookie)])
            #expect(refused.status == 503 && refused.body.isEmpty)
            #expect(refused.headers["retry-after"] == "1")
            for stream in streams { close(stream) }
            try await dashboard.live.until { _ in
                try await dashboard.request("GET", "/v1/version", [("Cookie", cookie)]).status == 200
            }
        }
    }

    @Test func `a reader that does not read is cut off, and others are not`() async throws {
        // Long enough for the other reader, whose thread may have to wait for its turn.
        try await LiveDashboard.with(patience: .seconds(10)) { dashboard async throws in
            let cookie = try await dashboard.signIn()
            try await dashboard.live.put("note/trip", #"{"a":1}"#)
            let bytes = [UInt8](repeating: 7, count: 16 << 20)
            let entry = try await dashboard.live.attach(bytes, named: "large", to: "note/trip")
            let path = "/v1/spaces/home/attachments/\(entry.record.id)/content"
            let slow = try dashboard.connected(receiveBytes: 4_096)
            defer { close(slow) }
            let head = Array("GET \(path) HTTP/1.1\r\nHost: \(dashboard.host)\r\nCookie: \(cookie)\r\n\r\n".utf8)
            try #require(send(slow, head, head.count, Int32(MSG_NOSIGNAL)) == head.count)
            // A reader that takes all of it meanwhile gets all of it.
            let whole = try await dashboard.request("GET", path, [("Cookie", cookie)])
            #expect(whole.body.count == bytes.count)
            try await dashboard.live.until { _ in dashboard.server.connectionCount == 0 }
        }
    }

    @Test func `who is signed out sees nothing more, also of what was open`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let cookie = try await dashboard.signIn()
            let link = try dashboard.path(of: try #require(dashboard.access.link(alsoAt: [])).url)
            let stream = try dashboard.connected()
            defer { close(stream) }
            _ = try await dashboard.follow(cookie, until: "\"disk\"", on: stream)
            #expect(dashboard.access.signOut() == 1)
            try await dashboard.live.until { _ in dashboard.server.connectionCount == 0 }
            #expect(try await dashboard.request("GET", "/v1/version", [("Cookie", cookie)]).status == 401)
            #expect(try await dashboard.request("GET", link).status == 401)
        }
    }

    @Test func `what changes is told, by the device that changed it`() async throws {
        try await LiveDashboard.with { dashboard async throws in
            let cookie = try await dashboard.signIn()
            let stream = try dashboard.connected()
            defer { close(stream) }
            let first = try await dashboard.follow(cookie, until: "\"changes\"", on: stream)
            for part in ["status", "why", "peers", "devices", "versions", "disk", "conflicts", "changes"] {
                #expect(first.contains("data: {\"\(part)\":"), "\(part)")
            }
            try await dashboard.live.withPeer(named: "attic") { peer async throws in
                try await peer.put("note/trip", #"{"a":1}"#)
                let device = "\"id\":\"trip\",\"collection\":\"note\",\"deleted\":false,\"device\":\"\(peer.device)\""
                // Nothing more is sent: what comes is read.
                let told = try await RawSocket.text(stream, [], until: device)
                #expect(told.contains("\"peers\":[{"))
            }
        }
    }

    @Test func `a dashboard that others can reach is theirs by its address, and by no name`() async throws {
        let any = AgentConfiguration.ListenAddress(host: "0.0.0.0", port: 0)
        try await LiveDashboard.with(address: any) { dashboard async throws in
            // By its address it is ours, by a name it is not.
            let cookie = [("Cookie", try await dashboard.signIn())]
            #expect(try await dashboard.request("GET", "/", cookie).status == 200)
            #expect(try await dashboard.request("GET", "/", cookie, host: "desk.example:80").status == 421)
            #expect(try await dashboard.request("GET", "/", cookie, host: "0.0.0.0").status == 421)
        }
    }
}
