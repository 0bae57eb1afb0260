import CStore
import Glibc
import SyncModel
import Synchronization

/// Writes to a file past the kernel's memory of files: what is received is written once and seldom read soon, and taking a
/// fresh page for every 4 KiB of it costs a virtual machine more than hashing and decrypting them.
///
/// Only whole blocks of `alignment` can go this way. The disk's errors are told by the write itself, not by a later sync; what
/// the disk remembers and has not kept yet still takes a sync.
///
/// Memory: one block of a chunk for each that writes at the same moment, of which `keptBuffers` stay.
final class DirectWriting: Sendable {
    /// The alignment of offsets, counts and memory, in bytes: no disk's blocks are larger.
    private static let alignment = 4096
    private static let keptBuffers = 2
    private static let buffers = Mutex<[AlignedBuffer]>([])

    private let descriptor: Int32
    /// The file system takes the flag when the file is opened, and not these blocks.
    private let isRefused = Mutex(false)

    /// Nil where the file system cannot.
    init?(path: String) {
        descriptor = lanyard_open_for_direct_writing(path)
        if descriptor < 0 { return nil }
    }

    deinit { Glibc.close(descriptor) }

    /// True if bytes in this range can be written directly.
    func takes(_ range: Range<UInt64>) -> Bool {
        range.lowerBound.isMultiple(of: UInt64(Self.alignment)) && range.count.isMultiple(of: Self.alignment)
            && range.count <= BlobLayout.chunkBytes && !isRefused.withLock(\.self)
    }

    /// - Returns: how many of the first bytes were written; the rest takes the common way.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(BlobError) -> Int {
        let buffer = Self.buffers.withLock { $0.popLast() } ?? AlignedBuffer()
        defer { Self.buffers.withLock { if $0.count < Self.keptBuffers { $0.append(buffer) } } }
        UnsafeMutableRawBufferPointer(start: buffer.start, count: bytes.count).copyMemory(from: bytes)
        while true {
            let count = pwrite(descriptor, buffer.start, bytes.count, off_t(clamping: offset))
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EINVAL:
                isRefused.withLock { $0 = true }
                return 0
            default: throw PosixFailure.last
            }
        }
    }

    /// Room for a chunk.
    private final class AlignedBuffer: @unchecked Sendable {
        let start = UnsafeMutableRawPointer.allocate(byteCount: BlobLayout.chunkBytes, alignment: alignment)

        deinit { start.deallocate() }
    }
}
