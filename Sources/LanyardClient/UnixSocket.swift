import Dispatch
import Glibc

/// A connected Unix socket. Reading and writing wait without holding a thread, and may go on at once.
///
/// The descriptor is closed when the last task has let go of the socket, so none can come to use the number for another file.
final class UnixSocket: Sendable {
    /// An error number of the system.
    struct Failure: Error {
        let number: CInt
    }

    private let descriptor: CInt
    private static let queue = DispatchQueue(label: "lanyard.socket")

    private init(descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Connects to the listener at `path`, which fits a socket's address. Never waits: a listener whose queue is full is `EAGAIN`.
    static func connected(to path: String) throws(Failure) -> UnixSocket {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        let made = UnixSocket(descriptor: descriptor)
        guard UnixAddress.connect(descriptor, to: path) == 0 else { throw Failure(number: errno) }
        return made
    }

    /// Ends both directions: every task that waits goes on, and finds the end.
    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Reads what is there, once something is: at most `limit` bytes. Empty at the end.
    func read(limit: Int) async throws(Failure) -> [UInt8] {
        while true {
            var (result, number) = (0, CInt(0))
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                result = recv(descriptor, buffer.baseAddress, limit, 0)
                number = errno
                count = max(0, result)
            }
            if result >= 0 { return bytes }
            switch number {
            case EINTR: continue
            case EAGAIN:
                await until { [descriptor] in
                    DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
                }
            case _: throw Failure(number: number)
            }
        }
    }

    /// Writes all of `bytes`.
    func write(_ bytes: [UInt8]) async throws(Failure) {
        var start = 0
        while start < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                send(descriptor, buffer.baseAddress.map { $0 + start }, buffer.count - start, Int32(MSG_NOSIGNAL))
            }
            let number = errno
            if result >= 0 {
                start += result
                continue
            }
            switch number {
            case EINTR: continue
            case EAGAIN:
                await until { [descriptor] in
                    DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: Self.queue)
                }
            case _: throw Failure(number: number)
            }
        }
    }

    /// Waits for one event. The source has let go of the descriptor when this returns.
    private func until(_ make: () -> any DispatchSourceProtocol) async {
        await withCheckedContinuation { continuation in
            let source = make()
            source.setEventHandler { source.cancel() }
            source.setCancelHandler { continuation.resume() }
            source.activate()
        }
    }
}

/// The address of a Unix socket.
enum UnixAddress {
    /// Calls connect(2), and returns its result.
    static func connect(_ descriptor: CInt, to path: String) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
        }
    }
}
