import Glibc

/// Reading and writing as the system does it, whole and without interruptions. Where it fails, `errno` says why.
enum Descriptor {
    /// Returns when the system has taken all of them; false where it takes no more.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + start, $0.count - start) }
            if count > 0 {
                start += count
            } else if count < 0, errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Reads at most `count` bytes, fewer only at the end of the file; nil if it cannot be read.
    static func read(_ descriptor: Int32, at offset: UInt64, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let result = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + filled, count - filled, off_t(clamping: offset) + off_t(filled))
            }
            if result == 0 { break }
            if result > 0 {
                filled += result
            } else if errno != EINTR {
                return nil
            }
        }
        bytes.removeLast(count - filled)
        return bytes
    }
}
