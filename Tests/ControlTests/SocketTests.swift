import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(20))) struct SocketTests {
    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test(arguments: [(ControlSocket.Audience.owner, 0o600), (.group, 0o660)])
    func `the socket has its mode and is gone after a clean stop`(audience: ControlSocket.Audience, mode: Int)
        async throws
    {
        let path = try await LiveServer.with(audience: audience) { server async throws in
            #expect(try self.mode(server.socketPath) == mode)
            #expect(try await server.client.version().version == LanyardVersion.current)
            try await server.stop()
            #expect(!FileManager.default.fileExists(atPath: server.socketPath))
            return server.socketPath
        }
        let error = await #expect(throws: ControlError.self) { try await LanyardClient(socketPath: path).status() }
        #expect(error?.code == .agentNotRunning)
        #expect(error?.hint.contains("lanyardd --data-dir") == true)
    }

    @Test func `a socket that a dead agent left is replaced`() async throws {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/control.sock"
        try bindAndAbandon(path)
        try ControlSocket(path: path).prepare()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a socket on which somebody answers is left alone`() async throws {
        try await LiveServer.with { server async throws in
            let error = #expect(throws: ControlError.self) { try ControlSocket(path: server.socketPath).prepare() }
            #expect(error?.code == .alreadyRunning)
            #expect(try await server.client.readiness().ready)
        }
    }

    @Test func `something that is not a socket is left alone`() throws {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/control.sock"
        _ = FileManager.default.createFile(atPath: path, contents: Data("precious".utf8))
        #expect(throws: ControlError.self) { try ControlSocket(path: path).prepare() }
        #expect(FileManager.default.contents(atPath: path) == Data("precious".utf8))
    }

    @Test func `a path that is too long is refused on both sides`() async throws {
        let path = "/tmp/" + String(repeating: "x", count: 103)
        let refused = #expect(throws: ControlError.self) { try ControlSocket(path: path).prepare() }
        #expect(refused?.code == .socketPathTooLong)
        let unreachable = await #expect(throws: ControlError.self) {
            try await LanyardClient(socketPath: path).status()
        }
        #expect(unreachable?.code == .socketPathTooLong)
    }

    @Test func `garbage on the socket harms nobody`() async throws {
        try await LiveServer.with { server async throws in
            for garbage in [
                "\0\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", String(repeating: "A", count: 200_000),
            ] {
                _ = try await RawSocket.send(server.socketPath, Array(garbage.utf8) + Array("\r\n\r\n".utf8))
            }
            let header = "GET /healthz HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 100_000))\r\n\r\n"
            let answer = try await RawSocket.send(server.socketPath, Array(header.utf8))
            #expect(!String(decoding: answer, as: UTF8.self).contains("200 OK"))
            #expect(try await server.client.readiness().ready)
        }
    }

    /// Connects and asks nothing.
    private func idle(_ path: String) throws -> CInt {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(Self.connect(descriptor, path) == 0)
        return descriptor
    }

    private static func connect(_ descriptor: CInt, _ path: String) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    @Test func `a command takes the place of the connection that is idle longest`() async throws {
        try await LiveServer.with(connectionLimit: 4) { server async throws in
            let idlers = try (0..<12).map { _ in try self.idle(server.socketPath) }
            defer { for descriptor in idlers { close(descriptor) } }
            #expect(try await server.client.version().version == LanyardVersion.current)
            // The server hung up on the first of them.
            var byte: UInt8 = 0
            #expect(read(idlers[0], &byte, 1) == 0)
        }
    }

    @Test func `where all connections are in use a command is told so, and those go on`() async throws {
        try await LiveServer.with(connectionLimit: 2) { server async throws in
            var followers: [Task<Void, any Error>] = []
            defer { for follower in followers { follower.cancel() } }
            for _ in 0..<2 {
                let (started, start) = AsyncStream<Void>.makeStream()
                followers.append(
                    Task {
                        // Reads no further until it is cancelled.
                        let (silence, end) = AsyncStream<Void>.makeStream()
                        defer { start.finish() }
                        try await server.client.watchPeers { _ in
                            start.finish()
                            for await _ in silence {}
                        }
                        end.finish()
                    })
                for await _ in started {}
            }
            let error = await #expect(throws: ControlError.self) { try await server.client.version() }
            #expect(error?.code == .limitReached)
            followers[0].cancel()
            _ = try? await followers[0].value
            while await (try? server.client.version()) == nil { await Task.yield() }
        }
    }

    @Test func `a socket that cannot be opened for another reason is not taken for a stopped agent`() async throws {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/control.sock"
        // Nobody accepts here, and the queue of one is full.
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound && listen(listener, 0) == 0)
        let filler = try idle(path)
        defer { for descriptor in [listener, filler] { close(descriptor) } }
        let error = await #expect(throws: ControlError.self) { try await LanyardClient(socketPath: path).status() }
        #expect(error?.code == .unreachable)
        let run = try await CommandRun.lanyard(["status"], socket: path)
        #expect(run.exitCode == 1 && run.errors.contains("takes no more connections"))
    }

    @Test func `a request of a web page is refused, whatever it asks`() async throws {
        try await LiveServer.with { server async throws in
            for request in ["GET /v1/status", "POST /v1/backup", "GET /nowhere"] {
                let text = "\(request) HTTP/1.1\r\nHost: x\r\nOrigin: http://a.example\r\nConnection: close\r\n\r\n"
                let answer = try await RawSocket.send(server.socketPath, Array(text.utf8))
                #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 403"))
            }
        }
    }

    @Test func `other users are not admitted`() async throws {
        // Only root can become another user; `deploy/test` has asked for the password already.
        let asRoot = geteuid() == 0 ? [] : ["sudo", "-n"]
        try await LiveServer.with(audience: .group) { server async throws in
            // Wide open on purpose: the credentials alone must keep others out.
            chmod(server.directory, 0o755)
            chmod(server.socketPath, 0o666)
            let answer = try await CommandRun.program(
                "/usr/bin/env",
                asRoot + ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/bin/bash", "-c"] + [
                    "exec 3<>/dev/null; python3 -c \"$0\" '\(server.socketPath)'",
                    """
                    import socket,sys
                    s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
                    s.sendall(b'GET /v1/status HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')
                    print(b''.join(iter(lambda: s.recv(4096), b'')).decode())
                    """,
                ])
            #expect(answer.output.contains("403"))
            #expect(answer.output.contains("\"forbidden\""))
            #expect(try await server.client.readiness().ready)
        }
    }

    private func bindAndAbandon(_ path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(result == 0)
        close(descriptor)
    }
}
