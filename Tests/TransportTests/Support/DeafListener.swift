import Glibc
import SyncTransport
import Testing

/// A socket that listens, whose queue is full, and that never accepts: the kernel drops what would connect.
final class DeafListener {
    let address: HostPort
    private var descriptors: [CInt] = []

    init() throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        descriptors.append(listener)
        // Family, port and address of sockaddr_in, as bytes: 127.0.0.1, port 0.
        var name: [UInt8] = [2, 0, 0, 0, 127, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        try Self.withAddress(&name) { try #require(bind(listener, $0, 16) == 0) }
        try #require(listen(listener, 0) == 0)
        var length = socklen_t(16)
        try Self.withAddress(&name) { try #require(getsockname(listener, $0, &length) == 0) }
        address = HostPort(host: "127.0.0.1", port: Int(name[2]) << 8 | Int(name[3]))!
        // A backlog of 0 still holds one connection; the others fill what the kernel rounds up.
        for _ in 0..<4 {
            let filler = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_NONBLOCK, 0)
            descriptors.append(filler)
            Self.withAddress(&name) { _ = connect(filler, $0, 16) }
        }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    private static func withAddress(
        _ bytes: inout [UInt8], _ body: (UnsafeMutablePointer<sockaddr>) throws -> Void
    ) rethrows {
        try bytes.withUnsafeMutableBytes { try body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self)) }
    }
}
