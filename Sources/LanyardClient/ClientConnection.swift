import ControlAPI
import Glibc
import Synchronization

/// An HTTP/1.1 connection to an agent, for one exchange after the other.
struct ClientConnection: Sendable {
    private let socket: UnixSocket
    private var reader = ResponseReader()

    /// The most bytes that are read at once: a size that malloc(3) keeps for the next time.
    private static let readBytes = 65_536

    /// Opens a connection for the time of `body`. Errors of the socket become a `ControlError`; errors of the caller's own
    /// code, called by `handing`, come out as they are.
    ///
    /// - Parameter notRunning: returns the error to throw if there is no listener.
    static func with<Value: Sendable>(
        _ socketPath: String, notRunning: () -> ControlError,
        _ body: (inout ClientConnection) async throws -> Value
    ) async throws -> Value {
        let socket = try open(socketPath, notRunning)
        defer { socket.shutDown() }
        do {
            return try await withTaskCancellationHandler {
                var connection = ClientConnection(socket: socket)
                return try await body(&connection)
            } onCancel: {
                socket.shutDown()
            }
        } catch let error as CallerError {
            throw error.error
        } catch let error as ControlError where error != lost {
            throw error
        } catch {
            throw Task.isCancelled ? cancelled : lost
        }
    }

    /// Opens a connection that lives until `shutDown`, or the end of this value. Cancelling does not end it.
    static func opened(
        _ socketPath: String, notRunning: () -> ControlError
    ) throws(ControlError) -> ClientConnection { ClientConnection(socket: try open(socketPath, notRunning)) }

    private init(socket: UnixSocket) { self.socket = socket }

    /// Ends the connection, whatever it waits for.
    var shutDown: @Sendable () -> Void { { [socket] in socket.shutDown() } }

    static let cancelled = ControlError(
        .cancelled, "The request was cancelled.",
        hint: "Whether a write was done is not known; send it again with its key.")

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
        _ path: String, _ notRunning: () -> ControlError
    ) throws(ControlError) -> UnixSocket {
        guard path.utf8.count <= ControlLimits.socketPathBytes else {
            throw .socketPathTooLong(
                path, hint: "Use a shorter path for the agent and for --socket, or a relative one.")
        }
        do throws(UnixSocket.Failure) { return try UnixSocket.connected(to: path) } catch {
            throw failure(of: path, error.number, notRunning)
        }
    }

    /// Returns the error for a failed connect. Only a missing socket, or one without a listener, means that no agent runs.
    private static func failure(
        of path: String, _ code: CInt, _ notRunning: () -> ControlError
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
        case _:
            ControlError(
                .unreachable,
                "The control socket \(path) cannot be opened: \(String(cString: strerror(code))).",
                hint: "lanyard doctor looks at the socket and its directory.")
        }
    }

    // MARK: One exchange

    /// Sends a request whose body is known, and returns the head of the answer.
    mutating func send(_ request: ClientRequest) async throws -> ResponseHead {
        try await socket.write(request.head(isStreamed: false) + (request.body ?? []))
        return try await responseHead()
    }

    /// Sends `chunks` as the body while they come. An answer that comes earlier ends the sending: it says why.
    ///
    /// Throws what `chunks` throws, as an error of the caller's; the agent then sees the connection end before the body did.
    mutating func send<Chunks: AsyncSequence & Sendable>(
        _ request: ClientRequest, chunks: Chunks
    ) async throws -> ResponseHead where Chunks.Element == [UInt8] {
        let (socket, announced) = (socket, request.streamedBytes)
        try await socket.write(request.head(isStreamed: true))
        if request.awaitsAdmission, let early = try await refusal() { return early }
        let source = SourceFailure()
        let sending = Task {
            var iterator = chunks.makeAsyncIterator()
            var sent: UInt64 = 0
            while true {
                let chunk: [UInt8]?
                do { chunk = try await iterator.next() } catch {
                    // The agent does not answer half a body; without this the wait below would not end.
                    source.error.withLock { $0 = error }
                    socket.shutDown()
                    return
                }
                guard let chunk else { break }
                if chunk.isEmpty { continue }
                try Task.checkCancellation()
                sent += UInt64(chunk.count)
                if let announced {
                    if sent > announced { break }
                    try await socket.write(chunk)
                } else {
                    try await socket.write(
                        Array(String(chunk.count, radix: 16).utf8) + [0x0D, 0x0A] + chunk + [0x0D, 0x0A])
                }
            }
            try Task.checkCancellation()
            if let announced {
                guard sent != announced else { return }
                // The agent waits for what was announced, and takes nothing else.
                source.error.withLock { $0 = ControlError.otherSize(announced: announced) }
                socket.shutDown()
            } else {
                try await socket.write(Array("0\r\n\r\n".utf8))
            }
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
    private mutating func refusal() async throws -> ResponseHead? {
        while true {
            let head = try await nextHead()
            if head.status == 100 { return nil }
            if head.status >= 200 { return head }
        }
    }

    private mutating func responseHead() async throws -> ResponseHead {
        while true {
            let head = try await nextHead()
            if head.status >= 200 { return head }
        }
    }

    private mutating func nextHead() async throws -> ResponseHead {
        while true {
            if let head = try reader.nextHead() { return head }
            try await read()
        }
    }

    private mutating func read() async throws {
        let bytes = try await socket.read(limit: Self.readBytes)
        guard !bytes.isEmpty else { throw Self.lost }
        reader.append(bytes)
    }

    /// The next part of the answer's body; nil at its end.
    mutating func nextChunk() async throws -> [UInt8]? {
        while true {
            if let bytes = try reader.nextBody() { return bytes }
            if reader.hasEnded { return nil }
            try await read()
        }
    }

    /// The same; nil also where the connection ends before the body does.
    mutating func nextBodyChunk() async throws -> [UInt8]? {
        do { return try await nextChunk() } catch let error as ControlError where error == Self.lost {
            return nil
        } catch is UnixSocket.Failure {
            return nil
        }
    }

    mutating func collect() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await nextChunk() { bytes += chunk }
        return bytes
    }

    /// Throws the error that an answer with a status above 299 carries.
    mutating func check(_ head: ResponseHead) async throws {
        guard head.status >= 300 else { return }
        let body = try await collect()
        let answer = try? JSONDecoding.value(ErrorResponse.self, from: body, unknownKeys: .ignore)
        throw answer?.controlError
            ?? ControlError(
                .internalFault, "The agent answered \(head.status) without saying why.",
                hint: "See why with: lanyard logs.")
    }
}

extension ControlError {
    fileprivate static func otherSize(announced: UInt64) -> ControlError {
        ControlError(
            .fileChanged, "The size that was announced is \(announced) bytes, and what came has another.",
            hint: "Announce the size of what is sent, or none.")
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

    /// The bytes of the head, up to and with the empty line.
    func head(isStreamed: Bool) -> [UInt8] {
        let pairs = query.compactMap { pair in pair.value.map { "\(pair.key)=\(PercentEncoding.encode($0))" } }
        let target = pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
        var lines = ["\(method.rawValue) \(target) HTTP/1.1", "Host: lanyard", "Accept: \(accept)"]
        if let key { lines.append("\(ControlHeader.idempotencyKey): \(key)") }
        if isStreamed {
            lines.append(streamedBytes.map { "Content-Length: \($0)" } ?? "Transfer-Encoding: chunked")
            if awaitsAdmission { lines.append("Expect: 100-continue") }
            lines.append("Content-Type: \(contentType)")
        } else if let body {
            lines += ["Content-Length: \(body.count)", "Content-Type: \(contentType)"]
        } else if method != .GET {
            lines.append("Content-Length: 0")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}

/// The methods of the control API.
enum HTTPMethod: String, Sendable {
    case GET
    case POST
    case PUT
    case PATCH
    case DELETE
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
