import Foundation

/// Accepts connections, reads what comes once, and hangs up: without a word, or in the middle of an answer.
final class SilentListener: Sendable {
    private let descriptor: CInt

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
        Thread.detachNewThread {
            while case let peer = accept(listener, nil, nil), peer >= 0 {
                var buffer = [UInt8](repeating: 0, count: 4_096)
                _ = read(peer, &buffer, buffer.count)
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
