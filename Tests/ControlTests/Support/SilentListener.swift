import ControlAPI
import Foundation
import Synchronization

/// Accepts connections, reads what comes once, and hangs up: without a word, or in the middle of an answer, or after it.
final class SilentListener: Sendable {
    private let descriptor: CInt
    private let received = Mutex<[String]>([])

    /// The text that was read of each connection, oldest first.
    var requests: [String] { received.withLock(\.self) }

    /// Answers every request with status 200 and `value` as a line of JSON.
    convenience init(path: String, value: some Encodable) throws {
        let body = JSONEncoding.bytes(value) + [0x0A]
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n"
            + "Connection: close\r\n\r\n"
        try self.init(path: path, answer: Array(head.utf8) + body)
    }

    init(path: String, answer: [UInt8] = []) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(descriptor, 8) == 0 else { throw POSIXError(.EIO) }
        let listener = descriptor
        Thread.detachNewThread { [self] in
            while case let peer = accept(listener, nil, nil), peer >= 0 {
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let length = max(0, read(peer, &buffer, buffer.count))
                received.withLock { $0.append(String(decoding: buffer[..<length], as: UTF8.self)) }
                var start = 0
                while start < answer.count {
                    let count = answer.withUnsafeBytes {
                        Glibc.send(peer, $0.baseAddress! + start, $0.count - start, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { break }
                    start += count
                }
                Glibc.close(peer)
            }
        }
    }

    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
    }
}
