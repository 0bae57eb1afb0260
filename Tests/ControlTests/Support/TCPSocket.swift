import Foundation

/// Bytes over TCP to this device.
enum TCPSocket {
    /// - Parameter host: the last number of 127.0.0.
    static func connected(_ port: Int, host: UInt32 = 1) throws -> CInt {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let result = withAddress(port, host) { connect(descriptor, $0, $1) }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
        return descriptor
    }

    /// Listens at a port, as another program does, until `body` returns.
    ///
    /// - Parameter port: 0: one that is free.
    static func withTaken(
        _ port: Int = 0, host: UInt32 = 1, _ body: (Int) async throws -> Void
    ) async throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        guard withAddress(port, host, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 1) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        try await body(localPort(of: descriptor) ?? 0)
    }

    /// Holds a copy of this process's socket that listens at a port, as a program that is just being started does, until `body`
    /// returns.
    static func withCopy(ofListenerAt port: Int, _ body: () async throws -> Void) async throws {
        func listens(_ descriptor: CInt) -> Bool {
            var (listens, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
            return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens == 1
        }
        guard let descriptor = (3..<8192).first(where: { listens($0) && localPort(of: $0) == port }) else {
            throw POSIXError(.EBADF)
        }
        let copy = dup(descriptor)
        defer { close(copy) }
        try await body()
    }

    private static func localPort(of descriptor: CInt) -> Int? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return result == 0 ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    private static func withAddress(
        _ port: Int, _ host: UInt32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = (0x7F00_0000 | host).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Sends `request` and reads until the server closes.
    static func exchange(_ port: Int, _ request: String, host: UInt32 = 1) async throws -> String {
        try await rest(of: connected(port, host: host), after: request)
    }

    /// Sends `request` on a connection, reads until the server closes, and closes it.
    static func rest(of descriptor: CInt, after request: String = "") async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: blockingRest(of: descriptor, after: request)) }
        }
    }

    private static func blockingRest(of descriptor: CInt, after request: String) -> String {
        defer { close(descriptor) }
        let bytes = Array(request.utf8)
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        var answer: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &block, block.count), count > 0 { answer += block[..<count] }
        return String(decoding: answer, as: UTF8.self)
    }
}
