import Glibc
import NIOCore
import SyncTransport
import Testing

/// A listener that moves to another address while it runs.
@Suite struct MovedListenerTests {
    private func members() async throws -> (server: Node, client: Node) {
        let (server, client) = (try await Node(), try await Node())
        try await server.trust(client)
        try await client.trust(server)
        return (server, client)
    }

    private func move(_ server: Node, to host: String?, _ port: Int) async throws -> HostPort {
        try await server.onFlat { $0.moveListener(host: host, port: port) }
    }

    private func isRefused(_ client: Node, at address: HostPort) async throws -> Bool {
        try await client.ended(try await client.dial(address)) == .refused
    }

    /// Returns the number of a connection that the client dialled, once both sides have it.
    @discardableResult
    private func connect(_ client: Node, to server: Node, at address: HostPort) async throws -> UInt64 {
        let before = server.accepted
        let number = try await client.dial(address)
        try await server.events.first("one more that was accepted at \(address)") { _ in
            server.accepted > before ? () : nil
        }
        return number
    }

    @Test func `a new address accepts, the one before refuses, and what was accepted there stays`() async throws {
        let (server, client) = try await members()
        let old = try await server.listenApart()
        let first = try await connect(client, to: server, at: old)
        let new = try await move(server, to: "127.0.0.1", 0)
        #expect(new.host == "127.0.0.1" && new.port != old.port)
        #expect(try await isRefused(client, at: old))
        try await connect(client, to: server, at: new)
        try await client.on { $0.send(first, Array("still here".utf8)) }
        try await server.received(Array("still here".utf8))
        // It moves back as well, and stops where it is.
        #expect(try await move(server, to: "127.0.0.1", old.port) == old)
        #expect(try await isRefused(client, at: new))
        try await server.shutdown()
        #expect(try await isRefused(client, at: old))
    }

    @Test func `where another program has the port, the one before goes on`() async throws {
        let (server, client) = try await members()
        let other = try await Node()
        let (old, taken) = (try await server.listen(), try await other.listen())
        let error = await #expect(throws: ListenMoveError.self) { try await move(server, to: "127.0.0.1", taken.port) }
        #expect(error?.reason == .portInUse("\(taken)") && error?.goesOn == old)
        try await connect(client, to: server, at: old)
    }

    @Test func `where the address is of another machine, or none, the one before goes on`() async throws {
        let (server, client) = try await members()
        let old = try await server.listen()
        let away = await #expect(throws: ListenMoveError.self) { try await move(server, to: "192.0.2.1", old.port) }
        #expect(away?.reason == .addressNotHere("192.0.2.1:\(old.port)") && away?.goesOn == old)
        let none = await #expect(throws: ListenMoveError.self) { try await move(server, to: "nowhere", 0) }
        #expect(none?.reason == .notAnAddress("nowhere:0") && none?.goesOn == old)
        try await connect(client, to: server, at: old)
    }

    @Test func `one port moves from all addresses to one of them, and back`() async throws {
        let (server, client) = try await members()
        let port = try await server.listenApart(nil).port
        let (loopback, other) = (HostPort(host: "127.0.0.1", port: port)!, HostPort(host: "::1", port: port)!)
        let first = try await connect(client, to: server, at: other)
        #expect(try await move(server, to: "127.0.0.1", port) == loopback)
        #expect(try await isRefused(client, at: other))
        try await connect(client, to: server, at: loopback)
        #expect(try await move(server, to: nil, port).port == port)
        try await connect(client, to: server, at: other)
        try await client.on { $0.send(first, Array("still here".utf8)) }
        try await server.received(Array("still here".utf8))
    }

    /// A process that starts a program has copies of its descriptors until that program has begun.
    @Test func `a port moves though a program that is being started has a copy of the socket`() async throws {
        let (server, client) = try await members()
        let port = try await server.listenApart().port
        let socket = try #require((3..<8192).first { listeningPort($0) == port })
        let copy = dup(socket)
        try #require(copy >= 0)
        defer { close(copy) }
        #expect(try await move(server, to: nil, port).port == port)
        try await connect(client, to: server, at: HostPort(host: "::1", port: port)!)
    }

    @Test func `where another program has the port at one address, the one before is opened again`() async throws {
        let (server, client) = try await members()
        let other = try await Node()
        let port = try await other.listenApart("127.0.0.2").port
        let old = try await server.onFlat { $0.listen(host: "127.0.0.1", port: port) }
        let error = await #expect(throws: ListenMoveError.self) { try await move(server, to: "0.0.0.0", port) }
        #expect(error?.reason == .portInUse("0.0.0.0:\(port)") && error?.goesOn == old)
        try await connect(client, to: server, at: old)
    }
}

/// Returns the port at which the socket of a descriptor listens; nil if it is closed, or something else.
private func listeningPort(_ descriptor: Int32) -> Int? {
    var (listens, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens == 1 else { return nil }
    var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
    let named = withUnsafeMutableBytes(of: &address) {
        getsockname(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
    }
    return named == 0 ? Int(UInt16(bigEndian: address.sin_port)) : nil
}

extension Node {
    /// The number of connections that were accepted and opened.
    fileprivate var accepted: Int {
        events.all.count { if case .opened(_, _, .inbound, _, _) = $0 { true } else { false } }
    }
}
