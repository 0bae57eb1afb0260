import Foundation
import Synchronization

/// Passes connections on to a server; of the first one it loses the answer.
final class LosingRelay: Sendable {
    let path: String
    private let descriptor: CInt
    private let requests = Mutex(0)

    /// The requests that were passed on.
    var requestCount: Int { requests.withLock(\.self) }

    init(to server: String) throws {
        path = server + ".relay"
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard Self.withAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0 else {
            throw POSIXError(.EIO)
        }
        let listener = descriptor
        Thread.detachNewThread { [self] in
            var isFirst = true
            while case let peer = accept(listener, nil, nil), peer >= 0 {
                requests.withLock { $0 += 1 }
                Self.pass(peer, to: server, losing: isFirst)
                isFirst = false
            }
        }
    }

    /// One request and its answer, each of them JSON.
    private static func pass(_ peer: CInt, to server: String, losing: Bool) {
        let onward = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            Glibc.close(onward)
            Glibc.close(peer)
        }
        guard withAddress(server, { connect(onward, $0, $1) }) == 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var request: [UInt8] = []
        while !request.suffix(1).elementsEqual("}".utf8) {
            let count = read(peer, &buffer, buffer.count)
            guard count > 0 else { return }
            request += buffer[..<count]
        }
        _ = write(onward, request, request.count)
        // The head may come before the rest.
        var answer: [UInt8] = []
        while !answer.suffix(1).elementsEqual("}".utf8) {
            let count = read(onward, &buffer, buffer.count)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        if !losing { _ = write(peer, answer, answer.count) }
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
    }
}
