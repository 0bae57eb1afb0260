import CStore
import Glibc
package import SyncModel

/// Leases as files in a directory that a reboot empties (`/run/lanyard`, `$XDG_RUNTIME_DIR/lanyard`).
package struct LeaseFolder: LeaseKeeper {
    package let path: String
    package let bootID: [UInt8]

    /// Nil unless the directory exists, or can be made (0700), on tmpfs or ramfs, and the kernel tells the boot's id.
    package init?(path: String) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST, lanyard_forgets_at_reboot(path),
            let bootID = Self.currentBootID()
        else { return nil }
        self.path = path
        self.bootID = bootID
    }

    private static func currentBootID() -> [UInt8]? {
        let descriptor = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        let bytes = FileBytes.read(descriptor, upTo: 64)
        return bytes.isEmpty ? nil : bytes
    }

    package func open(_ replica: ReplicaID, creating: Bool) -> (any HeldLease)? {
        let file = path + "/" + replica.bytes.hexadecimal + ".lease"
        let descriptor = Glibc.open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creating ? O_CREAT : 0), 0o600)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        return LeaseFile(path: file, descriptor: descriptor)
    }
}

/// An open, locked lease file. Its record is written in place: 200 bytes inside one page of memory, with a checksum.
private final class LeaseFile: HeldLease {
    private let path: String
    private let descriptor: Int32

    init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { Glibc.close(descriptor) }

    var record: LeaseRecord? { LeaseRecord(encoded: FileBytes.read(descriptor, upTo: 512)) }

    func replace(_ record: LeaseRecord) -> Bool {
        let bytes = record.encoded
        return bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count
    }

    func discard() {
        // Emptied first: that works on a full file system, and another process may have it open.
        ftruncate(descriptor, 0)
        unlink(path)
        flock(descriptor, LOCK_UN)
    }

    func release() { flock(descriptor, LOCK_UN) }
}
