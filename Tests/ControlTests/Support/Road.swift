import ControlAPI
import ControlServer
import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Testing

/// An answer as the client saw it.
struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func value<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try JSONDecoding.value(type, from: body, unknownKeys: .ignore)
    }

    /// The code of the error inside.
    var code: String {
        (try? value(ErrorResponse.self).controlError.code.rawValue) ?? "no error: \(text)"
    }
}

/// The two roads a request can take to the routes. Every test of a route goes both.
enum Road: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case router
    case socket

    var testDescription: String { rawValue }

    /// Runs `body` with a way to send requests to an agent of its own.
    func with(_ body: (Requester) async throws -> Void) async throws {
        try await withAgent { request, _ async throws in try await body(request) }
    }

    /// The same, with the agent at hand.
    func withAgent(_ body: (Requester, LiveAgent) async throws -> Void) async throws {
        switch self {
        case .router:
            try await LiveAgent.with { live async throws in
                let responder = ControlResponder(agent: live.agent, logger: Logger(label: "test"))
                try await body(Requester(responder), live)
            }
        case .socket:
            try await LiveServer.with { server async throws in
                try await body(Requester(socketPath: server.socketPath), server.live)
            }
        }
    }
}

/// Sends one request at a time.
struct Requester: Sendable {
    private let exchange: @Sendable (String, String, [(String, String)], [UInt8]) async throws -> Answer

    init(_ responder: ControlResponder) {
        exchange = { method, path, headers, body in
            var fields = HTTPFields()
            for (name, value) in headers { fields[HTTPField.Name(name)!] = value }
            let request = Request(
                head: HTTPRequest(
                    method: HTTPRequest.Method(method)!, scheme: nil, authority: nil, path: path, headerFields: fields),
                body: RequestBody(buffer: ByteBuffer(bytes: body)))
            let response = await responder.respond(to: request, over: .memory)
            let collected = Collected()
            try await response.body.write(CollectingWriter(collected: collected))
            var answered: [String: String] = [:]
            for field in response.headers { answered[field.name.canonicalName] = field.value }
            return Answer(status: response.status.code, headers: answered, body: collected.bytes)
        }
    }

    init(socketPath: String) {
        exchange = { method, path, headers, body in
            var text = "\(method) \(path) HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
            for (name, value) in headers { text += "\(name): \(value)\r\n" }
            text += "Content-Length: \(body.count)\r\n\r\n"
            return try await RawSocket.exchange(socketPath, Array(text.utf8) + body)
        }
    }

    func callAsFunction(
        _ method: String, _ path: String, headers: [(String, String)] = [], body: String? = nil
    ) async throws -> Answer {
        try await send(method, path, headers: headers, body: body.map { Array($0.utf8) })
    }

    func send(
        _ method: String, _ path: String, headers: [(String, String)] = [], body: [UInt8]?
    ) async throws -> Answer {
        let type =
            body == nil || headers.contains { $0.0 == "Content-Type" } ? [] : [("Content-Type", "application/json")]
        return try await exchange(method, path, headers + type, body ?? [])
    }
}

private final class Collected: @unchecked Sendable {
    var bytes: [UInt8] = []
}

/// Used by one task at a time.
private struct CollectingWriter: ResponseBodyWriter {
    let collected: Collected
    func write(_ buffer: ByteBuffer) { collected.bytes += Array(buffer: buffer) }
    consuming func finish(_ trailingHeaders: HTTPFields?) {}
}

/// Bytes over a Unix socket, as a client that knows nothing of ours would send them.
enum RawSocket {
    /// Sends `request`, reads until the server closes, and takes the HTTP answer apart.
    static func exchange(_ path: String, _ request: [UInt8]) async throws -> Answer {
        try parse(try await send(path, request))
    }

    static func send(_ path: String, _ request: [UInt8]) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try blockingExchange(path, request) }) }
        }
    }

    static func connected(_ path: String) throws -> CInt {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return descriptor
    }

    /// Sends `request` and reads until the answer has `end` behind its head.
    static func text(_ descriptor: CInt, _ request: [UInt8], until end: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        guard Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
                        else { throw POSIXError(.EPIPE) }
                        var (bytes, block) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
                        while !String(decoding: bytes, as: UTF8.self).contains(end) {
                            let count = read(descriptor, &block, block.count)
                            guard count > 0 else { throw POSIXError(.ECONNRESET) }
                            bytes += block[..<count]
                        }
                        return String(decoding: bytes, as: UTF8.self)
                    })
            }
        }
    }

    private static func blockingExchange(_ path: String, _ request: [UInt8]) throws -> [UInt8] {
        let descriptor = try connected(path)
        defer { close(descriptor) }
        var start = 0
        while start < request.count {
            let count = request.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + start, $0.count - start, Int32(MSG_NOSIGNAL))
            }
            // A server that answers early stops reading; its answer is still to be read.
            guard count > 0 else { break }
            start += count
        }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &block, block.count), count > 0 { bytes += block[..<count] }
        return bytes
    }

    /// Takes an HTTP answer apart.
    static func parse(_ bytes: [UInt8]) throws -> Answer {
        let separator = Array("\r\n\r\n".utf8)
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }) else {
            throw POSIXError(.EBADMSG)
        }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let status = Int(lines[0].split(separator: " ")[1]) ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let body = Array(bytes[(end + 4)...])
        let isChunked = headers["transfer-encoding"] == "chunked"
        return Answer(status: status, headers: headers, body: isChunked ? unchunked(body) : body)
    }

    private static func unchunked(_ bytes: [UInt8]) -> [UInt8] {
        var (rest, whole): (ArraySlice<UInt8>, [UInt8]) = (bytes[...], [])
        while let end = rest.firstIndex(of: 0x0D) {
            guard let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16), size > 0 else { break }
            whole += rest[(end + 2)..<(end + 2 + size)]
            rest = rest[(end + 4 + size)...]
        }
        return whole
    }
}
