import CStore
import Glibc

/// A descriptor, read and written at offsets.
final class PosixBlobFile: BlobFile {
    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { Glibc.close(descriptor) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(BlobError) {
        var done = 0
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
