import ControlAPI
import Glibc

/// Standard input as chunks, each as soon as it is there.
///
/// A thread of its own does the blocking reads: standard input may be a terminal, a pipe or a file, and the event loop
/// cannot wait for files. The thread reads the next chunk only after the last one was taken. A read that blocks for ever
/// does not keep the command from ending.
struct StandardInput: AsyncSequence, Sendable {
    typealias Element = [UInt8]

    func makeAsyncIterator() -> Iterator { Iterator() }

    struct Iterator: AsyncIteratorProtocol {
        mutating func next() async throws(ControlError) -> [UInt8]? {
            let result = await withCheckedContinuation { (continuation: CheckedContinuation<ReadResult, Never>) in
                StandardInput.reader.async { continuation.resume(returning: StandardInput.read()) }
            }
            switch result {
            case .bytes(let bytes): return bytes
            case .end: return nil
            case .failed(let number):
                throw ControlError(
                    .invalidArgument, "Standard input cannot be read: \(String(cString: strerror(number))).",
                    hint: "Check where it comes from.")
            }
        }
    }

    private enum ReadResult: Sendable {
        case bytes([UInt8])
        case end
        case failed(errno: Int32)
    }

    static var isTerminal: Bool { isatty(0) == 1 }

    private static let reader = BlockingThread()

    private static func read() -> ReadResult {
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 262_144) { buffer, count in
                let result = Glibc.read(0, buffer.baseAddress, buffer.count)
                failure = result < 0 ? errno : 0
                count = result < 0 ? 0 : result
            }
            if failure == EINTR { continue }
            if failure == EAGAIN {
                var descriptor = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
                poll(&descriptor, 1, -1)
                continue
            }
            if failure != 0 { return .failed(errno: failure) }
            return bytes.isEmpty ? .end : .bytes(bytes)
        }
    }

    /// All of it as text, at most `limit` bytes.
    static func text(limit: Int) async throws(ControlError) -> String {
        let bytes = try await bytes(limit: limit) {
            ControlError(
                .invalidArgument, "Standard input is longer than \(limit) bytes.", hint: "Give only what was asked for."
            )
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// All of it, behind `head`, which was read before; what is thrown when it is longer than `limit`, `fault` says.
    static func bytes(
        after head: [UInt8] = [], limit: Int, _ fault: () -> ControlError
    ) async throws(ControlError) -> [UInt8] {
        var all = head
        var iterator = Iterator()
        while all.count <= limit, let chunk = try await iterator.next() { all += chunk }
        guard all.count <= limit else { throw fault() }
        return all
    }
}

/// Standard input of which the first bytes were looked at already.
struct ResumedInput: AsyncSequence, Sendable {
    typealias Element = [UInt8]
    let head: [UInt8]

    func makeAsyncIterator() -> Iterator { Iterator(head: head) }

    struct Iterator: AsyncIteratorProtocol {
        var head: [UInt8]?
        var rest = StandardInput.Iterator()

        mutating func next() async throws(ControlError) -> [UInt8]? {
            if let bytes = head {
                head = nil
                return bytes
            }
            return try await rest.next()
        }
    }
}
