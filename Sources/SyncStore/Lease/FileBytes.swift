import Glibc

/// Small reads and writes by descriptor.
enum FileBytes {
    /// Returns at most `count` bytes from the beginning; fewer at the end of the file or on an error.
    static func read(_ descriptor: Int32, upTo count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, pread(descriptor, buffer.baseAddress, count, 0))
        }
    }
}
