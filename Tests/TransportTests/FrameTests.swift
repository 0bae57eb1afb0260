import NIOCore
import SyncTransport
import Testing

/// What a member may put on the wire, and what ends its connection.
@Suite struct FrameTests {
    private func connected() async throws -> (server: Node, peer: RawPeer, inbound: UInt64) {
        let (server, member) = (try await Node(), try await Node())
        try await server.trust(member)
        let peer = try await RawPeer(try await server.listen(), tls: try RawPeer.tls(as: member))
        return (server, peer, try await server.opened(.inbound))
    }

    private func frame(_ payload: [UInt8]) -> [UInt8] {
        let count = UInt32(payload.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + payload
    }

    @Test func `an empty frame ends the connection`() async throws {
        let (server, peer, inbound) = try await connected()
        try await peer.send([0, 0, 0, 0])
        #expect(try await server.ended(inbound) == .emptyFrame)
        try await server.expectRefused(.emptyFrame)
        try await peer.closed()
    }

    @Test(arguments: [[0, 0x10, 0, 1], [0xff, 0xff, 0xff, 0xff], [0x80, 0, 0, 0]] as [[UInt8]])
    func `four bytes that announce too much end the connection, before a fifth`(length: [UInt8]) async throws {
        let (server, peer, inbound) = try await connected()
        try await peer.send(frame(Node.hello))
        try await server.received(Node.hello)
        try await peer.send(length)
        #expect(try await server.ended(inbound) == .oversizeFrame)
        try await server.expectRefused(.oversizeFrame)
    }

    @Test func `before the first frame is accepted, 4 KiB is the most`() async throws {
        let (server, peer, inbound) = try await connected()
        try await peer.send([0, 0, 0x10, 0x01])
        #expect(try await server.ended(inbound) == .oversizeFrame)
    }

    @Test func `a first frame of 4 KiB passes, and opens the way for large ones in the same packet`() async throws {
        let (server, peer, _) = try await connected()
        let (first, second) = ([UInt8](repeating: 1, count: 4_096), [UInt8](repeating: 2, count: 4_097))
        try await peer.send(frame(first) + frame(second))
        try await server.received(first)
        try await server.received(second)
    }

    @Test func `a frame that ends before its length is a truncated one`() async throws {
        let (server, peer, inbound) = try await connected()
        try await peer.send(frame(Node.hello) + [0, 0, 0, 9, 1, 2])
        try await server.received(Node.hello)
        try await peer.close()
        #expect(try await server.ended(inbound) == .truncatedFrame)
        try await server.expectRefused(.truncatedFrame)
    }

    @Test func `frames come whole however their bytes are cut`() async throws {
        let (server, peer, _) = try await connected()
        let payloads = [Node.hello, [1], [UInt8](repeating: 3, count: 300), [4, 5]]
        for byte in payloads.flatMap(frame) { try await peer.send([byte]) }
        try await server.received([4, 5])
        let got = server.events.all.compactMap { if case .received(_, let payload) = $0 { payload } else { nil } }
        #expect(got == payloads)
    }
}
