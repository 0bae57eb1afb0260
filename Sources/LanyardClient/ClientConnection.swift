import ControlAPI
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP/1.1 connection to an agent, for one exchange after the other.
struct ClientConnection {
    typealias Channel = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    let outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
    private let channel: any NIOCore.Channel
    private var inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator

    /// Opens a connection for the time of `body`. Errors of the socket become a `ControlError`; errors of the caller's own
    /// code, called by `handing`, come out as they are.
    ///
    /// - Parameter notRunning: returns the error to throw if there is no listener.
    static func with<Value: Sendable>(
        _ socketPath: String, on group: any EventLoopGroup, notRunning: () -> ControlError,
        _ body: (inout ClientConnection) async throws -> Value
    ) async throws -> Value {
        let channel = try await open(socketPath, on: group, notRunning)
        do {
            return try await channel.executeThenClose { inbound, outbound in
                var connection = ClientConnection(
                    outbound: outbound, channel: channel.channel, inbound: inbound.makeAsyncIterator())
                return try await body(&connection)
            }
        } catch let error as CallerError {
            throw error.error
        } catch let error as ControlError {
            throw error
        } catch {
            throw lost
        }
    }

    /// An error of the caller's on its way through the connection.
    private struct CallerError: Error {
        let error: any Error
    }

    /// Runs code of the caller's inside of `with`.
    static func handing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch { throw CallerError(error: error) }
    }

    static let lost = ControlError(
        .connectionLost, "The agent closed the connection before it answered.",
        hint: "See why with: lanyard logs. If it stopped, start it again.")

    private static func open(
        _ path: String, on group: any EventLoopGroup, _ notRunning: () -> ControlError
    ) async throws(ControlError) -> Channel {
        guard path.utf8.count <= ControlLimits.socketPathBytes else {
            throw .socketPathTooLong(
                path, hint: "Use a shorter path for the agent and for --socket, or a relative one.")
        }
        do {
            return try await ClientBootstrap(group: group).connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Told apart from the answer: `100 Continue`, before which no large body is sent.
                    let decoder = HTTPResponseDecoder(informationalResponseStrategy: .forward)
                    try channel.pipeline.syncOperations.addHandlers([
                        HTTPRequestEncoder(), ByteToMessageHandler(decoder), NIOHTTPRequestHeadersValidator(),
                    ])
                    return try Channel(wrappingChannelSynchronously: channel)
                }
            }
        } catch {
            throw failure(of: path, (error as? IOError)?.errnoCode, notRunning)
        }
    }

    /// Returns the error for a failed connect. Only a missing socket, or one without a listener, means that no agent runs.
    private static func failure(
        of path: String, _ code: CInt?, _ notRunning: () -> ControlError
    ) -> ControlError {
        switch code {
        case ENOENT, ENOTDIR, ECONNREFUSED: notRunning()
        case EACCES, EPERM:
            ControlError(
                .forbidden, "This user may not open the control socket \(path).",
                hint: "Run the command as the agent's user or root, or join the socket's group.")
        case EMFILE, ENFILE:
            ControlError(
                .unreachable, "This program may not open more files, so it cannot ask the agent.",
                hint: "Close some, or raise the limit: ulimit -n shows it.")
        case EAGAIN:
            ControlError(
                .unreachable, "The agent takes no more connections on \(path) now.",
                hint: "End some of the programs and commands that watch or follow, and try again.")
        case let code:
            ControlError(
                .unreachable,
                "The control socket \(path) cannot be opened: \(code.map { String(cString: strerror($0)) } ?? "unknown").",
                hint: "lanyard doctor looks at the socket and its directory.")
        }
    }

    // MARK: One exchange

    /// Sends a request whose body is known, and returns the head of the answer.
    mutating func send(_ request: ClientRequest) async throws -> HTTPResponseHead {
        var parts: [HTTPClientRequestPart] = [.head(request.head(isStreamed: false))]
        if let body = request.body { parts.append(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
        parts.append(.end(nil))
        try await outbound.write(contentsOf: parts)
        return try await responseHead()
    }

    /// Sends `chunks` as the body while they come. An answer that comes earlier ends the sending: it says why.
    ///
    /// Throws what `chunks` throws, as an error of the caller's; the agent then sees the connection end before the body did.
    mutating func send<Chunks: AsyncSequence & Sendable>(
        _ request: ClientRequest, chunks: Chunks
    ) async throws -> HTTPResponseHead where Chunks.Element == [UInt8] {
        let (outbound, channel) = (outbound, channel)
        try await outbound.write(.head(request.head(isStreamed: true)))
        if request.awaitsAdmission, let early = try await refusal() { return early }
        let source = SourceFailure()
        let sending = Task {
            var iterator = chunks.makeAsyncIterator()
            while true {
                let chunk: [UInt8]?
                do { chunk = try await iterator.next() } catch {
                    // The agent does not answer half a body; without this the wait below would not end.
                    source.error.withLock { $0 = error }
                    channel.close(promise: nil)
                    return
                }
                guard let chunk else { break }
                try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: chunk))))
            }
            try Task.checkCancellation()
            try await outbound.write(.end(nil))
        }
        defer { sending.cancel() }
        do {
            return try await responseHead()
        } catch {
            throw source.error.withLock(\.self).map { CallerError(error: $0) } ?? error
        }
    }

    /// The error that ended the chunks to send.
    private final class SourceFailure: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }

    /// The answer to a head whose body the agent does not want; nil: it waits for the body.
    private mutating func refusal() async throws -> HTTPResponseHead? {
        while let part = try await inbound.next(isolation: #isolation) {
            guard case .head(let head) = part else { continue }
            if head.status == .continue { return nil }
            if head.status.code >= 200 { return head }
        }
        throw Self.lost
    }

    private mutating func responseHead() async throws -> HTTPResponseHead {
        while let part = try await inbound.next(isolation: #isolation) {
            guard case .head(let head) = part else { continue }
            if head.status.code >= 200 { return head }
        }
        throw Self.lost
    }

    /// The next part of the answer's body; nil at its end.
    mutating func nextChunk() async throws -> ByteBuffer? {
        guard let part = try await inbound.next(isolation: #isolation) else { throw Self.lost }
        switch part {
        case .body(let buffer): return buffer
        case .end: return nil
        case .head: throw Self.lost
        }
    }

    /// The same; nil also where the connection ends before the body does.
    mutating func nextBodyChunk() async throws -> ByteBuffer? {
        do { return try await nextChunk() } catch is HTTPParserError {
            return nil
        } catch let error as ControlError where error == Self.lost {
            return nil
        } catch is IOError {
            return nil
        }
    }

    mutating func collect() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await nextChunk() { bytes.append(contentsOf: chunk.readableBytesView) }
        return bytes
    }

    /// Throws the error that an answer with a status above 299 carries.
    mutating func check(_ head: HTTPResponseHead) async throws {
        guard head.status.code >= 300 else { return }
        let body = try await collect()
        let answer = try? JSONDecoding.value(ErrorResponse.self, from: body, unknownKeys: .ignore)
        throw answer?.controlError
            ?? ControlError(
                .internalFault, "The agent answered \(head.status.code) without saying why.",
                hint: "See why with: lanyard logs.")
    }
}

/// A request to an agent.
struct ClientRequest {
    var method: HTTPMethod = .GET
    var path: String
    var query: [(key: String, value: String?)] = []
    var accept = ContentType.json
    var contentType = ContentType.json
    var body: [UInt8]?
    /// The key under which a write is done once, however often it is sent (`Idempotency-Key`).
    var key: String?
    /// False for a request that has a new effect each time: it is not sent again automatically.
    var isRepeatable = true
    /// The length of a body that is streamed; nil if unknown before its end.
    var streamedBytes: UInt64?
    /// The body is sent only once the agent says that it wants it (RFC 9110, section 10.1.1).
    var awaitsAdmission = false

    /// A path of fixed words and names; names are encoded.
    init(_ method: HTTPMethod = .GET, _ segments: PathSegment...) {
        self.method = method
        path = segments.map { "/" + $0.text }.joined()
    }

    func head(isStreamed: Bool) -> HTTPRequestHead {
        var headers = HTTPHeaders([("Host", "lanyard"), ("Accept", accept)])
        if let key { headers.add(name: ControlHeader.idempotencyKey, value: key) }
        if isStreamed {
            if let streamedBytes {
                headers.add(name: "Content-Length", value: String(streamedBytes))
            } else {
                headers.add(name: "Transfer-Encoding", value: "chunked")
            }
            if awaitsAdmission { headers.add(name: "Expect", value: "100-continue") }
            headers.add(name: "Content-Type", value: contentType)
        } else if let body {
            headers.add(name: "Content-Length", value: String(body.count))
            headers.add(name: "Content-Type", value: contentType)
        }
        let pairs = query.compactMap { pair in pair.value.map { "\(pair.key)=\(PercentEncoding.encode($0))" } }
        let uri = pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
        return HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: headers)
    }
}

/// A part of a path.
enum PathSegment: ExpressibleByStringLiteral {
    case word(String)
    case name(String)

    init(stringLiteral value: String) { self = .word(value) }

    var text: String {
        switch self {
        case .word(let word): word
        case .name(let name): PercentEncoding.encode(name)
        }
    }
}
