import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(20))) struct ClientTests {
    private struct Stop: Error {}

    private func emit(_ numbers: ClosedRange<Int>, to server: LiveServer) async throws {
        for number in numbers { _ = try await server.client.emit(try JSONText("\(number)"), to: "s") }
    }

    @Test func `following sees what was there and what comes`() async throws {
        try await LiveServer.with(connectionLimit: 2) { server async throws in
            try await emit(1...2, to: server)
            let (seen, see) = AsyncStream<String>.makeStream()
            let reader = Task {
                try await server.client.readEvents(EventReadRequest(stream: "s", follow: true)) { events in
                    for event in events { see.yield(event.payload.description) }
                }
            }
            var iterator = seen.makeAsyncIterator()
            #expect(await [iterator.next(), iterator.next()] == ["1", "2"])
            try await emit(3...4, to: server)
            #expect(await [iterator.next(), iterator.next()] == ["3", "4"])
            reader.cancel()
            _ = try? await reader.value
            // The server notices that its reader is gone without having to write to it: there is a place beside another one.
            let (holding, hold) = AsyncStream<Void>.makeStream()
            let (held, letGo) = AsyncStream<Void>.makeStream()
            let holder = Task {
                try await server.client.watchPeers { _ in
                    hold.finish()
                    for await _ in held {}
                }
            }
            for await _ in holding {}
            while await (try? server.client.version()) == nil { await Task.yield() }
            holder.cancel()
            letGo.finish()
            _ = try? await holder.value
        }
    }

    @Test func `a stream can be followed before its first event`() async throws {
        try await LiveServer.with { server async throws in
            let follower = try RawSocket.connected(server.socketPath)
            defer { close(follower) }
            let path = "/v1/spaces/home/streams/s/events?follow=true"
            let request = "GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\n\r\n"
            // The head of the answer comes before the first event.
            let head = try await RawSocket.text(follower, Array(request.utf8), until: "\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 200") && head.lowercased().contains("lanyard-stream-exists: false"))
            try await emit(7...7, to: server)
            let event = try await RawSocket.text(follower, [], until: "\n\r\n")
            #expect(event.contains(#""payload":7,"#))
        }
    }

    @Test func `followers end when the agent stops`() async throws {
        try await LiveServer.with { server async throws in
            try await emit(1...1, to: server)
            let (started, start) = AsyncStream<Void>.makeStream()
            let reader = Task {
                try await server.client.readEvents(EventReadRequest(stream: "s", follow: true)) { _ in start.finish() }
            }
            for await _ in started {}
            try await server.stop()
            #expect(try await reader.value)
        }
    }

    @Test func `a consumer's batch is acknowledged after it was handled, and comes again if it was not`() async throws {
        try await LiveServer.with { server async throws in
            try await emit(1...3, to: server)
            let reading = EventReadRequest(stream: "s", consumer: "c")
            await #expect(throws: Stop.self) {
                try await server.client.readEvents(reading) { _ in throw Stop() }
            }
            #expect(try await server.client.consumers().map(\.behind) == [3])
            var seen: [EventLine] = []
            try await server.client.readEvents(reading) { seen += $0 }
            #expect(seen.map(\.redelivered) == [true, true, true])
            #expect(try await server.client.consumers().map(\.position) == [seen.last?.position])
            try await server.client.readEvents(reading) { _ in Issue.record("everything was acknowledged") }
            #expect(try await server.client.consumers().first?.behind == 0)
        }
    }

    @Test func `the deepest event that can be written can be read`() async throws {
        try await LiveServer.with { server async throws in
            let deepest = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
            let (chunks, send) = AsyncStream<[UInt8]>.makeStream()
            send.yield(Array("\(deepest)\n".utf8))
            send.finish()
            _ = try await server.client.emitLines(chunks, to: "s")
            try await emit(1...1, to: server)
            var seen: [String] = []
            try await server.client.readEvents(EventReadRequest(stream: "s")) { seen += $0.map(\.payload.description) }
            #expect(seen == [deepest, "1"], "it would stop every reader of the stream for good")
        }
    }

    @Test func `a slow reader holds back the agent, not its memory`() async throws {
        try await LiveServer.with { server async throws in
            let draft = EventDraft(
                type: nil, payload: try JSONText("\"" + String(repeating: "x", count: 1_000) + "\""))
            for _ in 0..<40 {
                _ = try await server.live.agent.emit(
                    space: "home", stream: "s", events: Array(repeating: draft, count: 1_000))
            }
            // 40 MB wait to be read; the reader takes the first batch and then nothing.
            let reading = EventReadRequest(stream: "s", consumer: "slow")
            let (held, letGo) = AsyncStream<Void>.makeStream()
            let (started, start) = AsyncStream<Void>.makeStream()
            let reader = Task {
                try await server.client.readEvents(reading) { _ in
                    start.finish()
                    for await _ in held {}
                    throw Stop()
                }
            }
            for await _ in started {}
            // Whatever the server could do meanwhile, it has done when it has answered a hundred other requests.
            for _ in 0..<100 { _ = try await server.client.version() }
            letGo.finish()
            await #expect(throws: Stop.self) { try await reader.value }
            // The agent marks what it handed out.
            var marks: [Bool] = []
            try await server.client.readEvents(reading) { marks += $0.map(\.redelivered) }
            #expect(marks.count == 40_000)
            #expect((1..<20_000).contains(marks.count { $0 }), "\(marks.count { $0 }) were read ahead")
        }
    }

    @Test func `lines are streamed up, and a bad one stops them`() async throws {
        try await LiveServer.with { server async throws in
            let (chunks, send) = AsyncStream<[UInt8]>.makeStream()
            let upload = Task { try await server.client.emitLines(chunks, type: "t", to: "s") }
            // The first line is written while the upload goes on.
            send.yield(Array("1\n{\"a\"".utf8))
            _ = try? await server.client.readEvents(EventReadRequest(stream: "s", follow: true)) { _ in throw Stop() }
            send.yield(Array(":2}\nnonsense\n".utf8))
            let error = await #expect(throws: ControlError.self) { try await upload.value }
            #expect(error?.code == .malformedJSON)
            #expect(error?.line == 3)
            #expect(error?.written == 2)
            let streams = try await server.client.streams()
            #expect(streams.map(\.events) == [2])
        }
    }

    @Test func `a store that closes in the middle says how much was written`() async throws {
        try await LiveServer.with { server async throws in
            let (chunks, send) = AsyncStream<[UInt8]>.makeStream()
            let upload = Task { try await server.client.emitLines(chunks, to: "s") }
            send.yield(Array("1\n2\n".utf8))
            _ = try? await server.client.readEvents(EventReadRequest(stream: "s", follow: true)) { _ in throw Stop() }
            await server.live.stop()
            send.yield(Array("3\n".utf8))
            send.finish()
            let error = await #expect(throws: ControlError.self) { try await upload.value }
            #expect(error?.code == .stopping && error?.code.httpStatus == 503)
            #expect(error?.written == 2 && error?.line == 3)
        }
    }

    @Test func `an endless upload is cut off by its first bad line`() async throws {
        try await LiveServer.with { server async throws in
            struct Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
                func makeAsyncIterator() -> Endless { self }
                mutating func next() async -> [UInt8]? { Array(repeating: UInt8(ascii: "!"), count: 65_536) }
            }
            let error = await #expect(throws: ControlError.self) {
                try await server.client.emitLines(Endless(), to: "s")
            }
            #expect(error?.code == .payloadTooLarge)
            #expect(try await server.client.readiness().ready)
        }
    }

    @Test func `peers are watched`() async throws {
        try await LiveServer.with { server async throws in
            let (lists, see) = AsyncStream<[Peer]>.makeStream()
            let watcher = Task { try await server.client.watchPeers { see.yield($0) } }
            #expect(await lists.first { _ in true }?.isEmpty == true)
            try await server.live.withPeer { peer async throws in
                let shown = await lists.first { $0.first?.state == .connected }
                #expect(shown?.first?.id == peer.device)
            }
            watcher.cancel()
            _ = try? await watcher.value
        }
    }

    @Test func `a connection that ends without an answer is told apart from no agent`() async throws {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/control.sock"
        let listener = try SilentListener(path: path)
        let error = await #expect(throws: ControlError.self) { try await LanyardClient(socketPath: path).status() }
        #expect(error?.code == .connectionLost)
        #expect(error?.code.exitCode == .agentNotRunning)
        listener.close()
    }
}
