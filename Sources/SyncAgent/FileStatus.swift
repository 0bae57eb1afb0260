package import Glibc

/// The kind and the group of a file (stat(2)). Callers that import other modules with a `stat` of their own cannot name it.
package struct FileStatus: Sendable, Hashable {
    package let isSocket: Bool
    package let groupID: gid_t

    /// Nil if the path cannot be looked at; `errno` says why.
    ///
    /// - Parameter followsLinks: a symbolic link stands for its target.
    package init?(at path: String, followsLinks: Bool) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
        groupID = status.st_gid
    }
}
