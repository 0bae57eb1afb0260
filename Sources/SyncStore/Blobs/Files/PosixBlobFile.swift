import CStore
import Glibc
import Synchronization

/// A descriptor, read and written at offsets.
final class PosixBlobFile: BlobFile {
    /// The number of ranges that may be on their way to the disk before the writer waits: some milliseconds of a slow disk.
    private static let rangesWrittenOut = 4

    private let descriptor: Int32
    private let direct: DirectWriting?
    private let beingWrittenOut = Mutex<[Range<UInt64>]>([])

    /// - Parameter direct: of the same file; nil: all bytes go through the kernel's memory.
    init(descriptor: Int32, direct: DirectWriting? = nil) {
        self.descriptor = descriptor
        self.direct = direct
    }

    deinit { Glibc.close(descriptor) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(BlobError) {
        let range = offset..<offset + UInt64(bytes.count)
        var done = if let direct, direct.takes(range) { try direct.write(bytes, at: offset) } else { 0 }
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(clamping: offset + UInt64(done)))
            if count < 0 {
                if errno == EINTR { continue }
                throw PosixFailure.last
            }
            if count == 0 { throw .diskFull }
            done += count
        }
    }

    func writeOut(_ range: Range<UInt64>) throws(BlobError) {
        if let direct, direct.takes(range) { return }
        try check(lanyard_start_writing(descriptor, Int64(clamping: range.lowerBound), Int64(clamping: range.count)))
        let first = beingWrittenOut.withLock { ranges in
            ranges.append(range)
            return ranges.count > Self.rangesWrittenOut ? ranges.removeFirst() : nil
        }
        guard let first else { return }
        try check(lanyard_await_writing(descriptor, Int64(clamping: first.lowerBound), Int64(clamping: first.count)))
    }

    private func check(_ result: Int32) throws(BlobError) {
        // Not every file system can: then the sync has more to do.
        if result != 0, PosixFailure.isOfWriting(errno) { throw PosixFailure.last }
    }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) -> Int {
        var done = 0
        while done < target.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(clamping: offset + UInt64(done)))
            if count < 0 {
                if errno == EINTR { continue }
                throw PosixFailure.last
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// `fdatasync`: size and bytes are made durable, times are not.
    func sync() throws(BlobError) {
        guard fdatasync(descriptor) == 0 else { throw PosixFailure.last }
    }

    func written(from offset: UInt64) throws(BlobError) -> Range<UInt64>? {
        let start = lanyard_next_written(descriptor, Int64(clamping: offset))
        if start < 0 {
            // ENXIO: there is nothing behind it.
            if errno == ENXIO { return nil }
            throw PosixFailure.last
        }
        let end = lanyard_next_gap(descriptor, start)
        guard end >= start else { throw PosixFailure.last }
        return UInt64(clamping: start)..<UInt64(clamping: end)
    }
}
