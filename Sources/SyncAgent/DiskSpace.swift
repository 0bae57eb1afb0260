import Glibc

/// The room on a file system, as a program without rights of root may fill it (statvfs(3)).
package struct DiskSpace: Sendable, Hashable {
    package let freeBytes: Int64
    package let totalBytes: Int64

    /// Nil if the path cannot be looked at.
    package init?(at path: String) {
        var figures = statvfs()
        guard statvfs(path, &figures) == 0 else { return nil }
        let unit = Int64(clamping: figures.f_frsize)
        func bytes(_ blocks: fsblkcnt_t) -> Int64 {
            let (bytes, overflows) = Int64(clamping: blocks).multipliedReportingOverflow(by: unit)
            return overflows ? .max : bytes
        }
        freeBytes = bytes(figures.f_bavail)
        totalBytes = bytes(figures.f_blocks)
    }
}
