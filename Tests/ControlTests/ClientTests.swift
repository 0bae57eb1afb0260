import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct ClientTests {
    private struct Stop: Error {}

    private func emit(_ numbers: ClosedRange<Int>, to server: LiveServer) async throws {
        for number in numbers { _ = try await server.client.emit(try JSONText("\(number)"), to: "s") }
    }

    @Test func `following sees what was there and what comes`() async throws {
        try await LiveServer.with { server async throws in
            try await emit(1...2, to: server)
            let (seen, see) = AsyncStream<String>.makeStream()
            let reader = Task {
                try await server.client.readEvents(EventReadRequest(stream: "s", follow: true)) { events in
                    for event in events { see.yield(event.payload.description) }
                }
            }
            await server.agent.readersWaiting(1)
            try await emit(3...4, to: server)
            var payloads: [String] = []
            for await payload in seen {
                payloads.append(payload)
                if payloads.count == 4 { break }
            }
            #expect(payloads == ["1", "2", "3", "4"])
            reader.cancel()
            // The server notices that its reader is gone without having to write to it.
            await server.agent.readersWaiting(0)
        }
    }

    @Test func `a stream can be followed before its first event`() async throws {
        try await LiveServer.with { server async throws in
            let reader = Task {
                var first: EventLine?
                _ = try? await server.client.readEvents(EventReadRequest(stream: "s", follow: true)) { events in
                    first = events.first
                    throw Stop()
                }
                return first
            }
            await server.agent.readersWaiting(1)
            try await emit(7...7, to: server)
            #expect(await reader.value?.payload.description == "7")
        }
    }

    @Test func `followers end when the agent stops`() async throws {
        try await LiveServer.with { server async throws in
            let reader = Task {
                try await server.client.readEvents(EventReadRequest(stream: "s", follow: true)) { _ in }
            }
            await server.agent.readersWaiting(1)
            try await server.stop()
            #expect(try await reader.value == false)
        }
    }

    @Test func `a consumer's batch is acknowledged after it was handled, and comes again if it was not`() async throws {
        try await LiveServer.with { server async throws in
            try await emit(1...3, to: server)
            let reading = EventReadRequest(stream: "s", consumer: "c")
            await #expect(throws: (any Error).self) {
                try await server.client.readEvents(reading) { _ in throw Stop() }
            }
            #expect(await server.agent.acknowledgements.isEmpty)
            var seen: [Bool] = []
            try await server.client.readEvents(reading) { seen += $0.map(\.redelivered) }
            #expect(seen == [true, true, true])
            #expect(await server.agent.acknowledgements == [3])
            try await server.client.readEvents(reading) { _ in Issue.record("everything was acknowledged") }
            #expect(try await server.client.consumers().first?.behind == 0)
        }
    }

    @Test func `a slow reader holds back the agent, not its memory`() async throws {
        try await LiveServer.with { server async throws in
            let payload = try JSONText("\"" + String(repeating: "x", count: 1_000) + "\"")
            for _ in 0..<200 {
                _ = try await server.agent.emit(
                    space: "home", stream: "s",
                    events: Array(repeating: EventDraft(type: nil, payload: payload), count: 1_000))
            }
            // 200 MB wait to be read in 100 pages; the reader takes the first batch and then nothing.
            let (held, letGo) = AsyncStream<Void>.makeStream()
            let (started, start) = AsyncStream<Void>.makeStream()
            let reader = Task {
                try await server.client.readEvents(EventReadRequest(stream: "s")) { _ in
                    start.finish()
                    for await _ in held {}
                }
            }
            for await _ in started {}
            // Whatever the server could do meanwhile, it has done when it answers somebody else a hundred times.
            for _ in 0..<100 { _ = try await server.client.version() }
            #expect(await server.agent.pagesRead < 20)
            letGo.finish()
            #expect(try await reader.value)
            #expect(await server.agent.pagesRead >= 100)
        }
    }

    @Test func `lines are streamed up, and a bad one stops them`() async throws {
        try await LiveServer.with { server async throws in
            let (chunks, send) = AsyncStream<[UInt8]>.makeStream()
            let upload = Task { try await server.client.emitLines(chunks, type: "t", to: "s") }
            let reader = Task {
                _ = try? await server.client.readEvents(EventReadRequest(stream: "s", follow: true)) { _ in throw Stop()
                }
            }
            await server.agent.readersWaiting(1)
            // The first line is written while the upload goes on.
            send.yield(Array("1\n{\"a\"".utf8))
            await reader.value
            send.yield(Array(":2}\nnonsense\n".utf8))
            let error = await #expect(throws: ControlError.self) { try await upload.value }
            #expect(error?.code == .malformedJSON)
            #expect(error?.line == 3)
            #expect(error?.written == 2)
            let streams = try await server.client.streams()
            #expect(streams.map(\.events) == [2])
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
            let (counts, see) = AsyncStream<Int>.makeStream()
            let watcher = Task { try await server.client.watchPeers { see.yield($0.count) } }
            var iterator = counts.makeAsyncIterator()
            #expect(await iterator.next() == 0)
            await server.agent.show([Peer(id: "i", shortID: "i", name: "n", state: .connected, paired: true)])
            #expect(await iterator.next() == 1)
            watcher.cancel()
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
